"""Drafts: create from a study file, change, copy and delete. A launched study never changes."""

import hashlib
from collections.abc import Sequence
from datetime import datetime

from django.db import transaction

from background.models import UNFINISHED, Job, JobState
from studies.actions.events import Actor, What, person, record
from studies.actions.projects.roles import check_roles
from studies.actions.studies import check_name, columns, create_study, feeding_study, new_draft
from studies.design import copy_source, read_design
from studies.design.editor import apply_changes
from studies.errors import StudyError
from studies.models import Instance, Project, Study, StudyState
from studies.names import LONGEST_SLUG

# A file with this many lines can still be edited manually.
MOST_NAMED = 5_000
# The work that launches a large draft: a draft does not change while such a job waits or runs.
LAUNCH_JOB = "annotation.launch"


class DraftChanged(StudyError):
    """The draft was changed since the edited text was read."""


class LaunchPending(StudyError):
    """The draft has a launch that waits or runs."""


def fingerprint(source: str) -> str:
    """Return a fingerprint of the text of a study file."""
    return hashlib.sha256(source.encode()).hexdigest()


@transaction.atomic
def create_or_replace(*, project: Project, source: str, by: Actor, now: datetime) -> Study:
    """Create a draft from a study file, replacing a draft of the same name.

    Raises DesignRefused, or StudyError if the study of that name was launched.
    """
    there = Study.objects.filter(project=project, slug=read_design(source).study).first()
    if there is None:
        return create_study(project=project, source=source, by=by, now=now)
    update_draft(study=there, source=source, by=by, now=now)
    return there


@transaction.atomic
def create_once(*, project: Project, source: str, by: Actor, now: datetime, is_named: bool = True) -> Study:
    """Create a draft from a study file, or return the one that `by` has just created from the same file.

    Pressing Create twice thus creates one draft. Unless it `is_named` by `by`, the draft gets the next name that is
    free. Raises DesignRefused and StudyError.
    """
    # One after the other: both presses would find the name free.
    Project.objects.select_for_update(no_key=True).get(pk=project.pk)
    name = read_design(source).study
    number, file = 1, source
    while there := Study.objects.filter(project=project, slug=read_design(file).study).first():
        if _is_same(there, file, by):
            return there
        if is_named:
            break
        number += 1
        tail = f"-{number}"
        file = apply_changes(source, {("study",): f"{name[: LONGEST_SLUG - len(tail)].rstrip('-')}{tail}"})
    return create_study(project=project, source=file, by=by, now=now)


def _is_same(there: Study, file: str, by: Actor) -> bool:
    """Return whether `there` is a draft that `by` created from this study file."""
    return there.source == file and there.created_by == person(by) and there.state == StudyState.DRAFT


@transaction.atomic
def update_draft(*, study: Study, source: str, by: Actor, now: datetime, edited_from: str = "") -> None:
    """Replace the study file of a draft. Its links and codes stay.

    `edited_from`: fingerprint of the text that was edited into `source`, to detect concurrent changes. Raises
    DesignRefused, DraftChanged for a concurrent change, LaunchPending, or StudyError for a launched study or a name
    that is taken.
    """
    draft = _lock_draft(study, "Duplicate it to change the questions.")
    # Save pressed twice is no conflict.
    if edited_from and edited_from != fingerprint(draft.source) and draft.source != source:
        raise DraftChanged("This draft was changed in another tab, or by somebody else, after you opened it.")
    design = read_design(source)
    if design.study != draft.slug:
        check_name(draft.project, design.study)
    fed_by = feeding_study(draft.project, design)
    check_roles(draft.project, design, fed_by)
    changed = columns(design) | {"source": source, "fed_by": fed_by}
    before = draft.slug
    for name, value in changed.items():
        setattr(draft, name, value)
    _check_feeding(draft, before)
    draft.save(update_fields=changed)
    study.refresh_from_db()
    record(project=draft.project, study=draft, what=What.STUDY_CHANGED, by=by, now=now)


@transaction.atomic
def duplicate_study(*, study: Study, slug: str, title: str, by: Actor, now: datetime) -> Study:
    """Copy `study` to a draft with another name and title; a copy asked for twice is made once.

    Raises DesignRefused and StudyError.

    The copy keeps the study file's text and comments, unless the file would now be read differently.
    """
    return _copy(study, copy_source(study.source, study.design, study=slug, title=title), by, now)


