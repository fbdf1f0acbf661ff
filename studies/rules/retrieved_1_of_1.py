"""`retrieved-1-of-1-v1`: accepted when its one answer finds what was described (ImageCoDe's training split)."""

from collections.abc import Sequence

from studies.rules.base import Asked, Given, Needs, Verdict
from studies.rules.votes import retrieved


class Retrieved1Of1:
    """Accepts a question when its answer is the right one, rejects it otherwise (Krojer et al. 2022, section 3).

    Where more than the one answer is wanted, or came, their strict majority decides; as many of each leave it open.
    """

    name = "retrieved-1-of-1-v1"
    needs = Needs(one_label=True, right=True)

    def decide(self, asked: Asked, answers: Sequence[Given]) -> Verdict:
        return retrieved([given.label for given in answers], asked, needed=1, of=1)
