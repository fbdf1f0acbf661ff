"""What can go wrong for a researcher: whole sentences that say what is wrong and what to do."""

from collections.abc import Sequence

# More are counted, not listed.
MOST_PROBLEMS = 100


class PredictionsRefused(Exception):
    """Nothing was imported; `problems` says why, one sentence each."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        super().__init__("\n".join(first_of(self.problems, "problems")))


def first_of(sentences: Sequence[str], what: str) -> list[str]:
    """Return the sentences, of many only the first and how many more there are."""
    more = len(sentences) - MOST_PROBLEMS
    return [*sentences[:MOST_PROBLEMS], *([f"... and {more:,} more {what}."] if more > 0 else [])]


class CannotPredict(Exception):
    """A model cannot be asked this; the message is a sentence that says why and what to do."""
