"""`chosen-v1`: accept if an option is chosen, reject if "none" is chosen (BiVLC step 3)."""

from collections.abc import Sequence

from studies.kinds.base import NONE
from studies.rules.base import Needs, Verdict, Vote, VoteContext
from studies.rules.votes import majority


class Chosen:
    """Accept a question if an option was chosen (Miranda et al. 2024, section 3.3).

    One answer wanted: accepted with that option, rejected if it is "none". Several wanted: strict majority, as in
    `majority-v1`.
    """

    name = "chosen-v1"
    # Groups first: "any image" or "none" decides rejection; the option itself needs a majority.
    needs = Needs(options=frozenset({NONE}), one_label=True, compares=("groups", "options"))

    def decide(self, asked: VoteContext, answers: Sequence[Vote]) -> Verdict:
        return majority([vote.label for vote in answers], asked.wanted)
