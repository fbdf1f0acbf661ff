"""Readers of the result files that the papers' evaluation code writes; `ResultsFileError` lists a file's problems.

Records are counted from 1 without the header, because captions contain line breaks; the line is where a record ends.
"""

import csv
import io
import itertools
import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from analytics.scores import Bools, Floats, Outcomes

SHOWN_PROBLEMS = 20
TRUTHS = {"true": True, "1": True, "1.0": True, "false": False, "0": False, "0.0": False}
# The four outcomes, by the column names of the released files and of newer code.
QUESTIONS = (
    ("text_score_i0", "Ipos_2T"),
    ("text_score_i1", "Ineg_2T"),
    ("image_score_c0", "Tpos_2I"),
    ("image_score_c1", "Tneg_2I"),
)
# Columns derived from the outcomes; they are checked if present.
DERIVED = (("text_score", "I2T"), ("image_score", "T2I"), ("group_score",))


class ResultsFileError(ValueError):
    """A result file is invalid. `problems`: one sentence each, with the record and line."""

    def __init__(self, problems: Sequence[str]) -> None:
        self.problems = list(problems)
        more = len(self.problems) - SHOWN_PROBLEMS
        shown = self.problems[:SHOWN_PROBLEMS] + ([f"There are {more} more problems."] if more > 0 else [])
        super().__init__("\n".join(shown))


# Fields about the file, beside its items.
SUMMARY = "accuracy"


@dataclass(frozen=True)
class RowContent:
    """What a row says about its instance; captions and labels as in the file, "" where the file has no such column."""

    caption: str
    negative_caption: str
    type: str
    subtype: str
    filename: str = ""
    key: str = ""


@dataclass(frozen=True)
class DescribedFile:
    """The instances of a result file, in its order."""

    instances: list[RowContent]

    @property
    def types(self) -> list[str]:
        return [instance.type for instance in self.instances]

    @property
    def subtypes(self) -> list[str]:
        return [instance.subtype for instance in self.instances]


@dataclass(frozen=True)
class OutcomeFile(DescribedFile):
    """Per instance: what it is, and which of the four questions a model answered right."""

    outcomes: Outcomes


@dataclass(frozen=True)
class CorrectFile(DescribedFile):
    """Per instance: what it is, and whether a model chose the right caption."""

    correct: Bools


@dataclass(frozen=True)
class DetectorFile:
    """Probabilities of being synthetic, n x 2: natural side, synthetic side. `image` is None in text-only files."""

    text: Floats
    image: Floats | None


def read_outcomes(path: Path) -> OutcomeFile:
    """Read a model's outcomes on BiVLC (`BiVLC_<model>.csv`), under either naming of the columns.

    Truth values are True/False or 1/0. Where the file has I2T, T2I and group score, they must follow from the four.
    """
    table = _Table(path)
    questions = [table.column(*names) for names in QUESTIONS]
    derived = [table.optional(*names) for names in DERIVED]
    instances: list[RowContent] = []
    rows: list[list[bool]] = []
    for record in table.records():
        values = [record.truth(column) for column in questions]
        i2t, t2i = all(values[:2]), all(values[2:])
        for column, expected in zip(derived, (i2t, t2i, i2t and t2i), strict=True):
            if column is not None and record.truth(column) != expected:
                record.wrong(f"{column} is {not expected}, but the four outcomes make it {expected}.")
        instances.append(record.describe())
        rows.append(values)
    table.finish()
    columns = np.array(rows, dtype=np.bool_).reshape(-1, 4).T
    return OutcomeFile(instances, Outcomes(*columns))


def read_correct(path: Path) -> CorrectFile:
    """Read a model's choices on SugarCrepe (`SUGARCREPE_CORRECT_<model>.csv`); `correct` is 1/0 or True/False."""
    table = _Table(path)
    column = table.column("correct")
    instances: list[RowContent] = []
    correct: list[bool] = []
    for record in table.records():
        correct.append(record.truth(column))
        instances.append(record.describe())
    table.finish()
    return CorrectFile(instances, np.array(correct, dtype=np.bool_))


def read_detections(path: Path) -> DetectorFile:
    """Read detectors' probabilities (`BiVLC_Classifier_CORRECT_<model>.csv`, `SUGARCREPE_Classifier_<model>.csv`).

    Columns text_pred, img_pred (not in text-only files) and label, 0 natural or 1 synthetic. The file comes in blocks
    of one label: the k-th natural row and the k-th synthetic row are one instance.
    """
    table = _Table(path)
    columns = [table.column("text_pred")]
    image = table.optional("img_pred")
    if image is not None:
        columns.append(image)
    label = table.column("label")
    sides: tuple[list[list[float]], list[list[float]]] = ([], [])
    for record in table.records():
        sides[record.truth(label)].append([record.probability(column) for column in columns])
    natural, synthetic = sides
    if len(natural) != len(synthetic):
        table.problems.append(
            f"There are {len(natural)} natural and {len(synthetic)} synthetic rows; they come in pairs."
        )
    table.finish()
    pairs = np.stack([np.array(side, dtype=np.float64).reshape(-1, len(columns)) for side in sides], axis=1)
    return DetectorFile(pairs[:, :, 0], pairs[:, :, 1] if image is not None else None)


