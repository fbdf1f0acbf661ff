"""ImageCoDe: sets of ten similar images, with or without descriptions that tell one of them apart.

A file is a JSON object of image sets by folder, or has one JSON object per set and line. Companion files give the
authors of descriptions, the phenomena in them, and the pairs of images. The type is recognised by content
(docs/import-formats.md).
"""

import json
import re
from collections.abc import Iterator, Mapping
from pathlib import PurePath
from typing import Any, BinaryIO

from studies.descriptions import (
    AUTHOR,
    LOOKED_FOR,
    PAIRED,
    PUBLIC,
    SET,
    SET_SIZE,
    STATIC,
    TAGS,
    TARGETS,
    TRAIN_WORKER,
    UNSEEN_WORKER,
    VIDEO,
    role_of,
)
from studies.importing.base import Note, Record, RowProblem, SourceImage, check_record
from studies.importing.folders import Place, number_of
from studies.importing.image_facts import FACTS, with_facts
from studies.importing.rows import (
    BYTE_ORDER_MARK,
    LONGEST_LINE,
    Item,
    Row,
    kind_of,
    others,
    read_each,
    read_json_items,
    read_json_list,
    read_objects,
    read_yaml_items,
    text_of,
    without_nulls,
)
from studies.names import problem_with_key

Problems = list[RowProblem]

# Folder prefixes of the published sets, and further ones for a researcher's own sets.
PUBLISHED = {"open-images": STATIC, "MSR-VTT-": VIDEO, "video-storytelling-": VIDEO, "YouCook-": VIDEO}
PREFIXES = PUBLISHED | {"static-": STATIC, "video-": VIDEO}
# Set type in a line -> type and subtype. Bursts and views of an object have no usable order in time.
KINDS = {STATIC: (STATIC, ""), VIDEO: (VIDEO, ""), "burst": (STATIC, "burst"), "multiview": (STATIC, "multiview")}
KNOWN = {"directory", "kind", "images", "descriptions", "split", *FACTS}
WORKERS = {TRAIN_WORKER, UNSEEN_WORKER}
# Published tags: code -> number of descriptions, from the first, that were checked for it.
LOOKED_AT = {"con": 1002, "n": 1002, "neg": 1002, "v": 1002}
LOOKED_AT |= {"col": 200, "cor": 200, "img": 200, "q": 200, "s": 200, "t": 200}
PAIR_SHAPE = 'A list holds pairs of images: {"directory", "pos_idx", "neg_idx", "caption"}.'
_SPLIT = re.compile(r"(train|valid|val|test)(?![a-z])")
_INDEX = re.compile(r"[0-9]")


def read(stream: BinaryIO) -> Iterator[Record | Note | RowProblem]:
    """Yield a record per image set, or a note per set of a companion file. The key is the set's folder name.

    The ten images have the role `set`. If the file does not name them, they are identified by their place in the
    folder. The split is given by the line, else by the start of the file name.
    """
    split = _split_of(stream)
    start = stream.tell()
    beginning = stream.readline(LONGEST_LINE)
    stream.seek(start)
    if _is_line(beginning):
        yield from _read_lines(stream, split)
    elif (opening := beginning.removeprefix(BYTE_ORDER_MARK).lstrip()[:1]) == b"[":
        yield from _read_pairs(read_json_list(stream))
    elif opening == b"{":
        yield from _read_items(read_json_items(stream), split)
    else:
        yield from _read_items(read_yaml_items(stream), split)


def _split_of(stream: BinaryIO) -> str:
    found = _SPLIT.match(PurePath(str(getattr(stream, "name", ""))).name)
    return _split_name(found[1]) if found else ""


def _split_name(split: str) -> str:
    return "valid" if split == "val" else split


def _is_line(line: bytes) -> bool:
    try:
        value = json.loads(line)
    except (ValueError, RecursionError):
        return False
    return isinstance(value, dict) and isinstance(value.get("directory"), str)


def _read_items(items: Iterator[Item | RowProblem], split: str) -> Iterator[Record | Note | RowProblem]:
    seen = 0
    for item in items:
        if isinstance(item, RowProblem):
            yield item
            continue
        row, directory, value = item
        if _is_about_authors(value):
            yield from _note(row, directory, {target: {AUTHOR: author} for target, author in value.items()})
        elif _is_about_phenomena(value):
            yield from _read_tags(row, directory, value, seen)
            seen += len(value)
        else:
            yield from _read_set(row, {"directory": directory, "descriptions": value}, split)


