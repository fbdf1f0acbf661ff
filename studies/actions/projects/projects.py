"""Create, rename, archive and reopen projects."""

from datetime import datetime

from django.contrib.auth.models import User
from django.db import IntegrityError, transaction

from studies.actions.events import Actor, What, record
from studies.errors import StudyError
from studies.models import UNDER_WAY, Membership, Project, ProjectDeletion, Study
from studies.names import problem_with_name, problem_with_slug
from studies.permissions import Role

LONGEST_NAME = 200


def save_project(project: Project, *, owner: User | None, by: Actor, now: datetime) -> None:
    """Save a new project and its owner, if given; call in a transaction."""
    project.save()
    record(project=project, what=What.PROJECT_MADE, by=by, now=now)
    if owner is not None:
        Membership.objects.create(project=project, user=owner, role=Role.OWNER)
        name, role = owner.get_username(), Role.OWNER.value
        record(project=project, what=What.MEMBER_ADDED, by=by, now=now, member=name, role=role)


def make_project(*, slug: str, name: str, by: User, now: datetime) -> Project:
    """Create an empty project owned by `by`. Raises StudyError."""
    found = {"Name in URLs and commands": problem_with_slug(slug), "Name": problem_with_name(name, LONGEST_NAME)}
    if problems := [f"{where}: {problem}" for where, problem in found.items() if problem]:
        raise StudyError(*problems)
    project = Project(slug=slug, name=name)
    taken = StudyError(
        f"A project called {slug} already exists, perhaps one that you cannot open. Choose another name."
    )
    if Project.objects.filter(slug=slug).exists():
        raise taken
    try:
        with transaction.atomic():
            save_project(project, owner=by, by=by, now=now)
    except IntegrityError as error:
        raise taken from error
    return project


@transaction.atomic
def rename_project(*, project: Project, name: str, by: User, now: datetime) -> None:
    """Change the display name of a project; its addresses stay. Raises StudyError."""
    if problem := problem_with_name(name, LONGEST_NAME):
        raise StudyError(f"Name: {problem}")
    before = Project.objects.select_for_update().get(pk=project.pk).name
    if name != before:
        Project.objects.filter(pk=project.pk).update(name=name)
        record(project=project, what=What.PROJECT_RENAMED, by=by, now=now, name=name, before=before)


@transaction.atomic
def archive_project(*, project: Project, by: User, now: datetime) -> None:
    """Archive a project: it can be viewed and exported, but not changed. Raises StudyError."""
    locked = Project.objects.select_for_update().get(pk=project.pk)
    if locked.archived_at is not None:
        return
    at_work = Study.objects.filter(project=project, state__in=UNDER_WAY)
    if slugs := list(at_work.order_by("slug").values_list("slug", flat=True)):
        raise StudyError(
            f"Still open or paused: {', '.join(slugs)}. Close each of them first, then archive the project."
        )
    Project.objects.filter(pk=project.pk).update(archived_at=now)
    record(project=project, what=What.PROJECT_ARCHIVED, by=by, now=now)


@transaction.atomic
def reopen_project(*, project: Project, by: User, now: datetime) -> None:
    """Take a project out of the archive. Raises StudyError while its deletion is planned."""
    Project.objects.select_for_update().get(pk=project.pk)
    if ProjectDeletion.objects.filter(project=project).exists():
        raise StudyError("The project is going to be deleted. Cancel the deletion first.")
    if Project.objects.filter(pk=project.pk, archived_at__isnull=False).update(archived_at=None):
        record(project=project, what=What.PROJECT_REOPENED, by=by, now=now)
