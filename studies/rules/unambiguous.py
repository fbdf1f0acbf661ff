"""`unambiguous-v1`: accept if people find the original image (BiVLC step 4)."""

from collections.abc import Sequence
from dataclasses import replace

from studies.kinds.base import NONE
from studies.rules.base import Needs, State, Verdict, Vote, VoteContext
from studies.rules.votes import majority, of_answers

ORIGINAL = "original"


class Unambiguous:
    """Accept an instance if people find its original image (Miranda et al. 2024, section 3.3).

    Accepted with "original" if it has more than half of the wanted answers. All other answers ("generated", "both")
    say that the caption also fits the generated image: rejected if they have more than half together. Otherwise
    undecided, as in `majority-v1`.

    Example: "original" of 1 wanted is accepted; "both", "generated" of 3 wanted is rejected.
    """

    name = "unambiguous-v1"
    needs = Needs(options=frozenset({ORIGINAL}), one_label=True, compares=("groups",))

    def decide(self, asked: VoteContext, answers: Sequence[Vote]) -> Verdict:
        labels = [vote.label if vote.label == ORIGINAL else NONE for vote in answers]
        verdict = majority(labels, asked.wanted)
        if verdict.state is State.REJECTED:
            missed, of = labels.count(NONE), max(asked.wanted, len(labels))
            said = "did not identify the original image"
            return replace(verdict, reason=of_answers(missed, of, said, said))
        return verdict
