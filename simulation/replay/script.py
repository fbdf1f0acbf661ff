"""Determine the answers of every simulated annotator of a replay from the published results and a seed. Pure."""

import csv
import random
from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from itertools import cycle
from pathlib import Path

from analytics.agreement import cohen_kappa
from simulation.replay.published_numbers import HUMAN_GROUP, HUMAN_I2T, HUMAN_T2I
from studies.kinds import FINER_SCORES
from studies.kinds.base import NONE
from studies.rules.unambiguous import ORIGINAL

CANDIDATES = ("candidate-0", "candidate-1", "candidate-2", "candidate-3")
# A step-4 answer that the generated image fits the original caption too.
NOT_ORIGINAL = ("both", "generated")
# The paper does not give the number of instances removed in step 4. Here it is one for every seven kept, per category.
KEPT_PER_AMBIGUOUS = 7
# Of a pair's questions on which both chose an image, every fourth gets two different images.
OTHER_IMAGE_EVERY = 4
UNEVEN = 4


class CannotReplay(Exception):
    """The replay cannot continue; the message says why and what to do."""


class Outcome(Enum):
    """Outcome of an instance: no image chosen in step 3, removed in step 4, or released."""

    NO_IMAGE = "no image"
    AMBIGUOUS = "ambiguous"
    RELEASED = "released"


def read_accepted(path: Path) -> dict[str, int | None]:
    """Read the released rows of the manifest: key -> row of the dataset from 0, or None.

    Columns: index (the key), accepted (true or false), release_row. Raises CannotReplay.
    """
    try:
        with path.open(encoding="utf-8", newline="") as file:
            rows = list(csv.DictReader(file))
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        raise CannotReplay(f"{path} cannot be read as CSV: {error}.") from error
    missing = {"index", "accepted", "release_row"} - set(rows[0] if rows else ())
    if missing:
        raise CannotReplay(f"{path} lacks the columns {', '.join(sorted(missing))}. Name the file accepted.csv.")
    return dict(_read_release_row(path, number, row) for number, row in enumerate(rows, start=1))


def _read_release_row(path: Path, number: int, row: Mapping[str, str]) -> tuple[str, int | None]:
    accepted, release_row = row["accepted"].strip().lower(), row["release_row"].strip()
    if accepted not in {"true", "false"} or (accepted == "true" and not release_row.isdecimal()):
        raise CannotReplay(
            f"Record {number} of {path.name} has accepted {accepted!r} and release_row {release_row!r}; it must be "
            "true with a row number, or false."
        )
    return row["index"], int(release_row) if accepted == "true" else None


