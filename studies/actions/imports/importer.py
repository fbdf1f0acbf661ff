"""Import source files into a project: all rows, or none and a list of all problems."""

import errno
import hashlib
import os
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from datetime import datetime
from functools import partial
from io import BufferedReader
from pathlib import Path, PurePosixPath

from django.contrib.auth.models import User
from django.db import DatabaseError, IntegrityError, transaction

from background.errors import Superseded
from studies.actions.events import Actor, What, record
from studies.actions.images import check_and_store, names_of, remove_unused
from studies.actions.imports.description_notes import check_notes, save_notes
from studies.actions.imports.image_folder import ImageFolder, TableImages
from studies.actions.imports.import_state import (
    COUNTED,
    FOREGROUND,
    NO_FOLDER,
    ImageSource,
    ImportContext,
    ImportRefused,
    ImportSummary,
    SharedState,
    Source,
    StoredImage,
    UnusableImage,
    copy_image_facts,
    existing_instances,
    formatted_captions,
    make_refusal,
    state_of,
    uses_of_instance,
    uses_of_record,
)
from studies.actions.imports.save_rows import save
from studies.actions.projects.projects import save_project
from studies.actions.table_statistics import refresh_statistics
from studies.batches import Progress, ignore_progress
from studies.descriptions import NOTED, PUBLIC, TARGETS
from studies.importing import IMPORTERS, TABLE, Importer, Note, Record, RowProblem, SourceImage, make_importer
from studies.importing.base import OR_LATER
from studies.importing.captions import CAPTION_RULES
from studies.importing.parquet import PARQUET
from studies.importing.pictures import NotAPicture
from studies.importing.table import NO_MAPPING
from studies.models import Image, Instance, InstanceImage, Project
from studies.names import problem_with_slug, problem_with_text
from studies.wording import name_some

# Rows per step of the progress bar.
IMAGE_BATCH = 25
# Decoding and encoding release the GIL; more threads only use more memory.
MOST_THREADS = 4


NOTHING = "Nothing was imported."
DISK_FULL = "The disk is full. Nothing was imported; free some space and import again."


def import_files(
    *,
    project: Project,
    files: Sequence[Path],
    format: str,
    by: Actor,
    now: datetime,
    mapping: Mapping[str, str] | None = None,
    rows_dir: Path | None = None,
    images_dir: Path | None = None,
    image_source: ImageSource | None = None,
    caption_rule: str = "as-is-v1",
    images_later: bool = False,
    dry_run: bool = False,
    owner: User | None = None,
    progress: Progress = ignore_progress,
    context: ImportContext = FOREGROUND,
) -> list[ImportSummary]:
    """Import files into the project, all or none.

    `mapping`: what each column is, for the format `table`. `rows_dir`: the folder of the dataset with the files. Images
    are read from the folder `images_dir`, or from `image_source`. An unsaved project is saved together with its first
    instances, and `owner` becomes its owner.

    Everything is checked before the first write to the database. Images are stored while they are checked, and removed
    if the import is refused. Raises ImportRefused.
    """
    refuse_unknown(format=format, mapping=mapping, caption_rule=caption_rule, images_dir=images_dir)
    beside = ImageFolder(Path(os.path.realpath(images_dir))) if images_dir else image_source
    if project.pk is None and (reason := problem_with_slug(project.slug)):
        raise make_refusal(f"{project.slug!r} cannot name a project. {reason}")
    shared = SharedState(
        project=project,
        caption_rule=caption_rule,
        image_source=_with_tables(files, rows_dir, beside),
        images_later=images_later,
        dry_run=dry_run,
        owner=owner,
        progress=progress,
        context=context,
        mapping=mapping or {},
    )
    digests = context.digests or [""] * len(files)
    try:
        with ExitStack() as open_files:
            sources = [
                _open_source(
                    file, shared, open_files, digest, make_importer(format, mapping or {}, folder_below(file, rows_dir))
                )
                for file, digest in zip(files, digests, strict=True)
            ]
            return _run(sources, shared, by=by, now=now)
    except Superseded:
        # Another worker now runs this import and uses the same pictures.
        raise
    except BaseException as error:
        remove_unused(shared.new_files)
        if isinstance(error, OSError | DatabaseError):
            raise make_refusal(_sentence(error)) from error
        raise


