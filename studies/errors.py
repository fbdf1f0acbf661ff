"""What can go wrong for a researcher: whole sentences that say what is wrong and what to do."""


class StudyError(Exception):
    """What was asked of a study cannot be done; `problems` says why, one sentence each."""

    def __init__(self, *problems: str) -> None:
        super().__init__("\n".join(problems))
        self.problems = problems