def read_two_choice_answers(path: Path, *, type: str = "", subtype: str = "") -> CorrectFile:
    """Read GPT-4V's answers on SugarCrepe (`gpt4v-<type>_<subtype>.json`): right when the caption was chosen.

    An answer that is neither caption, such as a refusal, is wrong. The file's own `accuracy` is ignored.
    type, subtype: what the file is of; by default taken from its name.
    """
    if not type and "_" in path.stem:
        type, subtype = path.stem.rpartition("-")[2].split("_", 1)
    problems: list[str] = []
    instances: list[RowContent] = []
    correct: list[bool] = []
    for key, item in _json_object(path).items():
        if key == SUMMARY:
            continue
        fields = item if isinstance(item, dict) else {}
        answer = fields.get("answer")
        chosen = answer.get("multiple_choice_answer") if isinstance(answer, dict) else None
        caption, negative = fields.get("caption"), fields.get("negative_caption")
        if not (isinstance(caption, str) and isinstance(negative, str) and isinstance(chosen, str)):
            problems.append(f"Item {key!r}: it lacks caption, negative_caption or answer.multiple_choice_answer.")
            continue
        instances.append(RowContent(caption, negative, type, subtype, str(fields.get("filename", ""))))
        correct.append(chosen == caption)
    if problems:
        raise ResultsFileError(problems)
    return CorrectFile(instances, np.array(correct, dtype=np.bool_))


def _json_object(path: Path) -> Mapping[str, Any]:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except UnicodeDecodeError as error:
        raise ResultsFileError([f"{path.name} is not UTF-8 text."]) from error
    except json.JSONDecodeError as error:
        raise ResultsFileError([f"{path.name} is not JSON: line {error.lineno}, {error.msg}."]) from error
    except (ValueError, RecursionError) as error:
        reason = "a number is too long or the nesting too deep"
        raise ResultsFileError([f"{path.name} cannot be read as JSON: {reason}."]) from error
    if not isinstance(content, dict):
        raise ResultsFileError([f"{path.name} is not a JSON object of items by key."])
    return content


class _Record:
    """One row of a table; a problem is added to `problems`, and a neutral value is returned."""

    def __init__(self, values: Mapping[str, str], where: str, problems: list[str]) -> None:
        self.values, self.where, self.problems = values, where, problems

    def wrong(self, what: str) -> None:
        self.problems.append(f"{self.where}: {what}")

    def truth(self, column: str) -> bool:
        value = self.values[column]
        if value.strip().lower() not in TRUTHS:
            self.wrong(f"{column} is {value!r}; it must be True or False, or 1 or 0.")
            return False
        return TRUTHS[value.strip().lower()]

    def probability(self, column: str) -> float:
        value = self.values[column]
        try:
            number = float(value)
        except ValueError:
            number = -1
        if not 0 <= number <= 1:
            self.wrong(f"{column} is {value!r}; it must be a probability, 0 to 1.")
        return number

    def describe(self) -> RowContent:
        names = ("caption", "negative_caption", "type", "subtype", "filename", "key")
        return RowContent(*(self.values.get(name, "") for name in names))


class _Table:
    """A CSV file with a header, whose problems are collected until `finish` raises them together."""

    def __init__(self, path: Path) -> None:
        self.problems: list[str] = []
        try:
            text = path.read_bytes().decode("utf-8-sig")
        except UnicodeDecodeError as error:
            raise ResultsFileError([f"{path.name} is not UTF-8 text."]) from error
        self.reader = csv.reader(io.StringIO(text, newline=""), strict=True)
        try:
            self.header = next(self.reader, [])
        except csv.Error as error:
            raise ResultsFileError([f"{path.name} is not valid CSV: {error}."]) from error
        if not self.header:
            raise ResultsFileError([f"{path.name} is empty."])
        twice = [name for name, times in Counter(self.header).items() if times > 1]
        if twice:
            raise ResultsFileError(
                [f"{path.name} has the column {name!r} more than once. Keep only one." for name in twice]
            )

    def column(self, *names: str) -> str:
        """Return the first of `names` in the header. Raises ResultsFileError without one."""
        found = self.optional(*names)
        if found is None:
            self.problems.append(f"The file has no column {' or '.join(names)}; it has {', '.join(self.header)}.")
            raise ResultsFileError(self.problems)
        return found

    def optional(self, *names: str) -> str | None:
        """Return which of `names`, synonyms, is in the header. Raises ResultsFileError for two."""
        found = [name for name in names if name in self.header]
        if len(found) > 1:
            raise ResultsFileError([f"The columns {' and '.join(found)} mean the same. Keep only one."])
        return found[0] if found else None

    def records(self) -> Iterator[_Record]:
        """Yield the records that have as many values as the header; the others are problems."""
        for number in itertools.count(1):
            try:
                row = next(self.reader, None)
            except csv.Error as error:
                self.problems.append(f"Record {number} (line {self.reader.line_num}): it is not valid CSV ({error}).")
                return
            if row is None:
                return
            where = f"Record {number} (line {self.reader.line_num})"
            if len(row) == len(self.header):
                yield _Record(dict(zip(self.header, row, strict=True)), where, self.problems)
            elif row:
                self.problems.append(f"{where}: it has {len(row)} values for {len(self.header)} columns.")

    def finish(self) -> None:
        if self.problems:
            raise ResultsFileError(self.problems)
