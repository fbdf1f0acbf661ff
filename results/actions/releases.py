"""Releases: a study's accepted items and every answer behind them, frozen; rewriting gives the same bytes."""

import csv
import hashlib
import io
import os
import re
import tempfile
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict
from datetime import datetime
from itertools import repeat
from pathlib import Path
from typing import Any

from django.core.files import File
from django.core.files.storage import default_storage
from django.db import transaction

from annotation.models import Removal
from background.sealed_secrets import LOST_KEY, CannotUnseal
from results.actions.atomic_files import stored_bytes, why_not, write_atomically
from results.actions.dataset_documents import ANNOTATIONS, IMAGES, add_papers
from results.actions.pseudonyms import name_for_release
from results.actions.row_progress import Report, WrittenFile, write_rows
from results.errors import CannotExport
from results.exporting import FORMATS, Writer, get_writer
from results.exporting.base import RowType
from results.exporting.dataset_card import About, DatasetCard
from results.exporting.release_rows import read_row, row_line
from results.exporting.rows import AcceptedInstance
from results.exporting.spreadsheets import cell
from results.models import Release, ReleasePseudonym
from results.models.releases import LONGEST_LICENCE
from results.queries.exports.available_exports import find_removals
from results.queries.exports.dataset_cards import studies_card
from results.queries.exports.descriptions import descriptions_of_studies
from results.queries.exports.empty_formats import empty_formats
from results.queries.exports.export_rows import (
    decided_questions,
    find_conditions,
    given_responses,
    released_predictions,
)
from results.queries.exports.releasable_studies import release_refusal
from results.queries.instances.accepted_items import instances_of_studies
from results.queries.reports.report_rows import release_studies
from results.queries.studies.events import noted_events
from studies.actions.events import COMMAND_LINE, Actor, What, person, record
from studies.actions.projects.datasets import dataset_studies
from studies.actions.stored_files import save_whole
from studies.models import Study, StudyState
from studies.names import problem_with_line, problem_with_text

NAME = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,39}")
# What researchers write about a release, beside its name.
_TEXTS = ("description", "licence", "citation")
# Formats beside the data of every release, in its folder of annotations.
OTHERS = ("responses", "decisions", "predictions", "conditions", "events")
# Formats of the data itself.
DATA: tuple[RowType, ...] = ("instances", "descriptions")
RELEASE_FORMATS = tuple(name for name in FORMATS if get_writer(name).rows in DATA)


@transaction.atomic
def prepare_release(
    *, study: Study, about: About, by: Actor, now: datetime, beside: Sequence[Study] | None = None
) -> tuple[Release, bool]:
    """Return the release of `study` called `about.release`, and whether it is new. Raises CannotExport.

    beside: further studies whose accepted items it holds, such as those of the same dataset. An existing release keeps
    its studies and texts: `beside` and the texts of `about` may be omitted but must not differ.
    """
    if not NAME.fullmatch(about.release):
        raise CannotExport(
            f"{about.release!r} cannot name a release. Use up to 40 letters, digits, dots, dashes and underscores; "
            "v1, for instance."
        )
    check_texts(about)
    if study.state == StudyState.DRAFT:
        raise CannotExport("There is nothing to release yet: the study has not been launched.")
    if not study.accepts and not Release.objects.filter(study=study, name=about.release).exists():
        raise CannotExport(release_refusal(study))
    release, created = Release.objects.get_or_create(
        project=study.project,
        name=about.release,
        defaults={
            "study": study,
            "made_at": now,
            "made_by": person(by),
            **{name: getattr(about, name) for name in _TEXTS},
        },
    )
    if created:
        release.beside.set(beside or ())
    held = {each.pk for each in release.studies()}
    if study.pk not in held or (beside is not None and held != {study.pk, *(each.pk for each in beside)}):
        names = " and ".join(each.slug for each in release.studies())
        raise CannotExport(
            f"The release {about.release} of {study.project.slug} is one of {names}. Choose another name."
        )
    _check_unchanged(release, about)
    if created:
        record(project=study.project, study=study, what=What.RELEASE_MADE, by=by, now=now, release=release.name)
    return release, created


