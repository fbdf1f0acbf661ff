"""SugarCrepe: an image and two captions, one of them made wrong by a small change."""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import numpy as np

from analytics.scores import Bools, Floats, Mean, Score, macro, right_choices, score, scores_by
from evaluation.benchmark_files import (
    columns_of,
    describe_record,
    filename_of,
    labels_of,
    missing_data,
    places_of,
    records_of,
)
from evaluation.errors import BenchmarkError
from evaluation.protocols.base import Benchmark, Block, Breakdown, Cell, Choice, Evaluation
from evaluation.result_files import RowContent, read_correct, read_detections, read_two_choice_answers

FILES = tuple(
    f"{name}.json"
    for name in ("replace_obj", "replace_att", "replace_rel", "swap_obj", "swap_att", "add_obj", "add_att")
)
MANIFEST = "BiVLC_negative_imgs.csv"
# The order in which a model that answers in words was offered the captions.
ORDERS = ("negative-first", "positive-first")


@dataclass(frozen=True)
class Items:
    """images: the file of each item's photo."""

    described: Sequence[RowContent]
    images: Sequence[str]
    notes: Sequence[str] = ()


@dataclass(frozen=True)
class Choices:
    """correct: by order of the captions, whether each item was answered right; "" if the order is irrelevant."""

    correct: Mapping[str, Bools]
    notes: Sequence[str] = field(default_factory=tuple)


