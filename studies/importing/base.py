"""Output of importers: records, notes and row problems."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from ntpath import splitdrive
from re import compile as compile_pattern
from typing import Any, BinaryIO, Protocol

from studies.names import problem_with_key, problem_with_text

# Widths of the database columns.
LONGEST = {"type": 50, "subtype": 50, "split": 20}
LONGEST_FILENAME = 500
MOST_IMAGES = 1_000
DEEPEST_REFERENCE = 50
# End of the problem of a missing image.
OR_LATER = "or choose to let images come later."
_ROLE = compile_pattern(r"[a-z][a-z0-9_]{0,29}")
_SHA256 = compile_pattern(r"[0-9a-f]{64}")


@dataclass(frozen=True, slots=True)
class SourceImage:
    """An image named by a row. `filename`: relative to the image folder, parts separated by `/`.

    `sha256`: as stated by the source, or "". An `optional` image is left out if its file is missing.
    """

    role: str
    filename: str
    sha256: str = ""
    source: str = ""
    licence: str = ""
    generator: str = ""
    optional: bool = False


@dataclass(frozen=True, slots=True)
class Record:
    """One record of a source. `row`: its number from 1, without header and blank lines.

    `captions` and `images` are unchanged; images of one role are in order of position. `reference`: further facts from
    the source, plain JSON; its key `right` names the right option.
    """

    row: int
    key: str
    captions: Mapping[str, str]
    images: Sequence[SourceImage] = ()
    type: str = ""
    subtype: str = ""
    split: str = ""
    reference: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class RowProblem:
    """Problem of a row or, with `row` 0, of the whole file. `reason`: a whole sentence."""

    row: int
    field: str
    reason: str

    def __str__(self) -> str:
        where = f"Record {self.row}" if self.row else "The file"
        return f"{where}, {self.field}: {self.reason}" if self.field else f"{where}: {self.reason}"


@dataclass(frozen=True, slots=True)
class Note:
    """A companion file's notes on the descriptions of an image set from another file.

    `about`: target as text -> facts, plain JSON; `studies.descriptions` names the keys.
    """

    row: int
    key: str
    about: Mapping[str, Mapping[str, Any]]


class Importer(Protocol):
    def __call__(self, stream: BinaryIO) -> Iterator[Record | Note | RowProblem]:
        """Read a file row by row. Never raises: problems are yielded like rows.

        Formats whose file names matter read `stream.name`, which some streams lack.
        """


def places_of(images: Sequence[SourceImage]) -> Iterator[tuple[str, int]]:
    """Yield the role of each image, and its position among the images of that role, from 0."""
    counts: Counter[str] = Counter()
    for image in images:
        yield image.role, counts[image.role]
        counts[image.role] += 1


def check_record(record: Record, *, needs_caption: bool = True) -> Iterator[Record | RowProblem]:
    """Yield the record if it can be stored, else its problems."""
    problems = [*_problems_in_names(record), *_problems_in_captions(record), *_problems_in_images(record)]
    if needs_caption and not record.captions:
        problems.append(RowProblem(record.row, "caption", "The row has no caption."))
    reason = _unstorable(record.reference)
    if reason:
        problems.append(RowProblem(record.row, "reference", reason))
    yield from problems or (record,)


def unsafe_filename(filename: str) -> str:
    """Return why `filename` is not a valid path inside the image folder, or ""."""
    if not filename.strip():
        return "No image is named."
    if len(filename) > LONGEST_FILENAME:
        return f"The file name is longer than {LONGEST_FILENAME} characters."
    if reason := problem_with_text(filename):
        return reason
    if "\\" in filename:
        return f"The file name {filename} has a backslash. Separate folders by /."
    if filename.startswith("/") or splitdrive(filename)[0]:
        return f"The file name {filename} is absolute. Name it relative to the image folder."
    if ".." in filename.split("/"):
        return f"The file name {filename} leads out of the image folder. Name a file inside it, without .. parts."
    return ""


def _problems_in_names(record: Record) -> Iterator[RowProblem]:
    if not record.key.strip():
        yield RowProblem(record.row, "key", "The row has no key. Give each row a name of its own.")
    elif reason := problem_with_key(record.key):
        yield RowProblem(record.row, "key", reason)
    for name, longest in LONGEST.items():
        text: str = getattr(record, name)
        if len(text) > longest:
            yield RowProblem(record.row, name, f"The {name} has {len(text):,} characters; at most {longest} fit.")
        elif reason := _unstorable(text):
            yield RowProblem(record.row, name, reason)


def _problems_in_captions(record: Record) -> Iterator[RowProblem]:
    for role, text in record.captions.items():
        if reason := problem_with_role(role):
            yield RowProblem(record.row, "captions", reason)
        elif not text.strip():
            yield RowProblem(record.row, role, "The caption is empty.")
        elif reason := _unstorable(text):
            yield RowProblem(record.row, role, reason)


def _problems_in_images(record: Record) -> Iterator[RowProblem]:
    if len(record.images) > MOST_IMAGES:
        yield RowProblem(record.row, "images", f"The row names {len(record.images):,} images; at most 1,000 fit.")
        return
    for image in record.images:
        if reason := problem_with_role(image.role):
            yield RowProblem(record.row, "images", reason)
        elif reason := unsafe_filename(image.filename):
            yield RowProblem(record.row, image.role, reason)
        elif image.sha256 and not _SHA256.fullmatch(image.sha256):
            yield RowProblem(
                record.row, "sha256", f"{_short(image.sha256)} is not a SHA-256: write 64 digits of 0-9 and a-f."
            )
        elif reason := next(filter(None, map(problem_with_text, (image.source, image.licence, image.generator))), ""):
            yield RowProblem(record.row, image.role, reason)


def problem_with_role(role: str) -> str:
    """Return why `role` cannot name a caption or image of an instance, or ""."""
    if _ROLE.fullmatch(role):
        return ""
    return f"The role {_short(role)} is not a name of at most 30 small letters, digits and _, a letter first."


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:77]}...")


def _unstorable(value: Any) -> str:
    """Return why a JSON value cannot be stored in every supported database, or ""."""
    waiting = [(value, 0)]
    while waiting:
        part, depth = waiting.pop()
        if depth > DEEPEST_REFERENCE:
            return f"The value is nested more than {DEEPEST_REFERENCE} deep."
        if isinstance(part, str):
            if reason := problem_with_text(part):
                return reason
        elif isinstance(part, Mapping):
            waiting += [(inner, depth + 1) for pair in part.items() for inner in pair]
        elif isinstance(part, list | tuple):
            waiting += [(inner, depth + 1) for inner in part]
    return ""
