"""Problems of a study file or a stored design, in sentences for researchers. Pure."""

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Problem:
    """`line` counts from 1; None when the problem is of the file as a whole, or the design came from no file.

    `path`: the place of the value that is wrong, () if it has none.
    """

    line: int | None
    message: str
    path: tuple[str | int, ...] = field(default=(), compare=False)

    def __str__(self) -> str:
        return f"Line {self.line}: {self.message}" if self.line else self.message


class DesignRefused(Exception):
    """Raised for a design that cannot be used, with all its `problems`."""

    def __init__(self, problems: list[Problem]) -> None:
        super().__init__("\n".join(str(problem) for problem in problems))
        self.problems = problems
