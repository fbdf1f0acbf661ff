"""`majority-v1` and `majority-v2`: decide by strict majority."""

from collections.abc import Sequence
from dataclasses import replace

from studies.rules.base import Needs, State, Verdict, Vote, VoteContext
from studies.rules.votes import majority, of_answers


class Majority:
    """Decide by strict majority of the wanted answers.

    A label with more than half of the wanted answers wins at once; if it is "none", the question is rejected. Without
    such a label the question stays undecided until more answers or a researcher settle it. If more answers than wanted
    came, the majority is taken of all that came.

    Example: "a", "a" of 3 wanted is accepted with "a"; "a", "b" of 2 wanted is undecided.
    """

    name = "majority-v1"
    needs = Needs(one_label=True)

    def decide(self, asked: VoteContext, answers: Sequence[Vote]) -> Verdict:
        return majority([vote.label for vote in answers], asked.wanted)


class MajorityV2:
    """Decide by strict majority of the wanted answers, counting the kind's rejecting options together.

    A label with more than half of the wanted answers wins at once, as in `majority-v1`. If rejecting options together
    have more than half, the question is rejected. Otherwise it stays undecided. If more answers than wanted came, the
    majority is taken of all that came.

    Example: where "generated" and "both" reject, one of each of 3 wanted is rejected.
    """

    name = "majority-v2"
    needs = Needs(one_label=True)

    def decide(self, asked: VoteContext, answers: Sequence[Vote]) -> Verdict:
        labels = [vote.label for vote in answers]
        verdict = majority(labels, asked.wanted, rejecting=asked.rejecting)
        if verdict.state is State.REJECTED:
            votes = sum(label in asked.rejecting for label in labels)
            of = max(asked.wanted, len(labels))
            return replace(verdict, reason=of_answers(votes, of, "rejects it", "reject it"))
        return verdict
