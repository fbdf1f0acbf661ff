"""Read a benchmark's files with the importers for studies, so that both read them alike."""

import csv
import json
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

from evaluation.errors import BenchmarkError
from evaluation.instance_lookup import KnownInstance, join
from evaluation.result_files import RowContent
from studies.importing import Note, Record, RowProblem, get_importer
from studies.importing.captions import as_is

# Larger than any real header.
LONGEST_HEADER = 10_000


def first_existing(folder: Path, names: Iterable[str]) -> Path | None:
    """Return the first of the files that exists in the folder."""
    return next((folder / name for name in names if (folder / name).is_file()), None)


def records_of(path: Path, format: str) -> list[Record]:
    """Return the records of a file. Raises BenchmarkError with all problems."""
    records: list[Record] = []
    problems: list[str] = []
    try:
        with path.open("rb") as stream:
            for item in get_importer(format)(stream):
                if isinstance(item, RowProblem):
                    problems.append(f"{path.name}: {item}")
                elif not isinstance(item, Note):
                    records.append(item)
    except OSError as error:
        raise BenchmarkError(f"{path} cannot be read ({error.strerror}).") from error
    if problems:
        raise BenchmarkError(*problems)
    return records


def missing_data(folder: Path, expected: str) -> BenchmarkError:
    """Return the error for a folder without readable data; `expected` ends the sentence."""
    if not folder.is_dir():
        return BenchmarkError(f"Folder not found: {folder}. Name the benchmark's folder with --data.")
    return BenchmarkError(f"The folder {folder} has no data of the benchmark: {expected}")


def filename_of(record: Record, role: str) -> str:
    """Return the file name of the record's image in a role, "" if it has none."""
    return next((image.filename for image in record.images if image.role == role), "")


def describe_record(record: Record, *, rule: Callable[[str], str] = as_is) -> RowContent:
    """Return what identifies the record in a result file, with captions made by `rule`."""
    return RowContent(
        caption=rule(record.captions["caption"]),
        negative_caption=rule(record.captions["negative_caption"]),
        type=record.type,
        subtype=record.subtype,
        filename=str(record.reference.get("coco", "")),
    )


def labels_of(instances: Sequence[RowContent]) -> tuple[list[str], list[str]]:
    """Return the labels of the parts of a benchmark: the type of every instance, and type with subtype."""
    return [one.type for one in instances], [f"{one.type}_{one.subtype}" for one in instances]


def columns_of(path: Path) -> set[str]:
    """Return the names in the header of a CSV file, none for other files."""
    if path.suffix.lower() != ".csv":
        return set()
    try:
        with path.open(encoding="utf-8-sig", newline="") as stream:
            return set(next(csv.reader([stream.readline(LONGEST_HEADER)]), []))
    except (OSError, UnicodeDecodeError, csv.Error):
        return set()


def places_of(path: Path, rows: Sequence[RowContent], instances: Sequence[RowContent]) -> tuple[list[int], list[str]]:
    """Find the row of every instance, by captions, type and subtype (`evaluation.instance_lookup`).

    Returns the position of the row of every instance, and a sentence for each row that matches no instance. Raises
    BenchmarkError if an instance has no row, or its row is ambiguous.
    """
    known = [
        KnownInstance(number, str(number), one.caption, one.negative_caption, one.type, one.subtype, "", one.filename)
        for number, one in enumerate(instances)
    ]
    joined = join(list(enumerate(rows)), known)
    problems = [f"{path.name}: Record {number + 1}: {why}" for number, why in sorted(joined.unclear.items())]
    by_instance = {instance: number for number, instance in joined.instances.items()}
    missing = [number for number in range(len(instances)) if number not in by_instance]
    if missing and not problems:
        first = instances[missing[0]].caption
        problems = [
            f"{path.name} has no record for {len(missing):,} of {len(instances):,} instances. The first is {first!r}."
        ]
    if problems:
        raise BenchmarkError(*problems)
    left_out = [
        f"{path.name}: Record {number + 1} matches no instance of the benchmark: {rows[number].caption!r}."
        for number in sorted(joined.unknown)
    ]
    return [by_instance[number] for number in range(len(instances))], left_out


def json_object(path: Path) -> dict[str, Any]:
    """Return the object in a JSON file. Raises BenchmarkError for any other file."""
    content: dict[str, Any] = _json(path, dict, "object")
    return content


def json_list(path: Path) -> list[Any]:
    """Return the list in a JSON file. Raises BenchmarkError for any other file."""
    content: list[Any] = _json(path, list, "list")
    return content


def _json(path: Path, type: type[Any], name: str) -> Any:
    try:
        content = json.loads(path.read_text(encoding="utf-8-sig"))
    except OSError as error:
        raise BenchmarkError(f"{path} cannot be read ({error.strerror}).") from error
    except (ValueError, RecursionError) as error:
        raise BenchmarkError(f"{path.name} cannot be read as JSON.") from error
    if not isinstance(content, type):
        raise BenchmarkError(f"{path.name} is not a JSON {name}.")
    return content
