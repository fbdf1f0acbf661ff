"""`majority-v1` and `majority-v2`: what more than half of the answers say."""

from collections.abc import Sequence
from dataclasses import replace

from studies.rules.base import Asked, Given, Needs, State, Verdict
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


class MajorityV2:
    """Decides by strict majority of the answers wanted, and knows which options of a kind reject.

    A label with more than half of the wanted answers wins as soon as it has them, as for `majority-v1`. Answers that
    choose a rejecting option count together: with more than half of the wanted answers the question is rejected.
    Without either the question stays undecided. When more answers than wanted came, the majority is taken of those
    that came.

    Example: where "generated" and "both" reject, one of each of 3 wanted is rejected.
    """

    name = "majority-v2"
    needs = Needs(one_label=True)

    def decide(self, asked: Asked, answers: Sequence[Given]) -> Verdict:
        labels = [given.label for given in answers]
        verdict = majority(labels, asked.wanted, rejecting=asked.rejecting)
        if verdict.state is State.REJECTED:
            votes = sum(label in asked.rejecting for label in labels)
            return replace(verdict, reason=f"{votes} of {max(asked.wanted, len(labels))} answers reject it.")
        return verdict
