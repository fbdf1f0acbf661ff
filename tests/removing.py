"""Taking people's answers out of every count, as researchers' pages and commands do."""

from datetime import datetime, timedelta

from annotation.actions.removing import removals
from annotation.actions.removing.removals import RemovalEffects
from annotation.models import Annotator
from studies.models import Project
from tests.factories import NOON
from tests.people import digest_of

# When people are taken out, unless a test says otherwise: after they have answered.
REMOVED = NOON + timedelta(hours=1)


def person(name: str) -> Annotator:
    return Annotator.objects.get(id_digest=digest_of(name))


def withdraw(project: Project, name: str, *, now: datetime = REMOVED) -> RemovalEffects:
    return removals.withdraw(annotator=person(name), project=project, by="tests", now=now)


def exclude(project: Project, name: str, *, reason: str = "clicked through", now: datetime = REMOVED) -> RemovalEffects:
    return removals.exclude(annotator=person(name), project=project, reason=reason, by="tests", now=now)


def include(project: Project, name: str, *, now: datetime = REMOVED) -> RemovalEffects:
    return removals.include(annotator=person(name), project=project, by="tests", now=now)


def reopen(project: Project, name: str, *, now: datetime = REMOVED) -> int:
    """Return how many answers others are asked for."""
    return removals.reopen_slots(annotator=person(name), project=project, by="tests", now=now).answers
