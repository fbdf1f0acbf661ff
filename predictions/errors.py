"""What can go wrong for a researcher: whole sentences that say what is wrong and what to do."""

from collections.abc import Sequence

# More are counted, not listed.
MOST_PROBLEMS = 100


class PredictionsRefused(Exception):
    """Nothing was imported; `problems` says why, one sentence each."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        more = len(self.problems) - MOST_PROBLEMS
        shown = self.problems[:MOST_PROBLEMS] + ([f"... and {more:,} more problems."] if more > 0 else [])
        super().__init__("\n".join(shown))