def other_dataset_studies(study: Study) -> list[Study]:
    """Return the other studies of the dataset of `study`. Raises CannotExport if it belongs to no dataset."""
    studies = dataset_studies(study.project)
    others = [each for each in studies if each.pk != study.pk]
    if len(others) == len(studies):
        raise CannotExport(
            f"The study {study.slug} is not part of the dataset of {study.project.slug}. Release its "
            "accepted items alone, or add the study to the dataset on the project's page first."
        )
    return others


def check_texts(about: About) -> None:
    """Refuse texts that cannot be stored with a release. Raises CannotExport."""
    for name in _TEXTS:
        text: str = getattr(about, name)
        if reason := problem_with_text(text):
            raise CannotExport(f"The {name} of the release cannot be used. {reason}")
    if len(about.licence) > LONGEST_LICENCE:
        raise CannotExport(
            f"The licence has {len(about.licence):,} characters; at most {LONGEST_LICENCE} fit. Write its SPDX name or "
            "the address of its text."
        )
    if about.licence and (reason := problem_with_line(about.licence)):
        raise CannotExport(f"The licence of the release cannot be used. {reason}")


def _check_unchanged(release: Release, about: About) -> None:
    """Refuse texts that differ from those frozen with the release; they would be dropped."""
    for name in _TEXTS:
        text = getattr(about, name)
        if text and text != getattr(release, name):
            raise CannotExport(
                f"The release {release.name} already exists with another {name} and does not change. Choose another "
                f"name, or leave the {name} out to write it again."
            )


def freeze_release(*, release: Release, now: datetime) -> None:
    """Freeze the current rows of `release`; a frozen release stays as it is.

    The event names the person who created the release, whoever's job freezes it.
    """
    if release.file:
        return
    studies = release_studies(release.studies())
    name_for_release(release=release, studies=studies)
    texts = {name: getattr(release, name) for name in _TEXTS}
    about = About(release=release.name, made_on=release.made_at.date().isoformat(), **texts)
    names = dict(release.pseudonyms.values_list("annotator_id", "name"))
    card = studies_card(release.studies(), about, names)
    name, digest, counts = store_rows(release, _current_rows(release, studies, names))
    kept = {
        "file": name,
        "sha256": digest,
        "dossier": asdict(card),
        "instances": counts["instances"],
        "responses": counts["responses"],
    }
    is_first = False
    try:
        is_first = _keep_rows(release, kept, now=now)
    finally:
        if not is_first:
            default_storage.delete(name)
    release.refresh_from_db()


@transaction.atomic
def _keep_rows(release: Release, kept: Mapping[str, Any], *, now: datetime) -> bool:
    """Store the frozen rows of a release; of two concurrent freezes the first counts. Return whether this was it."""
    if not Release.objects.filter(pk=release.pk, file="").update(**kept):
        return False
    told = {name: kept[name] for name in ("sha256", "instances", "responses")}
    _record(release, What.RELEASE_FROZEN, by=release.made_by or COMMAND_LINE, now=now, **told)
    return True


def store_rows(release: Release, rows: Iterable[tuple[RowType, Any]]) -> tuple[str, str, Counter[RowType]]:
    """Store `rows`, each with its type, for `release`; return their name in the storage, their hash and counts."""
    counts: Counter[RowType] = Counter()
    digest = hashlib.sha256()
    with tempfile.TemporaryFile("w+b") as out:
        for sort, row in rows:
            line = row_line(sort, row)
            digest.update(line)
            out.write(line)
            counts[sort] += 1
        out.seek(0)
        sha256 = digest.hexdigest()
        return save_whole(f"releases/{release.pk}/{sha256}.jsonl", File(out)), sha256, counts