class SugarCrepe(Benchmark[Items, Choices]):
    """Hsieh et al. 2023, "SugarCrepe: Fixing Hackable Benchmarks for Vision-Language Compositionality".

    Tie rule: the caption must score strictly higher than the negative one, so a tie is wrong (`main_eval.py` in
    RAIVNLab/sugar-crepe compares with >). Order of options: caption first, negative caption second; of no effect on
    scores. A model that answers in words may favour what it reads first, so its answers are counted for each order, for
    both at once, and as the mean of the two orders (`gpt-4v-results/readme.md` there: negative-first, positive-first,
    average). An answer that is neither caption, such as a refusal, is wrong. Captions are read as they are. The paper's
    tables are per subtype; micro counts every item once (BiVLC's tables have that), macro every one of the seven
    subtypes.

    Data: `add_obj.json` to `swap_att.json`, any of the seven, with photos of COCO 2017's validation split; or the
    manifest of BiVLC, which has the 7,512 items of the paper (the current files have 7,511). Results
    of its own: `SUGARCREPE_CORRECT_<model>.csv`, text detectors (`SUGARCREPE_Classifier_*.csv`), and a folder of
    `gpt4v-<type>_<subtype>.json`, or one that has the folders negative-first and positive-first with these.
    """

    name = "sugarcrepe"
    title = "SugarCrepe"
    paper = "Hsieh et al. 2023"
    example: ClassVar[Mapping[str, str]] = {
        "swap_att.json": '{"0": {"filename": "0.jpg", "caption": "A red cup on a blue plate.",'
        ' "negative_caption": "A blue cup on a red plate."}}',
        "add_obj.json": '{"3": {"filename": "1.jpg", "caption": "A cat.", "negative_caption": "A cat and a dog."}}',
    }

    def read(self, folder: Path) -> Items:
        there = [name for name in FILES if (folder / name).is_file()]
        if there:
            records = [record for name in there for record in records_of(folder / name, "sugarcrepe")]
            lacking = [name for name in FILES if name not in there]
            notes = [f"Missing, so not counted: {', '.join(lacking)}."] if lacking else []
        elif (folder / MANIFEST).is_file():
            records, notes = records_of(folder / MANIFEST, "bivlc-manifest"), []
        else:
            raise missing_data(folder, f"one of {', '.join(FILES)}, or {MANIFEST}, must exist.")
        return Items(
            [describe_record(record) for record in records], [filename_of(record, "image") for record in records], notes
        )

    def blocks(self, data: Items) -> Iterator[Block]:
        for image, one in zip(data.images, data.described, strict=True):
            yield Block((image,), (one.caption, one.negative_caption))

    def choices(self, data: Items) -> Iterator[Sequence[Choice]]:
        yield from [[Choice("text", 0, 0)]] * len(data.described)

    def collect_outcomes(self, data: Items, scored: Iterator[tuple[Block, Floats]]) -> Choices:
        rows = np.array([matrix[0] for _, matrix in scored], dtype=np.float64).reshape(-1, 2)
        return Choices({"": right_choices(rows, 0)})

    def tables(self, data: Items, found: Choices) -> Evaluation:
        types, subtypes = labels_of(data.described)
        # Without a subtype there is one row per type.
        columns = [np.array(labels) for labels in (types, subtypes)]
        members_of = {title: labels == title for labels in columns for title in dict.fromkeys(labels.tolist())}
        parts = [
            Breakdown(title, int(members.sum()), self._cells(found, members)) for title, members in members_of.items()
        ]
        whole = self._cells(found, np.ones(len(data.described), dtype=np.bool_))
        macros = {order: macro(scores_by(correct, subtypes)) for order, correct in found.correct.items()}
        whole |= {_cell_name("Macro", order): cell for order, cell in macros.items()}
        if len(macros) > 1:
            whole["Macro, average of orders"] = _average(list(macros.values()))
        return Evaluation(Breakdown("all", len(data.described), whole), parts, [*data.notes, *found.notes])

    def chance(self, data: Items) -> Mapping[str, float | None]:
        orders = ("", *ORDERS)
        cells: dict[str, float | None] = {
            _cell_name(name, order): 1 / 2 for name in ("Micro", "Macro") for order in orders
        }
        # Guessing the same position twice, or the same caption twice, is correlated across the orders.
        return cells | {
            "Micro, both orders": None,
            "Micro, average of orders": 1 / 2,
            "Macro, average of orders": 1 / 2,
        }

    def read_published(self, data: Items, path: Path) -> Choices | None:
        if path.is_dir():
            return self._answers(data, path)
        columns = columns_of(path)
        if "correct" in columns:
            file = read_correct(path)
            return self._join_answers(data, path, {"": (file.instances, file.correct)})
        if "text_pred" in columns:
            detections = read_detections(path)
            if len(detections.text) != len(data.described):
                raise BenchmarkError(
                    f"{path.name} is about {len(detections.text):,} items, and there are {len(data.described):,}."
                )
            return Choices({"": detections.text[:, 0] < detections.text[:, 1]})
        return None

    def _answers(self, data: Items, folder: Path) -> Choices | None:
        inside = {order: sorted((folder / order).glob("gpt4v-*.json")) for order in ORDERS}
        direct = sorted(folder.glob("gpt4v-*.json"))
        if direct:
            inside = {next((order for order in ORDERS if folder.name.endswith(order)), ""): direct}
        answers: dict[str, tuple[list[RowContent], Bools]] = {}
        for order, files in inside.items():
            if files:
                read = [read_two_choice_answers(file) for file in files]
                instances = [one for file in read for one in file.instances]
                answers[order] = instances, np.concatenate([file.correct for file in read])
        return self._join_answers(data, folder, answers) if answers else None

    def _join_answers(
        self, data: Items, path: Path, answers: Mapping[str, tuple[Sequence[RowContent], Bools]]
    ) -> Choices:
        correct: dict[str, Bools] = {}
        notes: list[str] = []
        for order, (instances, right) in answers.items():
            places, left_out = places_of(path, instances, data.described)
            correct[order] = right[np.array(places)]
            notes += [f"Left out: {sentence}" for sentence in left_out]
        return Choices(correct, notes)

    def _cells(self, found: Choices, members: Bools) -> dict[str, Cell]:
        cells: dict[str, Cell] = {
            _cell_name("Micro", order): score(correct[members]) for order, correct in found.correct.items()
        }
        if len(found.correct) > 1:
            in_each = [correct[members] for correct in found.correct.values()]
            cells["Micro, both orders"] = score(np.all(in_each, axis=0))
            cells["Micro, average of orders"] = _average([score(correct) for correct in in_each])
        return cells


def _average(scores: Sequence[Score | Mean]) -> Mean:
    """Return the unweighted mean over the orders of the captions; undefined if one is."""
    values = [each.share if isinstance(each, Score) else each.value for each in scores]
    known = [value for value in values if value is not None]
    n = scores[0].n
    return Mean(sum(known) / len(known), n) if len(known) == len(values) else Mean(None, n, "Nothing was counted.")


def _cell_name(cell: str, order: str) -> str:
    return f"{cell}, {order}" if order else cell
