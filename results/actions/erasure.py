"""Erase a person, as privacy law requires: their rows, the files that hold them, and frozen rows of releases."""

from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Set
from dataclasses import asdict, dataclass
from datetime import datetime
from functools import partial
from typing import Any

from django.core.files.storage import default_storage
from django.db import transaction

from annotation.actions.deciding.decisions import rule_input
from annotation.actions.removing import removals
from annotation.actions.removing.erasure import DeletedRows, delete_rows
from annotation.actions.removing.removals import RemovalEffects
from annotation.models import Annotator, Response
from annotation.models.responses import RESPONSE
from results.actions import cached_statistics
from results.actions.releases import check_frozen, store_rows
from results.exporting.base import RowType
from results.exporting.erasure import AnsweredQuestion, Question, Row, changes, remaining_rows
from results.exporting.release_rows import read_any_row
from results.exporting.rows import AcceptedInstance
from results.models import Export, Pseudonym, Release, ReleasePseudonym
from results.queries.exports.available_exports import find_removals
from results.queries.exports.task_names import question_name
from studies.actions.events import Actor, What, record
from studies.models import Project, Study
from studies.models import Question as AskedQuestion
from studies.wording import format_count

DELETED = "The file was deleted because it contained answers of an erased annotator. Export again."


@dataclass(frozen=True)
class ErasureResult:
    """What an erasure changed.

    `followed` is all 0 for somebody who had withdrawn before; `files` were deleted; `releases` got new rows and a new
    hash.
    """

    followed: RemovalEffects
    rows: DeletedRows
    files: int
    releases: list[str]


@transaction.atomic
def forget(*, annotator: Annotator, project: Project, by: Actor, now: datetime) -> ErasureResult:
    """Delete everything that `project` stores about `annotator`; answers of others stay.

    All or nothing; files are deleted after the rows. Raises CannotExport when the frozen rows of a release that holds
    them cannot be read.
    """
    followed = removals.withdraw(annotator=annotator, project=project, by=by, now=now)
    names = set(Pseudonym.objects.filter(project=project, annotator=annotator).values_list("name", flat=True))
    files = _delete_files(project)
    answered, asked_about = _answered_questions(annotator, project), _derived_questions(annotator, project)
    holding = Release.objects.filter(project=project, pseudonyms__annotator=annotator).exclude(file="")
    releases = list(holding.select_for_update(of=("self",)).order_by("pk"))
    for release in releases:
        _write_again(release, annotator, answered, asked_about, names, now)
    Pseudonym.objects.filter(project=project, annotator=annotator).delete()
    ReleasePseudonym.objects.filter(release__project=project, annotator=annotator).delete()
    rows = delete_rows(annotator=annotator, project=project)
    cached_statistics.drop(project=project, now=now)
    told = {**asdict(followed), "responses": rows.responses, "sessions": rows.sessions}
    record(
        project=project,
        what=What.ANNOTATOR_FORGOTTEN,
        by=by,
        now=now,
        **told,
        releases=[{"name": release.name, "sha256": release.sha256} for release in releases],
    )
    return ErasureResult(followed, rows, files, [release.name for release in releases])


def _delete_files(project: Project) -> int:
    """Delete the files that hold answers of withdrawn people, after this transaction commits."""
    made = list(Export.objects.filter(project=project).select_related("study__project", "release"))
    removed = find_removals(exports=made)
    held = [export for export in made if removed.of_export(export).withdrawn_at is not None]
    Export.objects.filter(pk__in=[export.pk for export in held]).update(
        state=Export.State.FAILED, error=DELETED, file=""
    )
    files = [export.file for export in held if export.file]
    for file in files:
        transaction.on_commit(partial(default_storage.delete, file))
    return len(files)


def _answered_questions(annotator: Annotator, project: Project) -> dict[Question, AnsweredQuestion]:
    """Return the questions that `annotator` answered in `project`, named as in the rows of a release."""
    given = Response.objects.filter(annotator=annotator, study__project=project)
    found = given.select_related("question__study", "question__instance").order_by("pk")
    return {
        (response.question.study.slug, question_name(response.question)): AnsweredQuestion(
            key=response.question.instance.key,
            asked=rule_input(response.question, response.question.study),
            accepts=response.question.study.accepts,
        )
        for response in found.iterator(chunk_size=500)
    }


def _derived_questions(annotator: Annotator, project: Project) -> set[Question]:
    """Return the questions made from answers of `annotator`, named as in the rows of a release."""
    given = Response.objects.filter(annotator=annotator, study__project=project).values("pk")
    asked = AskedQuestion.objects.filter(source_type=RESPONSE, source_id__in=given).order_by("pk")
    asked = asked.select_related("study", "instance").defer("content", "source", "won")
    return {(question.study.slug, question_name(question)) for question in asked.iterator(chunk_size=500)}


def _write_again(
    release: Release,
    annotator: Annotator,
    answered: Mapping[Question, AnsweredQuestion],
    asked_about: Set[Question],
    names: Collection[str],
    now: datetime,
) -> None:
    """Freeze the rows of `release` again, without `annotator`."""
    check_frozen(release)
    workers = set(release.pseudonyms.filter(annotator=annotator).values_list("name", flat=True))
    found = changes(_rows(release), workers=workers, answered=answered, asked_about=asked_about)
    before = release.file
    splits = _keep(release, remaining_rows(_rows(release), found, workers=workers, above=_above(release.project)))
    release.dossier = _dossier(release.dossier, splits=splits, names={*workers, *names}, now=now)
    release.save(update_fields=["file", "sha256", "instances", "responses", "dossier"])
    if release.file != before:
        transaction.on_commit(partial(default_storage.delete, before))


def _rows(release: Release) -> Iterator[tuple[RowType, Row]]:
    with default_storage.open(release.file) as stored:
        for line in stored:
            yield read_any_row(line)


def _keep(release: Release, rows: Iterator[tuple[RowType, Row]]) -> Counter[str]:
    """Store `rows` as the rows of `release` under their hash; return the number of accepted items by split."""
    # Releases frozen by an older version hold a row for each question.
    items: dict[str, str] = {}

    def note_items() -> Iterator[tuple[RowType, Row]]:
        for sort, row in rows:
            if isinstance(row, AcceptedInstance):
                items[row.name] = row.split
            yield sort, row

    release.file, release.sha256, counts = store_rows(release, note_items())
    release.instances, release.responses = counts["instances"], counts["responses"]
    return Counter(items.values())


def _above(project: Project) -> dict[str, set[str]]:
    """Return for each study of `project` the names of its upstream studies."""
    studies = {study.pk: study for study in Study.objects.filter(project=project)}
    above: dict[str, set[str]] = {}
    for study in studies.values():
        names, step = set(), study.fed_by_id
        while step is not None:
            names.add(studies[step].slug)
            step = studies[step].fed_by_id
        above[study.slug] = names
    return above


def _dossier(dossier: dict[str, Any], *, splits: Counter[str], names: Collection[str], now: datetime) -> dict[str, Any]:
    """Note in the stored card that rows were changed; its tables stay as they were when frozen."""
    size = splits.total()
    note = (
        f"On {now.date().isoformat()} the answers of one annotator were deleted at their request, "
        f"and the items that were accepted because of them: {format_count(size, 'item')} left. "
        "The tables of this card were computed before that."
    )
    body = dossier["body"]
    for name in names:
        body = body.replace(name, "(deleted)")
    return {
        **dossier,
        "size": size,
        "splits": dict(sorted(splits.items())),
        "body": f"{body}\n## Deleted since\n\n{note}\n",
        "limits": [*dossier["limits"], note],
    }
