"""Seconds per answer of a session, in the order of the answers, and sessions of one person at the same time."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from itertools import combinations, pairwise
from math import ceil
from statistics import median

from django.db.models import OuterRef, Subquery

from annotation.models import Removal, Response, Session
from annotation.models.responses import took_ms

# A chart is as high as the longest of this share of the answers; a few long pauses do not flatten the others.
SHOWN_WHOLE = 0.95
# Somebody who interrupts one session for another one changes twice between them.
MOST_CHANGES = 2


@dataclass(frozen=True)
class AnswerTime:
    """An answer: its number in the session from 1, and its seconds; None if the browser measured nothing."""

    number: int
    seconds: float | None


@dataclass(frozen=True)
class SessionTimes:
    """The answers of a session, in order."""

    answers: Sequence[AnswerTime]

    @property
    def measured(self) -> Sequence[float]:
        return sorted(each.seconds for each in self.answers if each.seconds is not None)

    @property
    def median(self) -> float:
        return median(self.measured)

    @property
    def shortest(self) -> float:
        return self.measured[0]

    @property
    def longest(self) -> float:
        return self.measured[-1]

    @property
    def top(self) -> float:
        """The seconds at the top of a chart; longer answers are cut there."""
        return self.measured[max(ceil(SHOWN_WHOLE * len(self.measured)) - 1, 0)]


@dataclass(frozen=True)
class SimultaneousSessions:
    """Two sessions of one person, who changed between them `changes` times, first at `start` and last at `end`."""

    sessions: tuple[Session, Session]
    changes: int
    start: datetime
    end: datetime


def simultaneous_sessions(sessions: Sequence[Session]) -> list[SimultaneousSessions]:
    """Return which of `sessions`, all of one person, were worked on at once, the earliest first; one query.

    They were if the person changed more often between them, from answer to answer, than somebody who interrupts one for
    the other. Times of such answers include work in the other session.
    """
    if len(sessions) <= 1:
        return []
    sent: dict[int, list[datetime]] = defaultdict(list)
    given = Response.objects.filter(session__in=sessions, version=1).order_by("received_at", "pk")
    for session, at in given.values_list("session_id", "received_at"):
        sent[session].append(at)
    found = []
    for first, second in combinations([each for each in sessions if each.pk in sent], 2):
        if max(sent[first.pk][0], sent[second.pk][0]) > min(sent[first.pk][-1], sent[second.pk][-1]):
            continue
        both = sorted((at, session.pk) for session in (first, second) for at in sent[session.pk])
        changes = [after for (_, before), (after, now) in pairwise(both) if before != now]
        if len(changes) > MOST_CHANGES:
            found.append(SimultaneousSessions((first, second), len(changes), changes[0], changes[-1]))
    return sorted(found, key=lambda each: each.start)


def times_by_session(sessions: Sequence[int]) -> Mapping[int, SessionTimes]:
    """Return the times of each of `sessions` with answers, also those that do not count; one query.

    Answers to checks are numbered too, as in the evidence of flags, but left out, like those of people who withdrew.
    """
    first = Response.objects.filter(session=OuterRef("session"), question=OuterRef("question"), version=1)
    given = Response.objects.filter(session__in=sessions, is_current=True).exclude(left_out=Removal.Why.WITHDRAWN)
    by_answer = given.annotate(
        ms=took_ms(), first_at=Subquery(first.values("received_at")), first_version=Subquery(first.values("pk"))
    )
    found: dict[int, list[AnswerTime]] = defaultdict(list)
    number = Counter[int]()
    rows = by_answer.order_by("session", "first_at", "first_version").values_list("session_id", "is_check", "ms")
    for session, is_check, ms in rows:
        number[session] += 1
        if not is_check:
            found[session].append(AnswerTime(number[session], None if ms is None else ms / 1000))
    return {session: SessionTimes(answers) for session, answers in found.items()}
