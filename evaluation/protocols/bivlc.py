"""BiVLC: two images and two captions per instance; each image is matched with its caption and vice versa."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from analytics.scores import (
    CHANCE,
    Floats,
    Outcomes,
    Score,
    detection_accuracy,
    outcomes_of_detectors,
    outcomes_of_scores,
)
from evaluation.benchmark_files import (
    columns_of,
    describe_record,
    filename_of,
    first_existing,
    labels_of,
    missing_data,
    places_of,
    records_of,
)
from evaluation.errors import BenchmarkError
from evaluation.parquet_images import shards_of, texts_of
from evaluation.protocols.base import Benchmark, Block, Breakdown, Choice, Evaluation
from evaluation.result_files import RowContent, read_detections, read_outcomes
from studies.importing import RowProblem
from studies.importing.captions import bivlc_release
from studies.importing.parquet import Cell
from studies.importing.rows import read_table

RELEASES = ("bivlc.jsonl", "bivlc.csv", "instances.jsonl", "instances.csv")
MANIFEST, ACCEPTED = "BiVLC_negative_imgs.csv", "accepted.csv"
IMAGES = ("image", "negative_image")
TEXTS = ("caption", "negative_caption", "type", "subtype")
OUTCOMES = ({"text_score_i0", "text_score_i1", "image_score_c0", "image_score_c1"}, {"Ipos_2T", "Ineg_2T"})
DETECTIONS = {"text_pred", "label"}
TEXT_DETECTION, IMAGE_DETECTION = "Text detection", "Image detection"


@dataclass(frozen=True)
class Instances:
    """The instances in the order of the release.

    images: the positive and the negative image of each; None if the files do not say which images were released.
    """

    described: Sequence[RowContent]
    images: Sequence[tuple[str, str]] | None


@dataclass(frozen=True)
class Results:
    """detected: for detectors, how often each classifies a text, or an image, correctly: name of the cell -> score."""

    outcomes: Outcomes
    detected: Mapping[str, Score] = field(default_factory=dict)


class BiVLC(Benchmark[Instances, Results]):
    """Miranda et al. 2024, "BiVLC: Extending Vision-Language Compositionality Evaluation with Text-to-Image Retrieval".

    Tie rule: comparisons are strict, so a tie is wrong (section 4; `evaluate_BiVLC` in
    `src/CLIP_fine_tuning/CLIP_utils.py` of IMirandaM/BiVLC compares with >). Order of options: images and captions
    alike, the positive first and the negative second. An instance counts for I2T if both images get their captions, for
    T2I if both captions get their images, for Group if both hold. Captions are read as released (`bivlc-release-v1`).
    Guessing means four distinct scores in random order: of their 24 orders 6 give I2T, 6 T2I and 4 Group.

    Data: the release as `bivlc.jsonl` or `bivlc.csv` (as `export` writes it too, `instances.jsonl` or `instances.csv`)
    with its images; or as on the Hugging Face Hub, `data/test-*.parquet` (as `export --format hf` writes it); or
    `BiVLC_negative_imgs.csv` with `accepted.csv`. The last two do not say which image was chosen, so only result files
    can be counted with them. Results of its own: outcomes (`BiVLC_<model>.csv`) and detectors
    (`BiVLC_Classifier_*.csv`), with the detection accuracies of the paper's table 5.
    """

    name = "bivlc"
    title = "BiVLC"
    paper = "Miranda et al. 2024"
    example: ClassVar[Mapping[str, str]] = {
        "bivlc.csv": "image,caption,negative_caption,negative_image,type,subtype\n"
        "0.jpg,A cat on a couch.,A dog on a couch.,0n.jpg,replace,obj\n"
        "1.jpg,A red cup on a blue plate.,A blue cup on a red plate.,1n.jpg,swap,att\n"
    }

    def read(self, folder: Path) -> Instances:
        release = first_existing(folder, RELEASES)
        if release is not None:
            records = records_of(release, "bivlc")
            pairs = [(filename_of(one, IMAGES[0]), filename_of(one, IMAGES[1])) for one in records]
            return Instances([describe_record(one) for one in records], pairs)
        shards = shards_of(folder, "test")
        if shards:
            return _of_tables(shards)
        if (folder / MANIFEST).is_file() and (folder / ACCEPTED).is_file():
            return Instances(_accepted_rows(folder), None)
        expected = f"{', '.join(RELEASES[:2])}, data/test-*.parquet, or {MANIFEST} with {ACCEPTED}, must be there."
        raise missing_data(folder, expected)

    def blocks(self, data: Instances) -> Iterator[Block]:
        if data.images is None:
            raise BenchmarkError(
                f"{MANIFEST} and {ACCEPTED} do not say which image was chosen. Put the release there, as bivlc.csv."
            )
        for pair, one in zip(data.images, data.described, strict=True):
            yield Block(pair, (one.caption, one.negative_caption))

    def choices(self, data: Instances) -> Iterator[Sequence[Choice]]:
        both = [Choice(among, place, place) for among in ("text", "image") for place in (0, 1)]
        yield from [both] * len(data.described)

    def collect_outcomes(self, data: Instances, scored: Iterator[tuple[Block, Floats]]) -> Results:
        matrices = [matrix for _, matrix in scored]
        return Results(outcomes_of_scores(np.array(matrices, dtype=np.float64).reshape(-1, 2, 2)))

    def tables(self, data: Instances, found: Results) -> Evaluation:
        outcomes = found.outcomes
        parts = [
            Breakdown(name, scores["Group"].n, scores)
            for labels in labels_of(data.described)
            for (name,), scores in outcomes.scores_by(labels).items()
        ]
        return Evaluation(Breakdown("all", len(outcomes), {**outcomes.scores(), **found.detected}), parts)

    def chance(self, data: Instances) -> Mapping[str, float | None]:
        return {**CHANCE, TEXT_DETECTION: 1 / 2, IMAGE_DETECTION: 1 / 2}

    def read_published(self, data: Instances, path: Path) -> Results | None:
        columns = columns_of(path)
        if any(names <= columns for names in OUTCOMES):
            file = read_outcomes(path)
            places, left_out = places_of(path, file.instances, data.described)
            if left_out:
                raise BenchmarkError(*left_out)
            return Results(file.outcomes.of(np.array(places)))
        if columns >= DETECTIONS:
            return self._detection_results(data, path)
        return None

    def _detection_results(self, data: Instances, path: Path) -> Results:
        detections = read_detections(path)
        if detections.image is None:
            raise BenchmarkError(f"{path.name} has no column img_pred, which BiVLC needs for detectors of images.")
        if len(detections.text) != len(data.described):
            raise BenchmarkError(
                f"{path.name} is about {len(detections.text):,} instances, and there are {len(data.described):,}."
            )
        accuracies = {
            TEXT_DETECTION: detection_accuracy(detections.text),
            IMAGE_DETECTION: detection_accuracy(detections.image),
        }
        return Results(outcomes_of_detectors(detections.text, detections.image), accuracies)


def _of_tables(paths: Sequence[Path]) -> Instances:
    """Return the release as the Hugging Face Hub has it, and as `export --format hf` writes it."""
    instances: list[RowContent] = []
    images: list[tuple[str, str]] = []
    for path in paths:
        for row, texts in enumerate(texts_of(path, TEXTS, IMAGES)):
            instances.append(RowContent(*(texts[name] for name in TEXTS)))
            file = f"{path.parent.name}/{path.name}"
            images.append((Cell(file, row, IMAGES[0]).filename, Cell(file, row, IMAGES[1]).filename))
    return Instances(instances, images)


def _accepted_rows(folder: Path) -> list[RowContent]:
    """Return the accepted rows of the manifest as they were released, in the order of the release."""
    by_key = {record.key: record for record in records_of(folder / MANIFEST, "bivlc-manifest")}
    released: dict[int, RowContent] = {}
    problems = []
    with (folder / ACCEPTED).open("rb") as stream:
        for item in read_table(stream, ("index", "accepted", "release_row")):
            if isinstance(item, RowProblem):
                problems.append(f"{ACCEPTED}: {item}")
                continue
            number, row = item
            if row["accepted"] != "true":
                continue
            if row["index"] not in by_key or not row["release_row"].isdigit():
                problems.append(
                    f"{ACCEPTED}: Record {number}: it does not name a row of {MANIFEST} and a place in the release."
                )
                continue
            released[int(row["release_row"])] = describe_record(by_key[row["index"]], rule=bivlc_release)
    if problems:
        raise BenchmarkError(*problems)
    return [released[place] for place in sorted(released)]
