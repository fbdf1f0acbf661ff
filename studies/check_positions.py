"""Places of checks among the questions of one person, from a secret seed. Pure."""

import random
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from studies.survey_plan import HasPart

# Questions between a question and its repeat, or half of a shorter survey.
LEAST_BETWEEN = 10

Asked = TypeVar("Asked", bound=HasPart)


@dataclass(frozen=True)
class Repeat(Generic[Asked]):
    """The second time that a question is asked."""

    of: Asked


def place_checks(
    ordinary: Sequence[Asked], gold: Sequence[Asked], instructions: Sequence[Asked], *, repeats: int, seed: str
) -> list[Asked | Repeat[Asked]]:
    """Return the questions of one person in their order: part after part, everything else by `seed`.

    Every order of the ordinary questions and every place of a check is equally likely, except that the first question
    is no check and that a repeat stands at least `LEAST_BETWEEN` questions after the first time. Gold questions are
    repeated as often as ordinary ones: otherwise a question that comes twice would be no gold. seed: must be secret.
    """
    dice = random.Random(seed)  # noqa: S311 (the seed is secret)
    placed: list[Asked | Repeat[Asked]] = []
    left = repeats
    parts = sorted({each.part for each in ordinary})
    for number, part in enumerate(parts):
        own = [each for each in ordinary if each.part == part]
        dice.shuffle(own)
        first = own[:1] if number == 0 else []
        own_gold = [each for each in gold if each.part == part]
        rest = [*own[len(first) :], *own_gold, *(each for each in instructions if each.part == part)]
        dice.shuffle(rest)
        # The last part takes the repeats that found no place before.
        here = min(left, len(own), left if part == parts[-1] else -(-repeats * len(own) // len(ordinary)))
        placed += _insert_repeats([*first, *rest], [*own, *own_gold], here, dice)
        left -= here
    return placed


def _insert_repeats(
    asked: Sequence[Asked], repeatable: Sequence[Asked], number: int, dice: random.Random
) -> list[Asked | Repeat[Asked]]:
    between = min(LEAST_BETWEEN, len(asked) // 2)
    originals = {id(each) for each in repeatable}
    early = [each for each in asked[: max(len(asked) - between, 0)] if id(each) in originals]
    placed: list[Asked | Repeat[Asked]] = list(asked)
    for each in dice.sample(early, min(number, len(early))):
        earliest = next(place for place, one in enumerate(placed) if one is each) + between + 1
        placed.insert(dice.randint(earliest, len(placed)), Repeat(each))
    return placed
