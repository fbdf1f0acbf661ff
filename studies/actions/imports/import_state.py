"""What an import works on: the files, what was found in them so far, and how it ends."""

import os
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import islice
from typing import Any, BinaryIO, Protocol

from django.contrib.auth.models import User

from studies.importing import Importer, Note, Record, RowProblem, SourceImage
from studies.importing.captions import CAPTION_RULES
from studies.importing.pictures import PictureFacts
from studies.models import Instance, InstanceImage, Project

BATCH = 500
# More are counted, not listed.
MOST_PROBLEMS = 100
# What a file says about an image, and each use of it keeps.
WHERE_FROM = ("source", "licence", "generator")

Progress = Callable[[str, int, int], None]
"""Hears the stage ("rows", "images", "saving"), how much of it is done, and how much there is (0: not known)."""


def no_progress(stage: str, done: int, total: int) -> None:
    pass


class ImportRefused(Exception):
    """Nothing was imported. `problems` are the first ones found in `file`, `count` is how many there are."""

    def __init__(self, problems: list[RowProblem], count: int, file: str = "") -> None:
        super().__init__(problems, count, file)
        self.problems = problems
        self.count = count
        self.file = file

    def __str__(self) -> str:
        lines = [str(problem) for problem in self.problems]
        if self.count > len(lines):
            lines.append(f"... and {self.count - len(lines):,} more problems.")
        return "\n".join(lines)


