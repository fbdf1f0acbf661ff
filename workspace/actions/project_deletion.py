"""Delete a project: ask for it, cancel it, and delete all of its rows and files in a job.

A project in which nothing was launched goes at once, and so does a demo in which no person answered. Any other is
archived first and goes a week later.
"""

import unicodedata
from collections.abc import Iterator, Sequence
from datetime import datetime, timedelta
from functools import lru_cache
from graphlib import TopologicalSorter
from typing import Any

from django.apps import apps
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import SET_NULL, BinaryField, Count, ForeignKey, JSONField, Model, Q, QuerySet
from django.utils import timezone

from annotation.actions.removing.erasure import delete_unknown
from annotation.models import GroupMember, Removal, Session
from annotation.models.sessions import OPEN_STATES
from annotation.simulation_ids import is_simulated
from background.jobs import cancel, request_job
from background.models import UNFINISHED, Job, JobState
from background.work import RunningJob, Work
from making.models import Candidate, Pipeline
from results.models import Export, Release
from results.queries.people.payments_due import debts
from studies.actions.events import What, name_of, record
from studies.actions.images import remove_unused
from studies.actions.imports.uploads import discard
from studies.actions.projects.members import owners_of
from studies.actions.studies import change_state
from studies.errors import StudyError
from studies.models import UNDER_WAY, Import, InstanceImage, Project, ProjectDeletion, Study, StudyState, Upload
from training.actions.examples import delete_examples, discard_folder
from training.models import TrainingRun
from workspace.actions.uploaded_images import delete_uses
from workspace.mail import send_deletion_done
from workspace.models import HubDownload, HubPush, ModelPush, UploadedImage

KIND = "workspace.delete_project"
WEEK = timedelta(days=7)
BATCH = 500


def can_delete_immediately(project: Project) -> bool:
    """Whether `project` can be deleted without a week's notice: nothing in it is work that a person was asked for."""
    if project.is_demo:
        return not Session.objects.exclude(is_simulated()).filter(study__project=project).exists()
    return not project.studies.exclude(state=StudyState.DRAFT).exists()


def obstacles(project: Project) -> list[str]:
    """Return why `project` cannot be deleted now, in sentences that say what to do."""
    if can_delete_immediately(project):
        return []
    found = []
    if project.archived_at is None:
        found.append("Archive the project first: it has launched studies.")
    sessions = Session.objects.exclude(is_simulated()).filter(study__project=project, state__in=OPEN_STATES)
    for slug, people in sessions.order_by("study__slug").values_list("study__slug").annotate(n=Count("pk")):
        who = "1 person is" if people == 1 else f"{people:,} people are"
        found.append(f"{who} still answering in {slug}. Wait until they have finished, or end their sessions.")
    return found


def list_debts(project: Project) -> str:
    """Return what studies of `project` owe to people, "" for nothing. Lineup does not know what was paid."""
    return "; ".join(map(str, debts(project)))


@transaction.atomic
def request_deletion(*, project: Project, name: str, pay_settled: bool, by: User, now: datetime) -> ProjectDeletion:
    """Have `project` deleted, at once or in a week; asked for again, it is the same deletion. Raises StudyError.

    name: the project's name as the owner typed it; needed for the week's notice only. pay_settled: the owner says that
    everybody has been paid.
    """
    # A launch locks its study first, and the project by its event: in this order neither waits for the other.
    list(Study.objects.select_for_update(of=("self",)).filter(project=project).order_by("pk").values_list("pk"))
    project = Project.objects.select_for_update().get(pk=project.pk)
    if (found := ProjectDeletion.objects.filter(project=project).first()) is not None:
        return found
    at_once = can_delete_immediately(project)
    debt = "" if at_once else list_debts(project)
    if problems := obstacles(project):
        raise StudyError(*problems)
    if not at_once and _plain(name) != _plain(project.name):
        typed = f"You typed “{name.strip()[:200]}”" if name.strip() else "You typed nothing"
        raise StudyError(f"{typed}; the project’s name is “{project.name}”. Type exactly this name.")
    if debt and not pay_settled:
        raise StudyError(f"People are owed money ({debt}). Pay them, then tick that everybody has been paid.")
    deletion = ProjectDeletion.objects.create(
        project=project,
        slug=project.slug,
        name=project.name,
        requested_by=by,
        by_name=name_of(by),
        requested_at=now,
        pay_settled=debt,
        due_at=now if at_once else now + WEEK,
    )
    told: dict[str, Any] = {"due_on": f"{deletion.due_at:%-d %B %Y}", "pay_settled": debt}
    record(project=project, what=What.PROJECT_DELETION_REQUESTED, by=by, now=now, **told)
    if at_once:
        for study in Study.objects.filter(project=project, state__in=UNDER_WAY):
            change_state(study=study, to=StudyState.CLOSED, by=by, now=now)
        _begin(deletion, now)
    return deletion


