"""`unambiguous-v1`: accepted when people find the original among what is shown (BiVLC step 4)."""

from collections.abc import Sequence
from dataclasses import replace

from studies.kinds.base import NONE
from studies.rules.base import Asked, Given, Needs, State, Verdict
from studies.rules.votes import majority

ORIGINAL = "original"


class Unambiguous:
    """Keeps an instance when people find its original image (Miranda et al. 2024, section 3.3).

    Accepted with "original" when that has more than half of the wanted answers. Every other answer ("generated",
    "both") says that the caption fits the generated image too: rejected when those have more than half together.
    Undecided otherwise, as for `majority-v1`.

    Example: "original" of 1 wanted is accepted; "both", "generated" of 3 wanted is rejected.
    """

    name = "unambiguous-v1"
    needs = Needs(options=frozenset({ORIGINAL}), one_label=True, compares=("groups",))

    def decide(self, asked: Asked, answers: Sequence[Given]) -> Verdict:
        labels = [given.label if given.label == ORIGINAL else NONE for given in answers]
        verdict = majority(labels, asked.wanted)
        if verdict.state is State.REJECTED:
            missed, of = labels.count(NONE), max(asked.wanted, len(labels))
            return replace(verdict, reason=f"{missed} of {of} answers did not tell the original image apart.")
        return verdict
