"""Errors for researchers: whole sentences that say what is wrong and what to do."""


class StudyError(Exception):
    """The action is not possible; `problems` says why, one sentence each."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