@dataclass(frozen=True)
class ImportSummary:
    """What an import did or, with `dry_run`, would do. `waiting` counts places whose image file was not there.

    `corrected` counts the places of instances that were there already whose source, licence or generator the file
    states otherwise than before; what it says counts now. `public` counts records of a test split whose right answers
    are published. `notes` counts the image sets of which a companion file says something, `noted` the descriptions of
    which that is new, and `unknown` those that it speaks of and that are not there.
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
    public: int = 0
    notes: int = 0
    noted: int = 0
    unknown: int = 0

    def __str__(self) -> str:
        verb = "would be added" if self.dry_run else "added"
        parts = [f"{self.records:,} records: {self.added:,} {verb}, {self.already_there:,} already there."]
        if self.notes:
            told = "is" if self.dry_run else "was"
            parts = parts if self.records else []
            parts.append(f"What it says of {self.noted:,} descriptions in {self.notes:,} image sets {told} new.")
        if self.unknown:
            parts.append(f"It speaks of {self.unknown:,} descriptions that are not there: left out.")
        if self.public:
            parts.append(
                f"The right answers of {self.public:,} records of this test split are public: people can look them up, "
                "and models may have learnt from them."
            )
        if self.images:
            parts.append(f"{self.images:,} images read, {self.filled:,} of them for instances that waited.")
        if self.corrected:
            have = "would have" if self.dry_run else "have"
            parts.append(
                f"{self.corrected:,} images that were there already {have} another source, licence or generator now."
            )
        if self.waiting:
            parts.append(f"{self.waiting:,} images are still to come: import the same file again with --images.")
        return " ".join(parts)


def _unheard(*told: object) -> None:
    pass


@dataclass(frozen=True)
class AskedBefore:
    """What comes with an import that was asked for earlier than it is done, and what is wanted to be heard of it."""

    # The SHA-256 that each file had when it was asked for; empty: whatever is in them now.
    digests: Sequence[str] = ()
    # Whether a worker may have died in it: pictures that it stored are then this import's to take away again.
    begun_before: bool = False
    # Hears the name of the file and each of its problems, also of those that are only counted in the end.
    on_problem: Callable[[str, RowProblem], None] = _unheard
    # Hears what was done with each file, in the transaction that does it.
    on_saved: Callable[[list[ImportSummary]], None] = _unheard


AT_ONCE = AskedBefore()


@dataclass(frozen=True, slots=True)
class TakenIn:
    """An image file that is good and, unless nothing is kept, in the storage."""

    sha256: str
    facts: PictureFacts
    byte_size: int


@dataclass(frozen=True, slots=True)
class NotTaken:
    """An image file that is bad, or `absent`; the reason is the sentence for it."""

    reason: str
    absent: bool = False


class ImageSource(Protocol):
    """Where the images of an import are: a folder, or what a project was given before.

    `remedy` is the sentence that says what to do about one that is not there.
    """

    @property
    def remedy(self) -> str: ...

    def read(self, filename: str) -> bytes | NotTaken:
        """Return the bytes of the image that a row calls `filename`, or the reason why it cannot be had."""
        ...


@dataclass
class Shared:
    """What the files of one import have in common."""

    project: Project
    read: Importer
    caption_rule: str
    image_source: ImageSource | None
    images_later: bool
    dry_run: bool
    owner: User | None
    progress: Progress
    asked_before: AskedBefore
    rows_by_key: dict[str, str] = field(default_factory=dict)
    keys_already_there: set[str] = field(default_factory=set)
    # Key -> reference of the image sets that this import brings, for what companion files say about them.
    described: dict[str, Mapping[str, Any]] = field(default_factory=dict)
    pictures: dict[str, TakenIn | NotTaken] = field(default_factory=dict)
    new_files: list[str] = field(default_factory=list)


def state_of(stream: BinaryIO) -> tuple[int, int]:
    """Return what differs once a file is written again."""
    status = os.fstat(stream.fileno())
    return status.st_size, status.st_mtime_ns


@dataclass
class Source:
    """One file of an import, and what was found in it so far."""

    stream: BinaryIO
    name: str
    shared: Shared
    state: tuple[int, int]
    problems: list[RowProblem] = field(default_factory=list)
    problem_count: int = 0
    tally: Counter[str] = field(default_factory=Counter)

    def has_changed(self) -> bool:
        return self.state != state_of(self.stream)

    def refuse(self, problem: RowProblem) -> None:
        self.problem_count += 1
        self.shared.asked_before.on_problem(self.name, problem)
        if len(self.problems) < MOST_PROBLEMS:
            self.problems.append(problem)

    def batches(self) -> Iterator[list[Record | Note | RowProblem]]:
        """Read the file from its start; memory holds one batch of it."""
        self.stream.seek(0)
        items = self.shared.read(self.stream)
        while batch := list(islice(items, BATCH)):
            yield batch

    def records(self) -> Iterator[list[Record]]:
        """Read again, without the rows that are listed as problems."""
        for batch in self.batches():
            yield [item for item in batch if isinstance(item, Record)]

    def notes(self) -> Iterator[list[Note]]:
        """Read again what the file says about instances of other files."""
        for batch in self.batches() if self.tally["notes"] else ():
            yield [item for item in batch if isinstance(item, Note)]


def refused_whole(sentence: str) -> ImportRefused:
    return ImportRefused([RowProblem(0, "", sentence)], 1)


def existing_instances(project: Project, records: list[Record]) -> dict[str, Instance]:
    if project.pk is None or not records:
        return {}
    keys = [record.key for record in records]
    instances = Instance.objects.filter(project=project, key__in=keys).prefetch_related("images")
    return {instance.key: instance for instance in instances}


def uses_of_record(record: Record) -> Iterator[tuple[tuple[str, int], SourceImage]]:
    """Yield ((role, position), image) for the images of a record."""
    counts: Counter[str] = Counter()
    for image in record.images:
        yield (image.role, counts[image.role]), image
        counts[image.role] += 1


def uses_of_instance(instance: Instance | None) -> dict[tuple[str, int], InstanceImage]:
    return {(use.role, use.position): use for use in instance.images.all()} if instance else {}


def say_where_from(use: InstanceImage, image: SourceImage) -> bool:
    """Let `use` say of its image what the source says; return whether it said otherwise before.

    What the source leaves out stays as it was: nothing said is no correction.
    """
    said = {name: getattr(image, name) for name in WHERE_FROM if getattr(image, name)}
    new = {name: text for name, text in said.items() if getattr(use, name) != text}
    for name, text in new.items():
        setattr(use, name, text)
    return bool(new)


def formatted_captions(record: Record, caption_rule: str) -> dict[str, str]:
    return {role: CAPTION_RULES[caption_rule](text) for role, text in record.captions.items()}
