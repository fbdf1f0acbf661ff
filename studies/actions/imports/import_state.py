"""State of a running import: files, findings, result."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, BinaryIO, Protocol

from django.contrib.auth.models import User

from studies.batches import Progress, ignore_progress
from studies.importing import Importer, Note, Record, RowProblem, SourceImage
from studies.importing.base import places_of
from studies.importing.captions import CAPTION_RULES
from studies.importing.mapping import columns_named
from studies.importing.pictures import PictureFacts
from studies.models import Instance, InstanceImage, Project
from studies.wording import format_count

BATCH = 500
# Further problems are counted, not listed.
MOST_PROBLEMS = 100
# Facts about an image in the source file, stored with each of its uses.
WHERE_FROM = ("source", "licence", "generator")


class ImportRefused(Exception):
    """Nothing was imported. `problems`: the first ones found in `file`; `count`: the number of all.

    `lacks_images`: whether rows name images that are not there.
    """

    def __init__(self, problems: list[RowProblem], count: int, file: str = "", *, lacks_images: bool = False) -> None:
        super().__init__(problems, count, file)
        self.problems = problems
        self.count = count
        self.file = file
        self.lacks_images = lacks_images

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems]
        if self.count > len(lines):
            lines.append(f"... and {self.count - len(lines):,} more problems.")
        return "\n".join(lines)


@dataclass(frozen=True)
class ImportSummary:
    """Result of an import or, with `dry_run`, of a check. `waiting`: image places whose file is missing.

    `corrected`: image places of existing instances whose source, licence or generator the file changes. `public`:
    records of a test split with published right answers. `notes`: image sets with notes in a companion file; `noted`:
    descriptions with new notes; `unknown`: descriptions with notes that do not exist.
    """

    file: str
    records: int
    added: int
    already_there: int
    images: int
    filled: int
    waiting: int
    corrected: int
    dry_run: bool
    public: int
    notes: int
    noted: int
    unknown: int

    def __str__(self) -> str:
        verb = "would be added" if self.dry_run else "added"
        parts = [
            f"{format_count(self.records, 'record')}: {self.added:,} {verb}, {self.already_there:,} already there."
        ]
        if self.notes:
            told = "are" if self.dry_run else "were"
            parts = parts if self.records else []
            where = f"{format_count(self.noted, 'description')} in {format_count(self.notes, 'image set')}"
            parts.append(f"Its notes on {where} {told} new.")
        if self.unknown:
            parts.append(
                f"{self.unknown:,} descriptions that it refers to are not in the project; their notes are left out."
            )
        if self.public:
            parts.append(
                f"The right answers of {self.public:,} records of this test split are public: people can look them up, "
                "and models may have learnt from them."
            )
        if self.images:
            filled = f"; {self.filled:,} filled in missing images" if self.filled else ""
            parts.append(f"{format_count(self.images, 'image')} read{filled}.")
        if self.corrected:
            have = "would have" if self.dry_run else "has" if self.corrected == 1 else "have"
            parts.append(f"{format_count(self.corrected, 'existing image')} {have} a new source, licence or generator.")
        if self.waiting:
            missing = f"{format_count(self.waiting, 'image')} {'is' if self.waiting == 1 else 'are'} still missing"
            parts.append(f"{missing}: import the same file again with its images (--images).")
        return " ".join(parts)


@dataclass(frozen=True)
class ImportContext:
    """Context and callbacks of a background import."""

    # SHA-256 of each file when the import was requested; empty: accept any content.
    digests: Sequence[str] = ()
    # Whether a worker may have been lost in it: this import then also removes the pictures stored by that worker.
    begun_before: bool = False
    # Called with the file name and each problem, including those that the result only counts.
    on_problem: Callable[[str, RowProblem], None] = ignore_progress
    # Called with the result of each file, in the transaction of the import.
    on_saved: Callable[[list[ImportSummary]], None] = ignore_progress


FOREGROUND = ImportContext()
# What the tally of a file counts, and its summary tells.
COUNTED = (
    *("records", "already_there", "images", "filled", "waiting"),
    *("corrected", "public", "notes", "noted", "unknown"),
)


@dataclass(frozen=True, slots=True)
class StoredImage:
    """A valid image file; it is in the storage unless nothing is kept (dry run or problems)."""

    sha256: str
    facts: PictureFacts
    byte_size: int


@dataclass(frozen=True, slots=True)
class UnusableImage:
    """An image file that is invalid or `absent`; `reason` is a sentence."""

    reason: str
    absent: bool = False


NO_FOLDER = UnusableImage("No image folder was named.", absent=True)


class ImageSource(Protocol):
    """Source of an import's images: a folder, or images already in the project.

    `remedy`: a sentence that says what to do about a missing image.
    """

    @property
    def remedy(self) -> str: ...

    def read(self, filename: str) -> bytes | UnusableImage:
        """Return the bytes of the image called `filename` in a row, or why it cannot be used."""
        ...


@dataclass
class SharedState:
    """State shared by the files of one import."""

    project: Project
    caption_rule: str
    image_source: ImageSource | None
    images_later: bool
    dry_run: bool
    owner: User | None
    progress: Progress
    context: ImportContext
    # Column -> what it became, of a table.
    mapping: Mapping[str, str] = field(default_factory=dict)
    rows_by_key: dict[str, str] = field(default_factory=dict)
    keys_already_there: set[str] = field(default_factory=set)
    # Key -> reference of the image sets in this import, for notes from companion files.
    described: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    pictures: dict[str, StoredImage | UnusableImage] = field(default_factory=dict)
    new_files: list[str] = field(default_factory=list)


def state_of(stream: BinaryIO) -> tuple[int, int]:
    """Return size and modification time, which change if the file is rewritten."""
    status = os.fstat(stream.fileno())
    return status.st_size, status.st_mtime_ns


@dataclass
class Source:
    """One file of an import, and the findings so far. `unsent`: images that its rows name, where none were sent."""

    stream: BinaryIO
    name: str
    read: Importer
    shared: SharedState
    state: tuple[int, int]
    problems: list[RowProblem] = field(default_factory=list)
    problem_count: int = 0
    tally: Counter[str] = field(default_factory=Counter)
    unsent: dict[str, None] = field(default_factory=dict)

    def has_changed(self) -> bool:
        return self.state != state_of(self.stream)

    def refuse_record(self, row: int, name: str, reason: str) -> None:
        """Refuse a record for its key, or for a role; its row has columns where the record has these."""
        self.refuse(RowProblem(row, columns_named(self.shared.mapping, name), reason))

    def refuse(self, problem: RowProblem) -> None:
        self.problem_count += 1
        self.shared.context.on_problem(self.name, problem)
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)

    def batches(self) -> Iterator[list[Record | Note | RowProblem]]:
        """Read the file from its start; keep one batch in memory."""
        self.stream.seek(0)
        items = self.read(self.stream)
        while batch := list(islice(items, BATCH)):
            yield batch

    def records(self) -> Iterator[list[Record]]:
        """Read the records again, without rows that have problems."""
        for batch in self.batches():
            yield [item for item in batch if isinstance(item, Record)]

    def notes(self) -> Iterator[list[Note]]:
        """Read the notes on instances of other files again."""
        for batch in self.batches() if self.tally["notes"] else ():
            yield [item for item in batch if isinstance(item, Note)]


def make_refusal(sentence: str) -> ImportRefused:
    return ImportRefused([RowProblem(0, "", sentence)], 1)


def existing_instances(project: Project, records: list[Record]) -> dict[str, Instance]:
    if project.pk is None or not records:
        return {}
    keys = [record.key for record in records]
    instances = Instance.objects.filter(project=project, key__in=keys).prefetch_related("images")
    return {instance.key: instance for instance in instances}


def uses_of_record(record: Record) -> Iterator[tuple[tuple[str, int], SourceImage]]:
    """Return ((role, position), image) for the images of a record."""
    return zip(places_of(record.images), record.images, strict=True)


def uses_of_instance(instance: Instance | None) -> dict[tuple[str, int], InstanceImage]:
    return {(use.role, use.position): use for use in instance.images.all()} if instance else {}


def copy_image_facts(use: InstanceImage, image: SourceImage) -> bool:
    """Copy the source's facts about its image to `use`; return whether that changed any stored fact.

    Facts that the source omits stay as they are.
    """
    said = {name: getattr(image, name) for name in WHERE_FROM if getattr(image, name)}
    new = {name: text for name, text in said.items() if getattr(use, name) != text}
    for name, text in new.items():
        setattr(use, name, text)
    return bool(new)


def formatted_captions(record: Record, caption_rule: str) -> dict[str, str]:
    return {role: CAPTION_RULES[caption_rule](text) for role, text in record.captions.items()}