def _current_rows(release: Release, studies: list[Study], names: Mapping[int, str]) -> Iterator[tuple[RowType, Any]]:
    released = release.studies()
    yield from zip(repeat("instances"), instances_of_studies(released, with_posteriors=True))
    yield from zip(repeat("descriptions"), descriptions_of_studies(released, names))
    for study in studies:
        yield from zip(repeat("responses"), given_responses(study, names))
        yield from zip(repeat("decisions"), decided_questions(study))
    under: set[str] = set()
    for row in released_predictions(released):
        under.add(row.conditions)
        yield "predictions", row
    yield from zip(repeat("conditions"), find_conditions(sorted(under - {""})))
    yield from zip(repeat("events"), noted_events(release.project, studies))


def _extra_writers(writer: Writer) -> list[Writer]:
    """Return the writers of the files beside the data of `writer`: predictions also in the data's format."""
    likewise = [get_writer(name) for name in FORMATS if name not in OTHERS]
    return [
        *map(get_writer, OTHERS),
        *(each for each in likewise if each.rows == "predictions" and each.content_type == writer.content_type),
    ]


def check_format(format: str) -> None:
    """Raise CannotExport for a format that releases do not have."""
    if format not in RELEASE_FORMATS:
        raise CannotExport(f"A release cannot be in the format {format}. Choose one of {', '.join(RELEASE_FORMATS)}.")


def write_release(*, release: Release, format: str, folder: Path, report: Report) -> WrittenFile:
    """Write `release` into its own folder in `folder`, replacing one of the same name. Raises CannotExport."""
    check_format(format)
    writer = get_writer(format)
    path = folder / release.file_name
    check_offered(release)
    check_frozen(release)
    try:
        with write_atomically(path) as unfinished:
            rows = _write_data(release, writer, unfinished, report)
            # A release frozen by an older version has no events: write no file instead of an empty one.
            others = [
                each for each in _extra_writers(writer) if each.rows != "events" or any(frozen_rows(release, "events"))
            ]
            (unfinished / ANNOTATIONS).mkdir(parents=True)
            for other in others:
                with other.open(unfinished / ANNOTATIONS / other.filename, stored_bytes) as write:
                    for row in frozen_rows(release, other.rows):
                        write(row)
            add_papers(unfinished, writer, DatasetCard(**release.dossier), others)
    except OSError as error:
        raise CannotExport(why_not(error, path)) from error
    report(rows, rows)
    return WrittenFile(path, rows)


def _write_data(release: Release, writer: Writer, unfinished: Path, report: Report) -> int:
    path = unfinished
    if not writer.is_folder:
        unfinished.mkdir()
        path = unfinished / writer.filename
    rows = frozen_rows(release, writer.rows)
    if not writer.is_folder and writer.rows == "instances":
        rows = _with_images(rows, unfinished / IMAGES)
    with writer.open(path, stored_bytes) as write:
        is_counted = writer.rows == "instances"
        total = release.instances if is_counted else sum(1 for _ in frozen_rows(release, writer.rows))
        done = write_rows(write, rows, total, report)
    check_held(writer, done, total)
    return done


def check_held(writer: Writer, done: int, total: int) -> None:
    """Raise CannotExport if `writer` could hold none of `total` rows."""
    if writer.needs and total and not done:
        raise CannotExport(writer.refusal())


def check_fits(studies: Sequence[Study], format: str, release: Release | None = None) -> None:
    """Raise CannotExport if `format` can hold nothing of a release, or of what `studies` accept now."""
    if not get_writer(format).needs:
        return
    if release is not None and release.file:
        empty: Mapping[str, str] = release.dossier.get("empty_formats", {})
    else:
        empty = empty_formats(studies)
    if reason := empty.get(format):
        raise CannotExport(reason)


