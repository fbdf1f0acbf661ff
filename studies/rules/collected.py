"""`collected-v1`: accepted when every answer asked for has come, whatever it says."""

from collections.abc import Sequence

from studies.rules.base import Asked, Given, Needs, State, Verdict


class Collected:
    """Accepts a question with no winner once it has the answers wanted: for studies that collect and do not choose."""

    name = "collected-v1"
    needs = Needs()

    def decide(self, asked: Asked, answers: Sequence[Given]) -> Verdict:
        if asked.wanted < 1:
            raise ValueError(f"wanted is {asked.wanted}; a question wants at least 1 answer.")
        missing = asked.wanted - len(answers)
        if missing > 0:
            return Verdict(State.UNDECIDED, None, f"{missing} of {asked.wanted} answers are still to come.", more=True)
        return Verdict(State.ACCEPTED, None, f"All {asked.wanted} answers wanted have come.")
