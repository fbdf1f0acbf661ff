"""`collected-v1`: accept when all wanted answers are in, whatever they say."""

from collections.abc import Sequence

from studies.rules.base import Needs, State, Verdict, Vote, VoteContext
from studies.rules.votes import of_answers, say_missing_answers


class Collected:
    """Accept a question, without a winner, when all wanted answers are in: for studies that only collect."""

    name = "collected-v1"
    needs = Needs()

    def decide(self, asked: VoteContext, answers: Sequence[Vote]) -> Verdict:
        if asked.wanted < 1:
            raise ValueError(f"wanted is {asked.wanted}; a question wants at least 1 answer.")
        missing = asked.wanted - len(answers)
        if missing > 0:
            return Verdict(State.UNDECIDED, None, say_missing_answers(missing, asked.wanted), more=True)
        return Verdict(State.ACCEPTED, None, of_answers(asked.wanted, asked.wanted, "has come", "have come"))
