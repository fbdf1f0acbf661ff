"""`chosen-v1`: accepted when an option was chosen, rejected when no option will do (BiVLC step 3)."""

from collections.abc import Sequence

from studies.kinds.base import NONE
from studies.rules.base import Asked, Given, Needs, Verdict
from studies.rules.votes import majority


class Chosen:
    """Accepts a question when an option was chosen (Miranda et al. 2024, section 3.3).

    One answer wanted: accepted with that option, rejected when it is "none". Several wanted: by strict majority, as
    `majority-v1`.
    """

    name = "chosen-v1"
    # Whether any option was chosen rejects; which one it is takes a majority where several answers are wanted.
    needs = Needs(options=frozenset({NONE}), one_label=True, compares=("groups", "options"))

    def decide(self, asked: Asked, answers: Sequence[Given]) -> Verdict:
        return majority([given.label for given in answers], asked.wanted)
