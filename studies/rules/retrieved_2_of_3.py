"""`retrieved-2-of-3-v1`: accepted when two of at most three answers find what was described (ImageCoDe's validation and
test splits)."""

from collections.abc import Sequence

from studies.rules.base import Asked, Given, Needs, Verdict
from studies.rules.votes import retrieved


class Retrieved2Of3:
    """Accepts a question as soon as two answers are the right one, rejects it as soon as two are not (Krojer et al.
    2022, section 3). With one of each it asks for the third, so a study wants 2 answers and allows 3.

    Where more than three answers are wanted, or came, their strict majority decides; as many of each leave it open.
    """

    name = "retrieved-2-of-3-v1"
    needs = Needs(one_label=True, right=True)

    def decide(self, asked: Asked, answers: Sequence[Given]) -> Verdict:
        return retrieved([given.label for given in answers], asked, needed=2, of=3)
