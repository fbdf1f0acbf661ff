"""ImageCoDe: find the one of ten similar images that a description is about."""

import json
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from analytics.scores import Bools, Floats, right_choices, score
from evaluation.benchmark_files import first_existing, json_object, missing_data, records_of
from evaluation.errors import BenchmarkError
from evaluation.protocols.base import Benchmark, Block, Breakdown, Cell, Choice, Evaluation
from studies.descriptions import SET_SIZE, STATIC, TARGETS, VIDEO, role_of
from studies.importing import Record

UNLABELLED = "test_data_unlabeled.json"
FILES = ("valid_data.json", "test_data.json", UNLABELLED)


@dataclass(frozen=True)
class Description:
    """A description of one of the ten `images` of the set `directory`.

    `target`: the position of its image, from 0; None if the file does not reveal it.
    """

    directory: str
    type: str
    images: Sequence[str]
    target: int | None
    text: str


class ImageCoDe(Benchmark[Sequence[Description], Bools]):
    """Krojer et al. 2022, "Image Retrieval from Contextual Descriptions".

    Tie rule: the target must score strictly higher than the nine others, so a tie is wrong. The paper's code takes the
    first of `(-similarities).argsort()`, which leaves ties undefined (`baselines/clip/zero_shot.py` in
    McGill-NLP/imagecode). Order of options: the images of a set by the number in their names, which the index of a
    description counts from 0. Descriptions are stripped of white space at their ends, as there. Accuracy over all
    descriptions, and over those of video frames and of static images.

    Data: `valid_data.json` or, without it, `test_data.json` with descriptions by index; the sets are folders of ten
    images img*.jpg. Results of its own: a JSON object by folder with `correct_<index>`, 1 or 0, as the code there
    writes them. `test_data_unlabeled.json` alone has no right answers; `answers` writes the choices for the
    leaderboard, which takes a list of indices by folder (README of McGill-NLP/imagecode). A tie there goes to the first
    of the highest scores.
    """

    name = "imagecode"
    title = "ImageCoDe"
    paper = "Krojer et al. 2022"
    example: ClassVar[Mapping[str, str]] = {
        "valid_data.json": '{"open-images-1_a": {"5": "A deer is nearest. "}, "MSR-VTT-b": {"0": "He looks up."}}'
    }

    def read(self, folder: Path) -> Sequence[Description]:
        path = first_existing(folder, FILES)
        if path is None:
            raise missing_data(folder, f"{' or '.join(FILES)} must be there.")
        found = [
            Description(
                record.key,
                record.type,
                [image.filename for image in record.images],
                target,
                record.captions[role_of(number)].strip(),
            )
            for record in records_of(path, "imagecode")
            for number, target in enumerate(_targets_of(record), start=1)
        ]
        if not found:
            raise BenchmarkError(f"{path.name} has no descriptions.")
        if path.name != UNLABELLED:
            _known_targets(found, path.name)
        return found

    def blocks(self, data: Sequence[Description]) -> Iterator[Block]:
        for one in data:
            yield Block(one.images, (one.text,))

    def choices(self, data: Sequence[Description]) -> Iterator[Sequence[Choice]]:
        for target in _known_targets(data):
            yield [Choice("image", 0, target)]

    def collect_outcomes(self, data: Sequence[Description], scored: Iterator[tuple[Block, Floats]]) -> Bools:
        # Fail before anything is scored.
        targets = np.array(_known_targets(data))
        return right_choices(_rows(scored), targets)

    def answers(self, data: Sequence[Description], scored: Iterator[tuple[Block, Floats]]) -> str:
        chosen: dict[str, list[int]] = {}
        for one, place in zip(data, _rows(scored).argmax(axis=1).tolist(), strict=True):
            chosen.setdefault(one.directory, []).append(place)
        return json.dumps(chosen, indent=2)

    def tables(self, data: Sequence[Description], found: Bools) -> Evaluation:
        types = np.array([one.type for one in data])
        cells: dict[str, Cell] = {
            "Accuracy": score(found),
            "Video": score(found[types == VIDEO]),
            "Static": score(found[types == STATIC]),
        }
        return Evaluation(Breakdown("all", len(data), cells))

    def chance(self, data: Sequence[Description]) -> Mapping[str, float | None]:
        return dict.fromkeys(("Accuracy", "Video", "Static"), 1 / SET_SIZE)

    def read_published(self, data: Sequence[Description], path: Path) -> Bools | None:
        if path.suffix != ".json":
            return None
        results = json_object(path)
        correct: list[bool] = []
        problems: list[str] = []
        for one, target in zip(data, _known_targets(data), strict=True):
            value: Any = results.get(one.directory)
            right = value.get(f"correct_{target}") if isinstance(value, dict) else None
            if right not in (0, 1):
                problems.append(f"{path.name} does not say whether {one.directory}, index {target}, is right.")
            correct.append(right == 1)
        if problems:
            raise BenchmarkError(*problems)
        return np.array(correct, dtype=np.bool_)


def _targets_of(record: Record) -> Sequence[int | None]:
    """Return the targets of a set's descriptions, None for each if its file withholds them."""
    known: Sequence[int] | None = record.reference.get(TARGETS)
    return [None] * len(record.captions) if known is None else known


def _known_targets(data: Sequence[Description], name: str = UNLABELLED) -> list[int]:
    """Return the targets. Raises BenchmarkError if one is withheld."""
    targets = [one.target for one in data if one.target is not None]
    if len(targets) < len(data):
        raise BenchmarkError(
            f"{name} does not say which images its descriptions are about, so nothing can be counted. Write the "
            f"model's choices for the leaderboard with --answers FILE; call the file {UNLABELLED}."
        )
    return targets


def _rows(scored: Iterator[tuple[Block, Floats]]) -> Floats:
    """Return the scores of the ten images of each description: shape (descriptions, 10)."""
    return np.array([matrix[:, 0] for _, matrix in scored], dtype=np.float64).reshape(-1, SET_SIZE)