def _copy(study: Study, source: str, by: Actor, now: datetime, **told: int) -> Study:
    # One after the other, as in `create_once`.
    Project.objects.select_for_update(no_key=True).get(pk=study.project_id)
    there = Study.objects.filter(project=study.project, slug=read_design(source).study).first()
    if there is not None and person(by) is not None and _is_same(there, source, by):
        return there
    copy, original = new_draft(study.project, source, by), study.slug
    record(project=study.project, study=copy, what=What.STUDY_DUPLICATED, by=by, now=now, original=original, **told)
    return copy


@transaction.atomic
def ask_again(*, study: Study, slug: str, title: str, instances: Sequence[int], by: Actor, now: datetime) -> Study:
    """Create a draft that asks the questions of `study` again, only about these instances (ids) of its project.

    The file's selection of instances is dropped, except the study that feeds it: instances that the feeding study has
    not accepted are skipped. Raises DesignRefused and StudyError.
    """
    if not instances:
        raise StudyError("No instance is selected.")
    if len(instances) > MOST_NAMED:
        raise StudyError(
            f"{len(instances):,} instances are selected, but a study file can list at most "
            f"{MOST_NAMED:,}. Select fewer, or duplicate the study and select by type, subtype, "
            "split or tag."
        )
    own = Instance.objects.filter(project=study.project_id, pk__in=instances).order_by("id")
    keys = list(own.values_list("key", flat=True))
    source = copy_source(study.source, study.design, study=slug, title=title, keys=keys)
    return _copy(study, source, by, now, instances=len(keys))


@transaction.atomic
def delete_draft(*, study: Study, by: Actor, now: datetime) -> None:
    """Delete a draft with its links and codes; its events stay.

    Raises LaunchPending, or StudyError for a study that is no draft.
    """
    draft = _lock_draft(study, "A study with answers is kept. Close it, so that nobody else can take part.")
    if fed := _downstream_slugs(draft):
        raise StudyError(
            f"Other studies take their instances from {draft.slug}: {', '.join(fed)}. "
            "Delete them first, or change their `instances.from`."
        )
    record(project=draft.project, study=draft, what=What.STUDY_DELETED, by=by, now=now)
    draft.delete()


def pending_launch(study: Study) -> str:
    """Return why the draft `study` cannot be changed: its launch waits or runs; "" if it can."""
    job = Job.objects.filter(kind=LAUNCH_JOB, key=str(study.pk), state__in=UNFINISHED).first()
    if job is None:
        return ""
    if job.cancel_asked_at is not None:
        return "Its launch is being cancelled. Try again in a minute."
    what = "Its launch is waiting" if job.state == JobState.WAITING else "It is being launched"
    return f"{what}. Cancel the launch to change the study."


def _lock_draft(study: Study, instead: str) -> Study:
    """Lock and return the draft, so that nobody can launch or delete it in the meantime. Raises StudyError."""
    # Before the lock, which a running launch holds until it is done.
    if pending := pending_launch(study):
        raise LaunchPending(pending)
    locked = Study.objects.select_for_update(of=("self",)).select_related("project").filter(pk=study.pk).first()
    if locked is None:
        raise StudyError("Somebody else has just deleted this draft.")
    if locked.state != StudyState.DRAFT:
        raise StudyError(f"Study {locked.slug} was launched, so it is no longer a draft. {instead}")
    return locked


def _downstream_slugs(study: Study) -> list[str]:
    return list(Study.objects.filter(fed_by=study).order_by("slug").values_list("slug", flat=True))


def _check_feeding(draft: Study, before: str) -> None:
    """Refuse changes that break studies fed by the draft, and cycles of studies."""
    fed = _downstream_slugs(draft)
    if fed and draft.slug != before:
        raise StudyError(
            f"Other studies name {before} in their `instances.from`: {', '.join(fed)}. Keep the name, or change "
            "those first."
        )
    if fed and not draft.accepts:
        raise StudyError(
            f"Other studies take their instances from {before}: {', '.join(fed)}. With the purpose "
            f"{draft.purpose} it would not accept any."
        )
    above, way = draft.fed_by, [draft.slug]
    while above is not None:
        way.append(above.slug)
        if above.pk == draft.pk:
            raise StudyError(f"A study cannot take its instances from itself through other studies: {', '.join(way)}.")
        above = above.fed_by