def _plain(name: str) -> str:
    """Return `name` in the one form that all spellings of the same letters have."""
    return unicodedata.normalize("NFC", name).strip()


@transaction.atomic
def cancel_deletion(*, project: Project, by: User, now: datetime) -> bool:
    """Cancel a deletion that has not begun; return whether there was one."""
    Project.objects.select_for_update().get(pk=project.pk)
    if not ProjectDeletion.objects.filter(project=project, begun_at=None).delete()[0]:
        return False
    record(project=project, what=What.PROJECT_DELETION_CANCELLED, by=by, now=now)
    return True


def due_jobs(*, now: datetime) -> list[Job]:
    """Begin the deletions whose time has come; return the jobs to send.

    While somebody answers in a project its deletion waits. While other jobs of the project run, it waits until they
    have been cancelled.
    """
    jobs = []
    for pk in ProjectDeletion.objects.filter(due_at__lte=now, project__isnull=False).values_list("pk", flat=True):
        with transaction.atomic():
            deletion = ProjectDeletion.objects.select_for_update(of=("self",)).filter(pk=pk).first()
            if deletion is None or deletion.project is None:
                continue
            if deletion.begun_at is None and obstacles(deletion.project):
                continue
            _begin(deletion, now)
            if not _cancel_jobs(deletion.project, now):
                job, is_new = request_job(kind=KIND, arguments={"deletion": pk}, by=None, now=now, key=str(pk))
                jobs += [job] if is_new else []
    return jobs


def _begin(deletion: ProjectDeletion, now: datetime) -> None:
    """Hide the project from everybody: from here on there is no way back."""
    if deletion.begun_at is None and deletion.project is not None:
        deletion.begun_at, deletion.name = now, deletion.project.name
        deletion.save(update_fields=["begun_at", "name"])
        deletion.owners.set(owners_of(deletion.project))
        # A superuser may have asked for it.
        if deletion.requested_by is not None:
            deletion.owners.add(deletion.requested_by)


def _cancel_jobs(project: Project, now: datetime) -> bool:
    """Cancel the unfinished jobs of `project`; return whether any still runs."""
    with_jobs = (Import, Export, HubPush, ModelPush, Pipeline, TrainingRun)
    rows = (model.objects.filter(project=project, job__isnull=False) for model in with_jobs)
    downloads = HubDownload.objects.filter(upload__project=project, job__isnull=False)
    known = [pk for each in (*rows, downloads) for pk in each.values_list("job", flat=True)]
    unfinished = Job.objects.filter(Q(pk__in=known) | Q(arguments__project=project.pk), state__in=UNFINISHED)
    for job in unfinished:
        cancel(job=job, now=now)
    return unfinished.filter(state=JobState.RUNNING).exists()


@lru_cache(maxsize=1)
def tables() -> list[tuple[type[Model], str]]:
    """Return the tables that hold rows of a project, each before those that it refers to, with its path to the project.

    They are found by their foreign keys, so that a new table is deleted too.
    """
    paths: dict[type[Model], tuple[bool, str]] = {Project: (False, "pk")}
    while found := dict(_next_tables(paths)):
        paths |= found
    del paths[Project]
    above = {model: {key.related_model for key in _keys(model)} & paths.keys() for model in paths}
    # The sorter yields first what nothing else waits for: what others refer to.
    ordered = reversed(list(TopologicalSorter(above).static_order()))
    return [(model, paths[model][1]) for model in ordered]


def _next_tables(paths: dict[type[Model], tuple[bool, str]]) -> Iterator[tuple[type[Model], tuple[bool, str]]]:
    """Yield the tables that refer to those of `paths`: whether a key on the way may be null, and the way."""
    for model in apps.get_models(include_auto_created=True):
        ways = [
            (key.null or paths[key.related_model][0], f"{key.name}__{paths[key.related_model][1]}")
            for key in _keys(model)
            if key.related_model in paths
        ]
        if ways and model not in paths:
            yield model, min(ways)


def _keys(model: type[Model]) -> list[Any]:
    """Return the foreign keys to other tables by which a row belongs to what it refers to."""
    keys = [field for field in model._meta.concrete_fields if isinstance(field, ForeignKey)]
    return [key for key in keys if key.remote_field.on_delete is not SET_NULL and key.related_model is not model]


def _rows(model: type[Model], path: str, project: Project) -> QuerySet[Model]:
    return model._base_manager.filter(**{path: project.pk})


def _delete(job: RunningJob) -> None:
    """Delete the project of a job, in batches; a later worker goes on with what is left."""
    deletion = ProjectDeletion.objects.select_related("project").get(pk=job.arguments["deletion"])
    project = deletion.project
    if project is None:
        return
    if not deletion.record:
        deletion.record = _describe(deletion, project)
        deletion.save(update_fields=["record"])
    _remove_files(deletion)
    total = sum(deletion.record["rows"].values())
    # Rows that another worker adds at the same time are found in the next round.
    while not _finish(job, deletion):
        for model, path in tables():
            while _delete_batch(job, deletion, _rows(model, path, project), total):
                _remove_files(deletion)
    # Whoever deleted an empty project at once saw it go.
    if deletion.due_at > deletion.requested_at:
        send_deletion_done(deletion)


