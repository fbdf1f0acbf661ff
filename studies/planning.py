"""How the questions of a study are dealt into surveys, from a seed. Pure."""

import itertools
import random
from collections.abc import Sequence
from dataclasses import dataclass


class CannotPlan(Exception):
    """The design asks for what its questions do not give; the message says what, for the researcher."""


@dataclass(frozen=True)
class PlannedSurvey:
    """`questions` in the order in which they are asked; `seats` people answer all of them."""

    questions: tuple[int, ...]
    seats: int


def plan_surveys(
    questions: Sequence[int], *, size: int, answers: int, double_seats: int, seed: str
) -> list[PlannedSurvey]:
    """Deal `questions` into surveys of about `size`, each question into exactly one.

    The first `double_seats` surveys have exactly `size` questions and twice the seats, so that pairs of annotators
    answer the same questions (BiVLC: 5 surveys of 100 answered by 2). The others share the rest as evenly as can
    be: their sizes differ by at most one, and there are as many as bring the sizes nearest to `size`. Each survey
    has `answers` seats. Which question goes where, and in which order, depends on `seed` alone.

    Example: 7,512 questions, size 100, double_seats 5 -> 5 surveys of 100 with two seats, 58 of 100 and 12 of 101
    with one. Raises CannotPlan when there are too few questions, ValueError for a size or number of answers under 1.
    """
    if size < 1 or answers < 1:
        raise ValueError("A survey has at least 1 question, and a question wants at least 1 answer.")
    if not questions:
        raise CannotPlan("There are no questions to ask: no instance of the project is selected by this study.")
    if double_seats * size > len(questions):
        raise CannotPlan(
            f"{double_seats} double-seat surveys of {size} need {double_seats * size} questions, "
            f"but there are only {len(questions)}. Ask for fewer or smaller ones."
        )
    dealt = list(questions)
    random.Random(f"surveys|{seed}").shuffle(dealt)  # noqa: S311 (an order, not a secret)
    doubles = [tuple(dealt[start : start + size]) for start in range(0, double_seats * size, size)]
    singles = _even_parts(dealt[double_seats * size :], size)
    return [PlannedSurvey(part, 2 * answers) for part in doubles] + [PlannedSurvey(part, answers) for part in singles]


def _even_parts(questions: Sequence[int], size: int) -> list[tuple[int, ...]]:
    if not questions:
        return []
    parts = max(1, round(len(questions) / size))
    bounds = [len(questions) * number // parts for number in range(parts + 1)]
    return [tuple(questions[start:end]) for start, end in itertools.pairwise(bounds)]