def _with_tables(files: Sequence[Path], rows_dir: Path | None, beside: ImageSource | None) -> ImageSource | None:
    """Return a source of the images in the Parquet files, and of those `beside`. Raises ImportRefused."""
    tables = [file for file in files if file.suffix.lower() == PARQUET]
    by_name = files_by_name(tables, rows_dir)
    if len(by_name) < len(tables):
        raise make_refusal("Two Parquet files have the same name. Rename one of them.")
    return TableImages(by_name, beside) if by_name else beside


def refuse_unknown(
    *, format: str, mapping: Mapping[str, str] | None, caption_rule: str, images_dir: Path | None
) -> None:
    """Raise ImportRefused for an unknown format or caption rule, a missing image folder, or a mapping out of place."""
    if format not in IMPORTERS:
        raise make_refusal(f"The format {format!r} is unknown. Use one of {', '.join(IMPORTERS)}.")
    if mapping and format != TABLE:
        raise make_refusal(f"The format {format} needs no mapping. Leave it out, or use the format {TABLE}.")
    if not mapping and format == TABLE:
        raise make_refusal(NO_MAPPING)
    for column, target in (mapping or {}).items():
        if reason := problem_with_text(column) or problem_with_text(target):
            raise make_refusal(f"The mapping of {column[:80]!r} cannot be stored. {reason}")
    if caption_rule not in CAPTION_RULES:
        raise make_refusal(f"The caption rule {caption_rule!r} is unknown. Use one of {', '.join(CAPTION_RULES)}.")
    if images_dir is not None and not images_dir.is_dir():
        raise make_refusal(
            f"The image folder {images_dir} does not exist or is not a folder. Name the folder with the images."
        )


def folder_below(file: Path, root: Path | None) -> str:
    """Return the folder of a file below `root`, with "/" between its parts, or ""."""
    if root is None or not file.absolute().is_relative_to(root.absolute()):
        return ""
    return file.absolute().parent.relative_to(root.absolute()).as_posix().removeprefix(".")


def files_by_name(files: Sequence[Path], root: Path | None) -> dict[str, Path]:
    """Return name with its folders below `root` -> file."""
    return {str(PurePosixPath(folder_below(file, root), file.name)): file for file in files}


def _open_source(file: Path, shared: SharedState, open_files: ExitStack, digest: str, read: Importer) -> Source:
    try:
        stream = open_files.enter_context(open_file(file))
    except ImportRefused as error:
        if digest:
            raise make_refusal(
                f"{file.name} can no longer be read. Put it back where it was when the import was requested, "
                "and try again."
            ) from error
        raise
    source = Source(stream=stream, name=file.name[:255], read=read, shared=shared, state=state_of(stream))
    if digest and digest != digest_of(stream):
        raise make_refusal(f"{source.name} has changed since the import was requested. Request it again.")
    return source


def open_file(file: Path) -> BufferedReader:
    """Open a file for import. Raises ImportRefused."""
    if file.is_dir():
        raise make_refusal(f"{file} is a folder. Name the file inside it.")
    if file.exists() and not file.is_file():
        raise make_refusal(f"{file} is not a regular file. Save its content as a file and name that.")
    try:
        return file.open("rb")
    except OSError as error:
        raise make_refusal(f"{file} cannot be opened ({error.strerror}). Check the name.") from error


def digest_of(stream: BufferedReader) -> str:
    """Return the SHA-256 of a whole file."""
    stream.seek(0)
    return hashlib.file_digest(stream, "sha256").hexdigest()


def _run(sources: list[Source], shared: SharedState, *, by: Actor, now: datetime) -> list[ImportSummary]:
    for source in sources:
        _check_rows(source)
    for source in sources:
        check_notes(source)
        _check_images(source)
    for source in sources:
        _stop_if_refused(source)
    if not shared.dry_run:
        # Last progress before the transaction, which hides later updates.
        shared.progress("saving", 0, sum(source.tally["records"] for source in sources))
        with transaction.atomic():
            if shared.project.pk is None:
                save_project(shared.project, owner=shared.owner, by=by, now=now)
            for source in sources:
                save(source)
            for source in sources:
                save_notes(source)
                if source.has_changed():
                    raise make_refusal(f"{source.name} changed while it was read. Import it again.")
            refresh_statistics(Image, Instance, InstanceImage)
            _record(sources, shared.project, by=by, now=now)
            shared.context.on_saved([_summary(source) for source in sources])
    return [_summary(source) for source in sources]


