"""`described-v1`: accept when an answer passes in a downstream study; ask again while none has."""

from collections.abc import Sequence

from studies.rules.base import Needs, State, Verdict, Vote, VoteContext
from studies.rules.votes import of_answers, say_missing_answers


class Described:
    """Accept a question, without a winner, as soon as a downstream study accepts one of its answers.

    Source: Krojer et al. 2022, section 3. The question stays undecided while a downstream study is still asking about
    an answer or has yet to ask. If all answers so far were rejected or cannot be asked about, another person is asked,
    up to the most answers allowed; then the question is rejected. An answer asked about in several studies is accepted
    if one of them accepts it.
    """

    name = "described-v1"
    needs = Needs(downstream_outcome=True)

    def decide(self, asked: VoteContext, answers: Sequence[Vote]) -> Verdict:
        if asked.wanted < 1:
            raise ValueError(f"wanted is {asked.wanted}; a question wants at least 1 answer.")
        of = len(answers)
        accepted = sum(State.ACCEPTED in vote.downstream_states for vote in answers)
        if accepted:
            said = "passed in the studies that asked about it"
            return Verdict(State.ACCEPTED, None, of_answers(accepted, of, said, said))
        missing = asked.wanted - len(answers)
        if missing > 0:
            return Verdict(State.UNDECIDED, None, say_missing_answers(missing, asked.wanted), more=True)
        waiting = sum(
            vote.is_source and (not vote.downstream_states or State.UNDECIDED in vote.downstream_states)
            for vote in answers
        )
        if waiting:
            said = "still being asked about"
            return Verdict(State.UNDECIDED, None, of_answers(waiting, of, f"is {said}", f"are {said}"))
        if len(answers) >= asked.most:
            reason = of_answers(0, of, "did not pass", "passed, and the limit of answers is reached")
            return Verdict(State.REJECTED, None, reason)
        reason = of_answers(0, of, "did not pass; somebody else is asked", "passed; somebody else is asked")
        return Verdict(State.UNDECIDED, None, reason, more=True)
