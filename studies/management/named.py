"""What a command line names: a project, a study, and who runs the command."""

from argparse import ArgumentParser
from typing import Any

from django.contrib.auth.models import User
from django.core.management.base import CommandError

from studies.actions.events import COMMAND_LINE, Actor
from studies.actions.finding import find_project, find_study
from studies.errors import StudyError
from studies.models import Project, Study

STUDY_HELP = "the study: its slug, or PROJECT/SLUG where several projects have one of that name"


def project_called(name: str) -> Project:
    """Return the project called `name`. Raises CommandError, naming the projects there are."""
    try:
        return find_project(name)
    except StudyError as error:
        raise CommandError(str(error)) from error


def study_called(name: str) -> Study:
    """Return the study called `name`, SLUG or PROJECT/SLUG. Raises CommandError, which says what to write instead."""
    try:
        return find_study(name)
    except StudyError as error:
        raise CommandError(str(error)) from error


def add_by(parser: ArgumentParser) -> None:
    parser.add_argument(
        "--by", metavar="USERNAME", help="who does this, as the project's events tell it; else the command line"
    )


def actor_named(options: dict[str, Any]) -> Actor:
    """Return who runs the command, by what `add_by` read. Raises CommandError when nobody has that user name."""
    return COMMAND_LINE if options["by"] is None else user_called(options["by"])


def user_called(username: str) -> User:
    """Return the user called `username`. Raises CommandError."""
    user = User.objects.filter(username=username).first()
    if user is None:
        raise CommandError(f"There is no user called {username!r}. Make one with createsuperuser.")
    return user
