"""Errors of evaluations, as whole sentences."""

SHOWN = 20


class BenchmarkError(Exception):
    """Nothing was evaluated; `problems`: one sentence per problem."""

    def __init__(self, *problems: str) -> None:
        self.problems = list(problems)
        more = len(self.problems) - SHOWN
        shown = self.problems[:SHOWN] + ([f"There are {more:,} more problems."] if more > 0 else [])
        super().__init__("\n".join(shown))
