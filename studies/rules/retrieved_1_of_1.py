"""`retrieved-1-of-1-v1`: accept if the one answer finds the target (ImageCoDe's training split)."""

from collections.abc import Sequence

from studies.rules.base import Needs, Verdict, Vote, VoteContext
from studies.rules.votes import decide_retrieval


class Retrieved1Of1:
    """Accept a question if its answer is right, else reject it (Krojer et al. 2022, section 3).

    If more than one answer is wanted or came, their strict majority decides; a tie stays undecided.
    """

    name = "retrieved-1-of-1-v1"
    needs = Needs(one_label=True, right=True)

    def decide(self, asked: VoteContext, answers: Sequence[Vote]) -> Verdict:
        return decide_retrieval([vote.label for vote in answers], asked, needed=1, of=1)
