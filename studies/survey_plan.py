"""Division of a study's items into surveys, from a seed. Pure."""

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar


class CannotPlan(Exception):
    """The design needs more items than there are; the message tells the researcher what."""


Item = TypeVar("Item")


@dataclass(frozen=True)
class PlannedSurvey(Generic[Item]):
    """A survey: `seats` people answer all questions about its `items`."""

    items: tuple[Item, ...]
    seats: int


def plan_surveys(
    items: Sequence[Item], *, size: int, answers: int, double_seats: int, seed: str
) -> list[PlannedSurvey[Item]]:
    """Divide `items` (such as instances) into surveys of about `size` items; each item is in exactly one survey.

    The first `double_seats` surveys have exactly `size` items and twice the seats, so that pairs of annotators answer
    the same questions (BiVLC: 5 surveys of 100 answered by 2). The rest is divided evenly: sizes differ by at most one,
    and the number of surveys brings them nearest to `size`. These surveys have `answers` seats each. Only `seed`
    determines the survey and the order of each item.

    Example: 7,512 items, size 100, double_seats 5 -> 5 surveys of 100 with two seats, 58 of 100 and 12 of 101
    with one. Raises CannotPlan if there are too few items, ValueError if `size` or `answers` is under 1.
    """
    if size < 1 or answers < 1:
        raise ValueError("A survey has at least 1 item, and a question wants at least 1 answer.")
    if not items:
        raise CannotPlan("There are no questions to ask: no instance of the project is selected by this study.")
    if double_seats * size > len(items):
        raise CannotPlan(
            f"{double_seats} double-seat surveys about {size} instances need {double_seats * size} instances, "
            f"but there are only {len(items)}. Ask for fewer or smaller ones."
        )
    dealt = list(items)
    random.Random(f"surveys|{seed}").shuffle(dealt)  # noqa: S311 (an order, not a secret)
    doubles = [tuple(dealt[start : start + size]) for start in range(0, double_seats * size, size)]
    singles = _even_parts(dealt[double_seats * size :], size)
    return [PlannedSurvey(part, 2 * answers) for part in doubles] + [PlannedSurvey(part, answers) for part in singles]


class HasPart(Protocol):
    """Anything that belongs to a part of a survey, counted from 0."""

    @property
    def part(self) -> int: ...


Asked = TypeVar("Asked", bound=HasPart)


def order_parts(questions: Sequence[Asked], *, seed: str) -> list[Asked]:
    """Order the questions of one survey: part after part, shuffled by `seed` within each part."""
    dealt = list(questions)
    random.Random(f"parts|{seed}").shuffle(dealt)  # noqa: S311 (an order, not a secret)
    return sorted(dealt, key=lambda question: question.part)


def _even_parts(items: Sequence[Item], size: int) -> list[tuple[Item, ...]]:
    if not items:
        return []
    parts = max(1, round(len(items) / size))
    bounds = [len(items) * number // parts for number in range(parts + 1)]
    return [tuple(items[start:end]) for start, end in itertools.pairwise(bounds)]
