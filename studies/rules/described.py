"""`described-v1`: accept when an answer passes in a downstream study; ask again while none has."""

from collections.abc import Sequence

from studies.rules.base import Needs, State, Verdict, Vote, VoteContext


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
        said = f"{len(answers)} {'answer' if len(answers) == 1 else 'answers'}"
        accepted = sum(State.ACCEPTED in vote.downstream_states for vote in answers)
        if accepted:
            return Verdict(State.ACCEPTED, None, f"{accepted} of {said} passed in the studies that asked about it.")
        missing = asked.wanted - len(answers)
        if missing > 0:
            return Verdict(State.UNDECIDED, None, f"{missing} of {asked.wanted} answers are still to come.", more=True)
        waiting = sum(
            vote.is_source and (not vote.downstream_states or State.UNDECIDED in vote.downstream_states)
            for vote in answers
        )
        if waiting:
            return Verdict(State.UNDECIDED, None, f"What becomes of {waiting} of {said} is still open.")
        if len(answers) >= asked.most:
            return Verdict(State.REJECTED, None, f"None of {said} passed, and no more may be asked for.")
        return Verdict(State.UNDECIDED, None, f"None of {said} passed: somebody else is asked.", more=True)