def _read_lines(stream: BinaryIO, split: str) -> Iterator[Record | RowProblem]:
    return read_each(read_objects(stream), lambda row: _read_set(*row, split))


def _read_pairs(items: Iterator[Row | RowProblem]) -> Iterator[Note | RowProblem]:
    """Yield a note per set from image pairs (ImageCoDe-simple): the other image of each description's pair."""
    rows: dict[str, int] = {}
    about: dict[str, dict[str, dict[str, Any]]] = {}
    for item in items:
        pair = item if isinstance(item, RowProblem) else _pair(*item)
        if isinstance(pair, RowProblem):
            yield pair
            continue
        row, directory, target, other = pair
        rows.setdefault(directory, row)
        known = about.setdefault(directory, {}).setdefault(target, {PAIRED: other})[PAIRED]
        if known != other:
            yield RowProblem(
                row, "neg_idx", f"Image {target} of {directory} already has neg_idx {known}. Keep one of them."
            )
    for directory, notes in about.items():
        yield from _note(rows[directory], directory, notes)


def _pair(row: int, fields: Mapping[str, Any]) -> tuple[int, str, str, int] | RowProblem:
    """Return record number, directory, target and index of the other image."""
    directory = fields.get("directory")
    if not isinstance(directory, str):
        return RowProblem(row, "directory", f"The field must be a text, not {kind_of(directory)}. {PAIR_SHAPE}")
    places: list[int] = []
    for name in ("pos_idx", "neg_idx"):
        place = fields.get(name)
        if type(place) is not int or not 0 <= place < SET_SIZE:
            return RowProblem(row, name, f"The field must be a number from 0 to {SET_SIZE - 1}. {PAIR_SHAPE}")
        places.append(place)
    target, other = places
    if target == other:
        return RowProblem(row, "neg_idx", "The field must differ from pos_idx: a pair has two images.")
    return row, directory, str(target), other


def _is_about_authors(value: Any) -> bool:
    return isinstance(value, dict) and bool(value) and all(isinstance(v, str) and v in WORKERS for v in value.values())


def _is_about_phenomena(value: Any) -> bool:
    return isinstance(value, dict) and any(isinstance(each, dict) and "annotation" in each for each in value.values())


def _read_tags(row: int, directory: str, value: Mapping[str, Any], seen: int) -> Iterator[Note | RowProblem]:
    """Read the codes of a set; `seen` descriptions come before it in the file."""
    about: dict[str, dict[str, Any]] = {}
    for number, (target, each) in enumerate(value.items(), start=seen):
        codes = each.get("annotation") if isinstance(each, dict) else None
        if not isinstance(codes, str):
            yield RowProblem(row, target, "`annotation` must be a text: codes with commas between them, or nothing.")
            return
        tags = sorted({code.strip() for code in codes.split(",")} - {""})
        if unknown := [code for code in tags if code not in LOOKED_AT]:
            known = ", ".join(sorted(LOOKED_AT))
            yield RowProblem(row, target, f"The code {unknown[0]!r} is unknown; it must be one of {known}.")
            return
        looked_for = _checked_codes(each, number)
        if unknown := [code for code in looked_for if code not in LOOKED_AT]:
            yield RowProblem(row, target, f"The code {unknown[0]!r} under looked_for is unknown.")
            return
        if looked_for:
            about[target] = {TAGS: tags, LOOKED_FOR: looked_for}
    if about:
        yield from _note(row, directory, about)


def _checked_codes(about: Mapping[str, Any], number: int) -> list[str]:
    """Return the codes that the `number`-th description of a file (from 0) was checked for.

    Our exports list them; for the published file, which does not, they follow from the number.
    """
    said = about.get(LOOKED_FOR)
    if isinstance(said, str):
        return sorted({code.strip() for code in said.split(",")} - {""})
    return sorted(code for code, first in LOOKED_AT.items() if number < first)


def _note(row: int, directory: str, about: dict[str, dict[str, Any]]) -> Iterator[Note | RowProblem]:
    if reason := problem_with_key(directory):
        yield RowProblem(row, "directory", reason)
    elif wrong := [target for target in about if not _INDEX.fullmatch(target)]:
        yield _no_index(row, wrong[0])
    else:
        yield Note(row, directory, about)


