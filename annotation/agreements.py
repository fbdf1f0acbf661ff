"""Which versions of the consent text each session agreed to, and when."""

from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import NamedTuple

from django.db.models import QuerySet

from annotation.models import ConsentAgreement, Session


class Agreement(NamedTuple):
    """The number of a version of the consent text, and when somebody agreed to it."""

    version: int
    at: datetime


def agreements_of(sessions: QuerySet[Session]) -> Mapping[int, Sequence[Agreement]]:
    """Return each session that agreed to a stored text -> its agreements, first to last. Two queries."""
    found: dict[int, dict[int, datetime]] = {}
    kept = ConsentAgreement.objects.filter(session__in=sessions.order_by()).order_by("version__number")
    for session, number, at in kept.values_list("session_id", "version__number", "at"):
        found.setdefault(session, {})[number] = at
    # While a migration runs, an older Lineup stores the last agreement only.
    last = sessions.filter(consent__isnull=False).order_by().values_list("pk", "consent__number", "consented_at")
    for session, number, last_at in last:
        if last_at is not None:
            found.setdefault(session, {}).setdefault(number, last_at)
    return {session: [Agreement(*each) for each in sorted(given.items())] for session, given in found.items()}