def choose_outcomes(categories: Mapping[str, tuple[str, str]], released: set[str], *, seed: str) -> dict[str, Outcome]:
    """Choose the outcome of every instance. `categories`: key -> type and subtype."""
    kept = Counter(category for key, category in categories.items() if key in released)
    dropped: defaultdict[tuple[str, str], list[str]] = defaultdict(list)
    for key, category in categories.items():
        if key not in released:
            dropped[category].append(key)
    ambiguous: set[str] = set()
    for category, keys in sorted(dropped.items()):
        wanted = min(len(keys), kept[category] // KEPT_PER_AMBIGUOUS)
        ambiguous.update(_random(seed, "ambiguous", *category).sample(keys, wanted))
    return {
        key: Outcome.RELEASED if key in released else Outcome.AMBIGUOUS if key in ambiguous else Outcome.NO_IMAGE
        for key in categories
    }


def step_3_answer(key: str, outcome: Outcome, *, seed: str) -> str:
    """Return the best image of the instance, or none. Which of the four it was is not published."""
    return NONE if outcome is Outcome.NO_IMAGE else _random(seed, "image", key).choice(CANDIDATES)


def step_4_answer(key: str, outcome: Outcome, *, seed: str) -> str:
    return ORIGINAL if outcome is Outcome.RELEASED else _random(seed, "ambiguity", key).choice(NOT_ORIGINAL)


Pair = tuple[Mapping[str, str], Mapping[str, str]]
"""The answers of two people to the same questions: key -> option."""


def pair_answers(settled: Mapping[str, str], *, kappa: float, seed: str) -> Pair:
    """Return two people's answers whose Cohen's kappa (any image versus none) is as close as possible to `kappa`.

    settled: key -> the final right answer. Both give it where they agree. They disagree where only one chooses an
    image, or both choose different images: there a researcher has to settle the question.
    """
    dice = _random(seed, "pair", str(kappa))
    with_image = sorted(key for key, answer in settled.items() if answer != NONE)
    chosen = dice.sample(with_image, k=len(with_image))
    none = dice.sample(sorted(settled.keys() - set(chosen)), k=len(settled) - len(chosen))
    split = _nearest_split(len(chosen), len(none), kappa)
    disagreed = chosen[: split.of_chosen] + none[: split.of_none]
    dice.shuffle(disagreed)
    first, second = dict(settled), dict(settled)
    for index, key in enumerate(disagreed):
        image = settled[key] if settled[key] != NONE else dice.choice(CANDIDATES)
        first[key], second[key] = (image, NONE) if index < split.only_first else (NONE, image)
    for key in chosen[split.of_chosen :: OTHER_IMAGE_EVERY]:
        second[key] = dice.choice([image for image in CANDIDATES if image != settled[key]])
    return first, second


@dataclass(frozen=True)
class _Split:
    """Disagreements on questions that end with an image and with none; in how many the first chose one."""

    of_chosen: int
    of_none: int
    only_first: int


def _nearest_split(chosen: int, none: int, kappa: float) -> _Split:
    """Return the most even split whose kappa equals `kappa` to two decimals, else the nearest one."""
    best, distance = _Split(0, 0, 0), float("inf")
    for split in sorted(_splits(chosen, none), key=lambda split: _imbalance(split, chosen, none)):
        both, neither = chosen - split.of_chosen, none - split.of_none
        only_second = split.of_chosen + split.of_none - split.only_first
        table = [("any", "any")] * both + [("any", NONE)] * split.only_first
        table += [(NONE, "any")] * only_second + [(NONE, NONE)] * neither
        value = cohen_kappa(table, categories=("any", NONE)).value
        if value is not None and abs(value - kappa) < distance:
            best, distance = split, abs(value - kappa)
            if distance < 0.005:
                break
    return best


def _splits(chosen: int, none: int) -> Iterator[_Split]:
    for disagreed in range((chosen + none) // 2 + 1):
        fair = disagreed * chosen // max(1, chosen + none)
        for of_chosen in range(max(0, fair - UNEVEN, disagreed - none), min(chosen, fair + UNEVEN, disagreed) + 1):
            for only_first in range(max(0, disagreed // 2 - UNEVEN), min(disagreed, disagreed // 2 + UNEVEN) + 1):
                yield _Split(of_chosen, disagreed - of_chosen, only_first)


def _imbalance(split: _Split, chosen: int, none: int) -> tuple[int, int]:
    disagreed = split.of_chosen + split.of_none
    return (
        abs(split.of_chosen * none - split.of_none * chosen) // max(1, chosen + none)
        + abs(disagreed - 2 * split.only_first),
        disagreed,
    )


# A question of the baseline, as (kind, variant); the two of each direction.
IMAGE_TO_TEXT = (FINER_SCORES["Ipos2T"], FINER_SCORES["Ineg2T"])
TEXT_TO_IMAGE = (FINER_SCORES["Tpos2I"], FINER_SCORES["Tneg2I"])
Asked = tuple[str, str]


def baseline_mistakes(keys: Sequence[str], *, seed: str) -> dict[str, set[Asked]]:
    """Return the wrong answers about each instance, so that I2T, T2I and Group are as published.

    Of the instances that are wrong in a direction, every third has both of its questions wrong, the others one.
    """
    n = len(keys)
    i2t, t2i, group = (round(n * percent / 100) for percent in (HUMAN_I2T, HUMAN_T2I, HUMAN_GROUP))
    group = max(group, i2t + t2i - n)
    dealt = list(keys)
    _random(seed, "baseline").shuffle(dealt)
    mistakes: dict[str, set[Asked]] = {key: set() for key in keys}
    # Order: both directions right (the first `group`), only T2I, only I2T, neither.
    neither = dealt[i2t + t2i - group :]
    _mark_mistakes(mistakes, dealt[group:t2i] + neither, IMAGE_TO_TEXT)
    _mark_mistakes(mistakes, dealt[t2i : i2t + t2i - group] + neither, TEXT_TO_IMAGE)
    return mistakes


def _mark_mistakes(mistakes: dict[str, set[Asked]], keys: Sequence[str], questions: tuple[Asked, Asked]) -> None:
    first, second = questions
    for key, wrong in zip(keys, cycle([{first}, {second}, {first, second}]), strict=False):
        mistakes[key] |= wrong


def _random(seed: str, *purpose: str) -> random.Random:
    return random.Random("|".join((seed, *purpose)))  # noqa: S311 (made-up people)