def _record(sources: list[Source], project: Project, *, by: Actor, now: datetime) -> None:
    """Record an event, unless nothing changed."""
    done = [_summary(source) for source in sources]
    if any(file.added or file.filled or file.corrected or file.noted for file in done):
        files = [
            {"file": file.file, "added": file.added, "images": file.filled, "corrected": file.corrected}
            | ({"noted": file.noted} if file.noted else {})
            for file in done
        ]
        record(project=project, what=What.INSTANCES_IMPORTED, by=by, now=now, files=files)


def _stop_if_refused(source: Source) -> None:
    if source.unsent:
        names = name_some(source.unsent)
        reason = f"The rows name images, but there are none: {names}. Choose their folder or zip, {OR_LATER}"
        source.refuse(RowProblem(0, "", reason))
    if source.problem_count:
        problems = sorted(source.problems, key=lambda problem: problem.row)
        lacks_images = source.tally["waiting"] > 0 and not source.shared.images_later
        raise ImportRefused(problems, source.problem_count, file=source.name, lacks_images=lacks_images)


def _summary(source: Source) -> ImportSummary:
    counts = {name: source.tally[name] for name in COUNTED}
    added = counts["records"] - counts["already_there"]
    return ImportSummary(file=source.name, added=added, dry_run=source.shared.dry_run, **counts)


def _check_rows(source: Source) -> None:
    """List problems of the rows, their keys, and their differences from instances with the same keys."""
    shared = source.shared
    done = 0
    for batch in source.batches():
        records = [item for item in batch if isinstance(item, Record)]
        existing = existing_instances(shared.project, records)
        for item in batch:
            if isinstance(item, RowProblem):
                source.refuse(item)
            elif isinstance(item, Note):
                source.tally["notes"] += 1
            else:
                _check_record(source, item, existing.get(item.key))
        done += len(batch)
        shared.progress("rows", done, 0)


def _check_record(source: Source, record: Record, instance: Instance | None) -> None:
    shared = source.shared
    source.tally["records"] += 1
    source.tally["public"] += PUBLIC in record.reference
    if TARGETS in record.reference:
        shared.described[record.key] = record.reference
    where = f"record {record.row} of {source.name}"
    first = shared.rows_by_key.setdefault(record.key, where)
    if first != where:
        source.refuse_record(record.row, "key", f"{first} also has the key {record.key}. Keys must differ.")
        return
    if instance is None:
        for role, text in formatted_captions(record, shared.caption_rule).items():
            if not text.strip():
                source.refuse_record(record.row, role, f"The rule {shared.caption_rule} makes it empty.")
        return
    source.tally["already_there"] += 1
    shared.keys_already_there.add(record.key)
    if different := _differences(record, instance, shared.caption_rule):
        reason = (
            f"The key {record.key} is already in the project with other content ({', '.join(different)}). "
            "Give the row a new key, or import it as it was."
        )
        source.refuse_record(record.row, "key", reason)


def _differences(record: Record, instance: Instance, caption_rule: str) -> list[str]:
    """Return the names of the fields in which the record differs from the instance with the same key."""
    pairs = {
        "captions": (record.captions, instance.original_captions),
        "caption rule": (caption_rule, instance.caption_rule),
        "type": (record.type, instance.type),
        "subtype": (record.subtype, instance.subtype),
        "split": (record.split, instance.split),
        # Without notes from companion files.
        "reference": (record.reference, {name: said for name, said in instance.reference.items() if name != NOTED}),
    }
    different = [name for name, (new, old) in pairs.items() if new != old]
    uses = uses_of_instance(instance)
    optional = {use for use, image in uses_of_record(record) if image.optional}
    new_names = {use: image.filename for use, image in uses_of_record(record) if use not in optional}
    old_names = {use: row.filename for use, row in uses.items() if use not in optional}
    if new_names != old_names:
        different.append("images")
    return different


