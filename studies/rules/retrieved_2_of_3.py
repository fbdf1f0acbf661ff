"""`retrieved-2-of-3-v1`: accept if two of three answers find the target (ImageCoDe's validation and test splits)."""

from collections.abc import Sequence

from studies.rules.base import Needs, Verdict, Vote, VoteContext
from studies.rules.votes import decide_retrieval


class Retrieved2Of3:
    """Accept a question at the second right answer, reject it at the second wrong one.

    Source: Krojer et al. 2022, section 3. With one of each it asks for a third, so a study wants 2 answers and allows
    3. If more than three answers are wanted or came, their strict majority decides; a tie stays undecided.
    """

    name = "retrieved-2-of-3-v1"
    needs = Needs(one_label=True, right=True)

    def decide(self, asked: VoteContext, answers: Sequence[Vote]) -> Verdict:
        return decide_retrieval([vote.label for vote in answers], asked, needed=2, of=3)
