"""Shared parts of commands: project, study, the user who runs the command, and refusals."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import BaseCommand, CommandError

from studies.actions.events import COMMAND_LINE, Actor
from studies.actions.lookup import find_project, find_study
from studies.actions.projects.members import may, role_in
from studies.errors import StudyError
from studies.models import Project, Study
from studies.names import problem_with_slug
from studies.permissions import IN_ARCHIVE, WORDS, Verb, who_may, why_not_in_archive, with_article

STUDY_HELP = "slug of the study, or PROJECT/SLUG if several projects have a study of that name"


class ActionCommand(BaseCommand):
    """A command that shows the refusals of its actions as a CommandError, with their sentences."""

    refusals: tuple[type[Exception], ...] = (StudyError,)

    def execute(self, *args: Any, **options: Any) -> str | None:
        try:
            return super().execute(*args, **options)
        except self.refusals as error:
            raise CommandError(str(error)) from error


def read_project(name: str) -> Project:
    """Return the project called `name`. Raises CommandError, which lists the projects."""
    try:
        return find_project(name)
    except StudyError as error:
        raise CommandError(str(error)) from error


def read_study(name: str) -> Study:
    """Return the study called `name`, SLUG or PROJECT/SLUG. Raises CommandError, which says what to write instead."""
    try:
        return find_study(name)
    except StudyError as error:
        raise CommandError(str(error)) from error


def add_by(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--by",
        metavar="USERNAME",
        help="the user whose name the project's events show; needs the right to do this (default: the command line)",
    )


def read_actor(options: dict[str, Any], verb: Verb, project: Project) -> Actor:
    """Return the user given by --by, or the command line, which is trusted.

    Raises CommandError for an unknown user, or one without the right `verb` in `project`.
    """
    if options["by"] is None:
        return COMMAND_LINE
    user = read_user(options["by"])
    if may(user, verb, project):
        return user
    if project.archived_at is not None and verb not in IN_ARCHIVE:
        raise CommandError(why_not_in_archive(project.slug, verb))
    role = role_in(user, project)
    what = "cannot sign in any more" if not user.is_active else f"is {with_article(role) if role else 'not a member'}"
    raise CommandError(
        f"{user.get_username()} {what}. Only {who_may(verb)} of {project.slug} may {WORDS[verb]}. "
        "Name one of them with --by, or leave it out."
    )


def read_operator(options: dict[str, Any]) -> Actor:
    """Return the superuser given by --by, or the command line, for an action on all projects.

    Raises CommandError for any other user.
    """
    if options["by"] is None:
        return COMMAND_LINE
    user = read_user(options["by"])
    if user.is_active and user.is_superuser:
        return user
    raise CommandError(
        f"{user.get_username()} is not a superuser, and this affects every project. Name a superuser with --by, or "
        "leave it out."
    )


def read_user(username: str) -> User:
    """Return the user called `username`. Raises CommandError."""
    user = User.objects.filter(username=username).first()
    if user is None:
        raise CommandError(f"There is no user called {username!r}. Create one with createsuperuser.")
    return user


def import_target(slug: str) -> Project:
    """Return the target project of an import; a new one is unsaved, because it is saved together with its instances.

    Raises CommandError for an invalid name.
    """
    if reason := problem_with_slug(slug):
        raise CommandError(f"{slug!r} cannot name a project. {reason}")
    return Project.objects.filter(slug=slug).first() or Project(slug=slug, name=slug)


def read_importer(options: dict[str, Any], project: Project) -> Actor:
    """Return the user who imports. Any user may import into a new project, because nobody has a role there yet.

    Raises CommandError as `read_actor` does.
    """
    if project.pk is None and options["by"] is not None:
        return read_user(options["by"])
    return read_actor(options, Verb.IMPORT, project)