def _describe(deletion: ProjectDeletion, project: Project) -> dict[str, Any]:
    """Return the record of `deletion`: what the project held, without its contents and without people's ids."""
    releases = Release.objects.filter(project=project).select_related("study").order_by("made_at")
    studies = Study.objects.filter(project=project).defer("source", "design").order_by("pk")
    return {
        "project": {
            "slug": project.slug,
            "name": project.name,
            "created_at": _text(project.created_at),
            "archived_at": _text(project.archived_at),
        },
        "requested_by": deletion.by_name,
        "requested_at": _text(deletion.requested_at),
        "begun_at": _text(deletion.begun_at),
        "deleted_at": None,
        "pay_settled": deletion.pay_settled,
        "owners": [owner.get_username() for owner in owners_of(project)],
        "people": Session.objects.filter(study__project=project).values("annotator").distinct().count(),
        "pictures": InstanceImage.objects.filter(instance__project=project).values("image").distinct().count(),
        "studies": [
            {"study": study.slug, "title": study.title, "purpose": study.purpose, "state": study.state}
            | {"launched_at": _text(study.launched_at), "closed_at": _text(study.closed_at)}
            for study in studies
        ],
        "releases": [
            {"release": release.name, "study": release.study.slug, "made_at": _text(release.made_at)}
            | {"sha256": release.sha256, "items": release.instances, "responses": release.responses}
            for release in releases
        ],
        "rows": {
            model._meta.label_lower: count
            for model, path in sorted(tables(), key=lambda table: table[0]._meta.label_lower)
            if (count := _rows(model, path, project).count())
        },
    }


def _text(at: datetime | None) -> str | None:
    return None if at is None else at.isoformat()


def _delete_batch(job: RunningJob, deletion: ProjectDeletion, rows: QuerySet[Model], total: int) -> bool:
    """Delete the last rows of a table, with their files; return whether there were any."""
    large = [field.name for field in rows.model._meta.concrete_fields if isinstance(field, BinaryField | JSONField)]
    batch = list(rows.order_by("-pk").defer(*large)[:BATCH])
    if not batch:
        return False
    for row in batch:
        _delete_files_of(row)
    with transaction.atomic():
        deletion.files = _delete_rows(batch)
        deletion.save(update_fields=["files"])
        done = int(job.step.get("done", 0)) + len(batch)
        job.advance(step={"done": done}, done=min(done, total), total=total)
    return True


def _delete_files_of(row: Model) -> None:
    """Delete the files of a row that nothing else needs; where they are gone already, nothing happens."""
    if isinstance(row, Upload):
        discard(row)
    elif isinstance(row, Export | Release) and row.file:
        default_storage.delete(row.file)
    elif isinstance(row, Import) and row.problems_file:
        default_storage.delete(row.problems_file)
    elif isinstance(row, TrainingRun):
        delete_examples(row)
        discard_folder(row, now=timezone.now())


def _delete_rows(batch: Sequence[Model]) -> list[str]:
    """Delete rows of one table; return the files of pictures that nothing uses any more."""
    model, ids = type(batch[0]), [row.pk for row in batch]
    for key in model._meta.concrete_fields:
        if isinstance(key, ForeignKey) and key.related_model is model:
            model._base_manager.filter(**{f"{key.name}__in": ids}).update(**{key.name: None})
    files: list[str] = []
    rows: Any = model._base_manager.filter(pk__in=ids)
    if issubclass(model, InstanceImage | UploadedImage | Candidate):
        files = delete_uses(rows, sorted(set(rows.filter(image__isnull=False).values_list("image", flat=True))))
    elif issubclass(model, Session | GroupMember | Removal):
        people = set(rows.values_list("annotator", flat=True))
        rows.delete()
        delete_unknown(people)
    else:
        rows.delete()
    return files


def _remove_files(deletion: ProjectDeletion) -> None:
    if deletion.files:
        remove_unused(deletion.files)
        deletion.files = []
        deletion.save(update_fields=["files"])


@transaction.atomic
def _finish(job: RunningJob, deletion: ProjectDeletion) -> bool:
    """Delete the project itself once nothing of it is left; return whether that was so."""
    project = Project.objects.select_for_update().get(deletion=deletion)
    if any(_rows(model, path, project).exists() for model, path in tables()):
        return False
    job.check()
    project.delete()
    deletion.project, deletion.deleted_at = None, job.now()
    deletion.record |= {"deleted_at": _text(deletion.deleted_at)}
    deletion.save(update_fields=["project", "deleted_at", "record"])
    return True


DELETION = Work(
    run=_delete,
    unit="rows",
    trouble="The project could not be deleted completely. It is tried again in a few minutes.",
    minutes=30,
    patience=timedelta(minutes=5),
)
