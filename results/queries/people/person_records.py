"""What researchers recorded about a person, and what the person wrote themselves."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

from annotation.check_results import CheckedAnswer, checked_answers, count_passed, first_answers
from annotation.models import Block, PersonMessage, PersonNote, Report, Response, Session
from annotation.models.responses import LeftOut
from results.models import Pseudonym
from results.queries.instances.instance_history import answer_name, right_name
from results.queries.people.answer_times import (
    SessionTimes,
    SimultaneousSessions,
    simultaneous_sessions,
    times_by_session,
)
from results.queries.people.flagged_sessions import FlagLine, flags_by_session
from studies.kinds import KINDS, get_kind
from studies.models import Check

TEXTS_SHOWN = 20


@dataclass(frozen=True)
class OwnText:
    """A text of the person. where: what it was written for; instance: the address of what it is about, or ""."""

    where: str
    text: str
    at: datetime
    about: str = ""
    instance: str = ""


@dataclass(frozen=True)
class FailedCheck:
    """A failed check about an instance: its key and address, the answer, and the one expected.

    The answer expected of a repeat is the first one.
    """

    key: str
    address: str
    given: str
    expected: str


@dataclass(frozen=True)
class CheckResult:
    """How many checks of one type a session passed, of those with a result, and those that it failed."""

    title: str
    passed: int
    of: int
    failures: Sequence[FailedCheck]


def check_results(sessions: Sequence[int]) -> dict[int, list[CheckResult]]:
    """Return for each of `sessions` that answered checks its results, by type of check. Four queries at most."""
    checked = checked_answers(Response.objects.filter(session__in=sessions)) if sessions else []
    by_session: dict[int, list[CheckedAnswer]] = defaultdict(list)
    for each in checked:
        by_session[each.session].append(each)
    failures = _failures([each for each in checked if each.passed is False])
    return {
        session: [
            CheckResult(
                Check(name).label,
                each.passed,
                each.of,
                [failures[one.response] for one in answered if one.check == name and one.response in failures],
            )
            for name, each in count_passed(answered).items()
            if each.of
        ]
        for session, answered in by_session.items()
    }


def _failures(failed: Sequence[CheckedAnswer]) -> dict[int, FailedCheck]:
    """Return response -> the check that it failed."""
    given = Response.objects.filter(pk__in=[each.response for each in failed]).select_related("question__instance")
    responses = list(given) if failed else []
    firsts = first_answers(
        (each.question.source_id, each.annotator_id) for each in responses if each.question.check_type == Check.REPEAT
    )
    found = {}
    for each in responses:
        question = each.question
        is_repeat = question.check_type == Check.REPEAT
        first = firsts.get((question.source_id, each.annotator_id)) if is_repeat else None
        found[each.pk] = FailedCheck(
            key=question.instance.key,
            address=question.instance.name_in_address,
            given=answer_name(question, each),
            expected=right_name(question) if first is None else answer_name(question, first),
        )
    return found


@dataclass(frozen=True)
class PersonRecords:
    """flags, times, checks: by session. texts: latest first."""

    notes: Sequence[PersonNote]
    block: Block | None
    messages: Sequence[PersonMessage]
    flags: Mapping[int, Sequence[FlagLine]]
    times: Mapping[int, SessionTimes]
    checks: Mapping[int, Sequence[CheckResult]]
    texts: Sequence[OwnText]
    simultaneous: Sequence[SimultaneousSessions]


def records_of(person: Pseudonym, sessions: Sequence[Session], *, withdrew: bool) -> PersonRecords:
    """Return the records of `person` with their `sessions`; the number of queries is constant.

    withdrew: then what they wrote, did and were flagged for is left out.
    """
    about = {"project": person.project_id, "annotator": person.annotator_id}
    pks = [] if withdrew else [session.pk for session in sessions]
    return PersonRecords(
        notes=list(PersonNote.objects.filter(**about).select_related("by", "session__study")),
        block=Block.objects.in_force().filter(**about).select_related("by").first(),
        messages=list(PersonMessage.objects.filter(**about).select_related("by")),
        flags=flags_by_session(person.project, pks),
        times=times_by_session(pks),
        checks=check_results(pks),
        texts=[] if withdrew else _texts_of(person, sessions),
        simultaneous=[] if withdrew else simultaneous_sessions(sessions),
    )


def _texts_of(person: Pseudonym, sessions: Sequence[Session]) -> list[OwnText]:
    comments = [
        OwnText(f"Comment on the last page of {session.study.slug}", session.comment, session.ended_at)
        for session in sessions
        if session.comment and session.ended_at
    ]
    reports = Report.objects.filter(study__project=person.project_id, annotator=person.annotator_id)
    reported = [
        OwnText(
            f"Report: {report.get_reason_display().lower()}",
            report.words,
            report.at,
            report.question.instance.key,
            report.question.instance.name_in_address,
        )
        for report in reports.select_related("question__instance")[:TEXTS_SHOWN]
    ]
    written = [name for name in KINDS if get_kind(name).is_written]
    given = Response.objects.filter(
        study__project=person.project_id, annotator=person.annotator_id, is_current=True, question__kind__in=written
    ).exclude(left_out=LeftOut.WITHDRAWN)
    described = [
        OwnText(
            get_kind(response.question.kind).title,
            response.whole_answer,
            response.received_at,
            response.question.instance.key,
            response.question.instance.name_in_address,
        )
        for response in given.select_related("question__instance").order_by("-received_at", "-pk")[:TEXTS_SHOWN]
        if isinstance(response.whole_answer, str)
    ]
    return sorted([*comments, *reported, *described], key=lambda text: text.at, reverse=True)[:TEXTS_SHOWN]
