"""Shared parts of the commands that replay a paper."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.models import User
from django.db import connection

from simulation.replay.script import CannotReplay
from studies.models import Project
from studies.names import problem_with_slug

# Study names contain the project's name.
LONGEST_NAME = 40
RESEARCHER = "replay"


@contextmanager
def hide_session_log() -> Iterator[None]:
    """Hide the log line of each session's start, which would break the progress bar."""
    logger = logging.getLogger("annotation.actions.sessions")
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(before)


@contextmanager
def without_synchronous_commit() -> Iterator[None]:
    """Turn off PostgreSQL's synchronous commit, as no site does.

    A replay can be repeated after a crash, and waiting for the disk would double the time of each answer.
    """
    if connection.vendor != "postgresql":
        yield
        return
    with connection.cursor() as cursor:
        cursor.execute("SET synchronous_commit = off")
    try:
        yield
    finally:
        with connection.cursor() as cursor:
            cursor.execute("RESET synchronous_commit")


def new_project(slug: str, name: str) -> Project:
    """Return an unsaved project. Raises CannotReplay if `slug` is not a valid new name."""
    if reason := problem_with_slug(slug):
        raise CannotReplay(f"{slug!r} cannot name a project. {reason}")
    if Project.objects.filter(slug=slug).exists():
        raise CannotReplay(f"There is already a project called {slug}. Give the replay a new one with --project NAME.")
    if len(slug) > LONGEST_NAME:
        raise CannotReplay(f"The project's name {slug!r} is too long. Use at most {LONGEST_NAME} characters.")
    return Project(slug=slug, name=name)


def researcher(username: str | None) -> User:
    """Return the user of this name, or without one a user who cannot sign in. Raises CannotReplay."""
    if username is None:
        user, created = User.objects.get_or_create(username=RESEARCHER)
        if created:
            user.set_unusable_password()
            user.save(update_fields=["password"])
        return user
    found = User.objects.filter(username=username).first()
    if found is None:
        raise CannotReplay(f"There is no user called {username!r}. Create one with createsuperuser.")
    return found