def _check_images(source: Source) -> None:
    """Read every image named by the rows, each file once, and list the problems."""
    shared = source.shared
    total = source.tally["records"]
    done = 0
    with ThreadPoolExecutor(min(MOST_THREADS, os.cpu_count() or 1)) as pool:
        for batch in source.records():
            existing = existing_instances(shared.project, batch)
            for start in range(0, len(batch), IMAGE_BATCH):
                records = batch[start : start + IMAGE_BATCH]
                _store_images(source, records, pool)
                for record in records:
                    _check_images_of(source, record, existing.get(record.key))
                done += len(records)
                shared.progress("images", done, total)


def _store_images(source: Source, records: list[Record], pool: ThreadPoolExecutor) -> None:
    shared = source.shared
    if shared.image_source is None:
        return
    named = dict.fromkeys(image.filename for record in records for image in record.images)
    new = [name for name in named if name not in shared.pictures]
    # After the first problem nothing will be imported: further images are only checked.
    keep = not shared.dry_run and not source.problem_count
    take = partial(_store_image, shared.image_source, keep=keep, on_write=shared.new_files.append)
    shared.pictures.update(zip(new, pool.map(take, new), strict=True))
    if shared.context.begun_before:
        for picture in map(shared.pictures.__getitem__, new):
            if isinstance(picture, StoredImage):
                shared.new_files += names_of(picture.sha256, picture.facts)


def _store_image(
    images: ImageSource, filename: str, *, keep: bool, on_write: Callable[[str], None]
) -> StoredImage | UnusableImage:
    data = images.read(filename)
    if isinstance(data, UnusableImage):
        return data
    try:
        sha256, facts = check_and_store(data, keep=keep, on_write=on_write)
    except NotAPicture as error:
        return UnusableImage(f"{filename}: {error}")
    return StoredImage(sha256=sha256, facts=facts, byte_size=len(data))


def _check_images_of(source: Source, record: Record, instance: Instance | None) -> None:
    uses = uses_of_instance(instance)
    for use, image in uses_of_record(record):
        row = uses.get(use)
        picture = source.shared.pictures.get(image.filename, NO_FOLDER)
        old = row.image_id if row else None
        source.tally["corrected"] += row is not None and copy_image_facts(row, image)
        if isinstance(picture, StoredImage):
            source.tally["images"] += 1
            source.tally["filled"] += instance is not None and old is None
            reason = _mismatch(image, picture.sha256, old)
        elif old is not None and picture.absent:
            reason = _mismatch(image, old, old)
        else:
            reason = _reason_to_refuse(source, image, picture)
        if reason:
            source.refuse_record(record.row, image.role, reason)


def _mismatch(image: SourceImage, sha256: str, old: str | None) -> str:
    if image.sha256 and image.sha256 != sha256:
        return f"The file {image.filename} has the SHA-256 {sha256}, but the row says {image.sha256}."
    if old is not None and old != sha256:
        return f"The file {image.filename} is not the image that was imported before. Give the row a new key."
    return ""


def _reason_to_refuse(source: Source, image: SourceImage, missing: UnusableImage) -> str:
    if not missing.absent:
        return missing.reason
    if image.optional:
        return ""
    source.tally["waiting"] += 1
    if source.shared.images_later:
        return ""
    if source.shared.image_source is None:
        source.unsent[image.filename] = None
        return ""
    return f"{missing.reason} {source.shared.image_source.remedy}"


def _sentence(error: OSError | DatabaseError) -> str:
    if isinstance(error, OSError):
        is_full = error.errno in {errno.ENOSPC, errno.EDQUOT}
        return DISK_FULL if is_full else f"A file could not be read or written ({error.strerror or error}). {NOTHING}"
    words = str(error).lower()
    if "full" in words or "no space" in words:
        return DISK_FULL
    if isinstance(error, IntegrityError):
        return "Another import changed the project at the same time. Nothing was imported; import again."
    return f"The database refused ({error}). Nothing was imported; import again."
