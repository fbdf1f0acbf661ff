"""What keeps a benchmark from being evaluated, in whole sentences."""

SHOWN = 20


class BenchmarkError(Exception):
    """Nothing was evaluated; `problems` says why, one sentence each."""

    def __init__(self, *problems: str) -> None:
        self.problems = list(problems)
        more = len(self.problems) - SHOWN
        shown = self.problems[:SHOWN] + ([f"There are {more:,} more problems."] if more > 0 else [])
        super().__init__("\n".join(shown))
