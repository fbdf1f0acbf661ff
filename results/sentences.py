"""What follows from a change about somebody's answers, in numbers and in sentences, for pages and commands."""

from collections.abc import Sequence

from annotation.actions.removals import Followed


def in_numbers(change: str, followed: Followed | int) -> Sequence[tuple[str, int]]:
    """Return what `change` ("withdraw", "exclude", "include", "reopen") leads to: what is counted, and how many."""
    if isinstance(followed, int):
        return [("Slots open for others", followed)]
    again = change == "include"
    return [
        ("Answers that count again" if again else "Answers that count no more", followed.answers),
        ("Questions with another decision", followed.decisions),
        ("Questions that come back to the dataset", followed.restored)
        if again
        else ("Questions that leave the dataset", followed.undone),
        ("Answers whose place is taken", followed.without_place)
        if again
        else ("Open sessions ended", followed.sessions),
    ]


def told(change: str, followed: Followed | int) -> str:
    """Return what `change` has done."""
    numbers = [f"{what[0].lower()}{what[1:]}: {number:,}" for what, number in in_numbers(change, followed)]
    return f"{'; '.join(numbers)}."
