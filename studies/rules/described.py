"""`described-v1`: accepted once an answer passed in the study that asked about it; asked again while none has."""

from collections.abc import Sequence

from studies.rules.base import Asked, Given, Needs, State, Verdict


class Described:
    """Accepts a question as soon as one of its answers was accepted in a study that asked about it, with no winner
    (Krojer et al. 2022, section 3).

    While another study is still asking about one of them, or has yet to, nothing follows. When all answers given so far
    were rejected, or gave others nothing to ask about, somebody else is asked, up to the most answers there may be;
    then it is rejected. An answer that several studies asked about is accepted where one of them did.
    """

    name = "described-v1"
    needs = Needs(became=True)

    def decide(self, asked: Asked, answers: Sequence[Given]) -> Verdict:
        if asked.wanted < 1:
            raise ValueError(f"wanted is {asked.wanted}; a question wants at least 1 answer.")
        said = f"{len(answers)} {'answer' if len(answers) == 1 else 'answers'}"
        accepted = sum(State.ACCEPTED in given.became for given in answers)
        if accepted:
            return Verdict(State.ACCEPTED, None, f"{accepted} of {said} passed in the studies that asked about it.")
        missing = asked.wanted - len(answers)
        if missing > 0:
            return Verdict(State.UNDECIDED, None, f"{missing} of {asked.wanted} answers are still to come.", more=True)
        waiting = sum(given.hands_on and (not given.became or State.UNDECIDED in given.became) for given in answers)
        if waiting:
            return Verdict(State.UNDECIDED, None, f"What becomes of {waiting} of {said} is still open.")
        if len(answers) >= asked.most:
            return Verdict(State.REJECTED, None, f"None of {said} passed, and no more may be asked for.")
        return Verdict(State.UNDECIDED, None, f"None of {said} passed: somebody else is asked.", more=True)