def _no_index(row: int, target: str) -> RowProblem:
    return RowProblem(row, "descriptions", f"{target!r} is not an index of one of the ten images. Write 0 to 9.")


def _read_set(row: int, fields: dict[str, Any], split: str) -> Iterator[Record | RowProblem]:
    problems: Problems = []
    directory = text_of(row, fields, "directory", problems)
    if not problems and (reason := problem_with_key(directory)):
        problems.append(RowProblem(row, "directory", reason))
    type, subtype = _kind(row, fields, directory, problems)
    images = _images(row, fields, directory, problems)
    captions, targets = _descriptions(row, fields.get("descriptions"), problems)
    split = _split_name(text_of(row, fields, "split", problems)) or split
    reference: dict[str, Any] = {TARGETS: targets} if targets else {}
    if targets and split == "test" and directory.startswith(tuple(PUBLISHED)):
        reference[PUBLIC] = True
    yield from problems or check_record(
        Record(
            row=row,
            key=directory,
            captions=captions,
            images=images,
            type=type,
            subtype=subtype,
            split=split,
            reference=reference | others(without_nulls(fields), KNOWN),
        ),
        needs_caption=False,
    )


def _kind(row: int, fields: Mapping[str, Any], directory: str, problems: Problems) -> tuple[str, str]:
    kind = text_of(row, fields, "kind", problems)
    if not kind:
        kind = next((kind for prefix, kind in PREFIXES.items() if directory.startswith(prefix)), "")
        if not kind and not problems:
            problems.append(
                RowProblem(
                    row,
                    "directory",
                    f"Lineup does not know whether {directory!r} is static or video: its name begins with none of "
                    f"{', '.join(PREFIXES)}. Name it static-... or video-..., or write a line of JSON for each set "
                    'with its "kind".',
                )
            )
    elif kind not in KINDS:
        problems.append(RowProblem(row, "kind", f"{kind!r} is unknown; it must be one of {', '.join(KINDS)}."))
    return KINDS.get(kind, ("", ""))


def _images(row: int, fields: Mapping[str, Any], directory: str, problems: Problems) -> list[SourceImage]:
    """Return the images sorted by the numbers in their names, or in list order if names have none."""
    names = fields.get("images")
    if names is None:
        named = [SourceImage(SET, Place(directory, place, SET_SIZE).filename) for place in range(SET_SIZE)]
        return with_facts(row, fields, named, problems)
    if not isinstance(names, list) or not all(isinstance(name, str) for name in names):
        problems.append(RowProblem(row, "images", "The field must be a list of file names."))
        return []
    if len(names) != SET_SIZE:
        problems.append(RowProblem(row, "images", f"An image set has {SET_SIZE} images; the row names {len(names)}."))
        return []
    images = with_facts(row, fields, [SourceImage(role=SET, filename=name) for name in names], problems)
    numbers = [number_of(name) for name in names]
    if None in numbers:
        return images
    if len(set(numbers)) < SET_SIZE:
        problems.append(RowProblem(row, "images", "Two of its images have the same number, so their order is unknown."))
    return [image for _, image in sorted(zip(numbers, images, strict=True), key=lambda pair: pair[0] or 0)]


def _descriptions(row: int, value: Any, problems: Problems) -> tuple[dict[str, str], list[int]]:
    """Return the descriptions by role, and their targets if the source has them."""
    if value is None:
        return {}, []
    if isinstance(value, dict):
        wrong = next((target for target in value if not _INDEX.fullmatch(target)), None)
        if wrong is not None:
            problems.append(_no_index(row, wrong))
            return {}, []
        targets = [int(target) for target in value]
        texts = list(value.values())
    elif isinstance(value, list):
        targets, texts = [], value
    else:
        sentence = f"The descriptions are {kind_of(value)}, not an object by index or a list."
        problems.append(RowProblem(row, "descriptions", sentence))
        return {}, []
    for text in texts:
        if not isinstance(text, str):
            problems.append(RowProblem(row, "descriptions", f"A description must be a text, not {kind_of(text)}."))
            return {}, []
    return {role_of(number): text for number, text in enumerate(texts, start=1)}, targets
