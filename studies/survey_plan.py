"""How what a study asks about is dealt into surveys, from a seed. Pure."""

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, Protocol, TypeVar


class CannotPlan(Exception):
    """The design asks for what its questions do not give; the message says what, for the researcher."""


Item = TypeVar("Item")


@dataclass(frozen=True)
class PlannedSurvey(Generic[Item]):
    """`items` are what is asked about; `seats` people answer all questions about them."""

    items: tuple[Item, ...]
    seats: int


def plan_surveys(
    items: Sequence[Item], *, size: int, answers: int, double_seats: int, seed: str
) -> list[PlannedSurvey[Item]]:
    """Deal `items` (what is asked about, such as instances) into surveys of about `size` items, each into exactly one.

    The first `double_seats` surveys have exactly `size` items and twice the seats, so that pairs of annotators
    answer the same questions (BiVLC: 5 surveys of 100 answered by 2). The others share the rest as evenly as can
    be: their sizes differ by at most one, and there are as many as bring the sizes nearest to `size`. Each survey
    has `answers` seats. Which item goes where, and in which order, depends on `seed` alone.

    Example: 7,512 items, size 100, double_seats 5 -> 5 surveys of 100 with two seats, 58 of 100 and 12 of 101
    with one. Raises CannotPlan when there are too few items, ValueError for a size or number of answers under 1.
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
    """Anything that stands in a part of a survey, counted from 0."""

    part: int


Asked = TypeVar("Asked", bound=HasPart)


def in_parts(questions: Sequence[Asked], *, seed: str) -> list[Asked]:
    """Order the questions of one survey: part after part, at random within each, as `seed` says."""
    dealt = list(questions)
    random.Random(f"parts|{seed}").shuffle(dealt)  # noqa: S311 (an order, not a secret)
    return sorted(dealt, key=lambda question: question.part)


def _even_parts(items: Sequence[Item], size: int) -> list[tuple[Item, ...]]:
    if not items:
        return []
    parts = max(1, round(len(items) / size))
    bounds = [len(items) * number // parts for number in range(parts + 1)]
    return [tuple(items[start:end]) for start, end in itertools.pairwise(bounds)]
