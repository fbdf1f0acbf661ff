"""Errors for researchers: sentences that say what is wrong and what to do."""

from collections.abc import Sequence

MOST_PROBLEMS = 100


class PredictionsRefused(Exception):
    """Nothing was imported; `problems`: one sentence per problem."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(first_of(self.problems, "problems")))


def first_of(sentences: Sequence[str], what: str) -> list[str]:
    """Return the first sentences and the number of the others."""
    more = len(sentences) - MOST_PROBLEMS
    return [*sentences[:MOST_PROBLEMS], *([f"... and {more:,} more {what}."] if more > 0 else [])]


class CannotPredict(Exception):
    """A model cannot be run on this; the message says why and what to do."""
