"""What the commands that replay a paper have in common."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager

from django.contrib.auth.models import User
from django.db import connection

from simulation.replay.script import CannotReplay
from studies.models import Project
from studies.names import problem_with_slug

# A longer name would not fit into the names of the studies.
LONGEST_NAME = 40
RESEARCHER = "replay"


@contextmanager
def quiet_sessions() -> Iterator[None]:
    """Leave out the line that each session logs when it starts: it would cut through the progress bar."""
    logger = logging.getLogger("annotation.actions.sessions")
    before = logger.level
    logger.setLevel(logging.WARNING)
    try:
        yield
    finally:
        logger.setLevel(before)


@contextmanager
def without_waiting_for_the_disk() -> Iterator[None]:
    """Let PostgreSQL say that something is stored before the disk has it, as no site does: what a crash would take from
    a replay is played again, and to wait at each of its answers takes as long as all else that an answer does."""
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
    """Return a project that is not stored yet. Raises CannotReplay where `slug` cannot be its name."""
    if reason := problem_with_slug(slug):
        raise CannotReplay(f"{slug!r} cannot name a project. {reason}")
    if Project.objects.filter(slug=slug).exists():
        raise CannotReplay(f"There is already a project called {slug}. Give the replay a new one with --project NAME.")
    if len(slug) > LONGEST_NAME:
        raise CannotReplay(f"The project's name {slug!r} is too long. Use at most {LONGEST_NAME} characters.")
    return Project(slug=slug, name=name)


def researcher(username: str | None) -> User:
    """Return the user of this name, or without one somebody who cannot sign in. Raises CannotReplay."""
    if username is None:
        user, created = User.objects.get_or_create(username=RESEARCHER)
        if created:
            user.set_unusable_password()
            user.save(update_fields=["password"])
        return user
    found = User.objects.filter(username=username).first()
    if found is None:
        raise CannotReplay(f"There is no user called {username!r}. Make one with createsuperuser.")
    return found