def _with_images(rows: Iterable[AcceptedInstance], folder: Path) -> Iterator[AcceptedInstance]:
    """Yield `rows` after writing their images into `folder`, each once, as stored."""
    folder.mkdir()
    for row in rows:
        for image in row.images:
            if image.sha256 and not (path := folder / image.file).exists():
                path.write_bytes(stored_bytes(image.sha256))
        yield row


def check_offered(release: Release) -> None:
    """Raise CannotExport if somebody whose answers `release` holds withdrew since it was frozen."""
    if find_removals(releases=[release]).of_release(release).withdrawn_at is not None:
        raise CannotExport(
            f"Somebody whose answers are in the release {release.name} has withdrawn since it was frozen, so it is no "
            "longer available. Freeze a new release under another name."
        )


def check_frozen(release: Release) -> None:
    """Raise CannotExport if the rows of `release` are missing or differ from those frozen."""
    if not release.file:
        raise CannotExport(f"The release {release.name} is not frozen yet. Create it again.")
    try:
        with default_storage.open(release.file) as stored:
            digest = hashlib.file_digest(stored, "sha256").hexdigest()
    except OSError as error:
        raise CannotExport(f"The storage has lost the rows of the release {release.name}.") from error
    if digest != release.sha256:
        raise CannotExport(f"The rows of the release {release.name} differ from those that were frozen.")


def frozen_rows(release: Release, sort: RowType) -> Iterator[Any]:
    """Yield the frozen rows of `release` that are of one type."""
    with default_storage.open(release.file) as stored:
        for line in stored:
            row = read_row(line, sort)
            if row is not None:
                yield row


def release_into(
    *, release: Release, format: str, folder: Path, report: Report, by: Actor, now: datetime
) -> WrittenFile:
    """Write `release` into `folder` for a command; see `write_release`."""
    written = write_release(release=release, format=format, folder=folder, report=report)
    with transaction.atomic():
        _record(release, What.RELEASE_WRITTEN, by=by, now=now, format=format)
    return written


def _record(release: Release, what: What, *, by: Actor, now: datetime, **details: Any) -> None:
    record(project=release.project, study=release.study, what=what, by=by, now=now, release=release.name, **details)


def write_provider_ids(*, release: Release, folder: Path, by: Actor, now: datetime) -> Path:
    """Write the provider ids behind the names of `release`, readable by its owner only. Raises CannotExport."""
    path = folder / f"{release.file_name}-provider-ids.csv"
    try:
        folder.mkdir(parents=True, exist_ok=True)
        handle, unfinished = tempfile.mkstemp(dir=folder, prefix=".", suffix=".part")
        with os.fdopen(handle, "w", encoding="utf-8", newline="") as out:
            out.write(provider_ids(release=release, by=by, now=now))
        os.replace(unfinished, path)
    except OSError as error:
        raise CannotExport(why_not(error, path)) from error
    return path


@transaction.atomic
def provider_ids(*, release: Release, by: Actor, now: datetime) -> str:
    """Return the names of `release` with their provider ids as CSV, without withdrawn people and deleted ids.

    Each download leaves an event without the ids. Raises CannotExport if no key of the site opens an id.
    """
    _record(release, What.PROVIDER_IDS_TAKEN, by=by, now=now)
    out = io.StringIO(newline="")
    table = csv.writer(out)
    table.writerow(("worker", "provider", "provider_id"))
    withdrawn = Removal.objects.withdrawals().filter(project=release.project_id).values("annotator")
    people = ReleasePseudonym.objects.filter(release=release).select_related("annotator").order_by("name")
    try:
        for row in people.exclude(annotator__in=withdrawn).exclude(annotator__id_digest=None):
            # An invited person's id is the name they gave themselves.
            table.writerow(map(cell, (row.name, row.annotator.provider, row.annotator.provider_id)))
    except CannotUnseal as error:
        raise CannotExport(f"The ids cannot be read. {LOST_KEY}") from error
    return out.getvalue()
