"""`majority-v1`: what more than half of the answers say."""

from collections.abc import Sequence

from studies.rules.base import Asked, Given, Needs, Verdict
from studies.rules.votes import majority


class Majority:
    """Decides by strict majority of the answers wanted.

    A label with more than half of the wanted answers wins as soon as it has them; when that label is "none" the
    question is rejected. Without such a label the question stays undecided: more answers, or a researcher, must settle
    it. When more answers than wanted came, the majority is taken of those that came.

    Example: "a", "a" of 3 wanted is accepted with "a"; "a", "b" of 2 wanted is undecided.
    """

    name = "majority-v1"
    needs = Needs(one_label=True)

    def decide(self, asked: Asked, answers: Sequence[Given]) -> Verdict:
        return majority([given.label for given in answers], asked.wanted)
