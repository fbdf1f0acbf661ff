"""Sessions of a study for researchers, under pseudonyms: sorted, filtered and paginated."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, DurationField, Exists, ExpressionWrapper, F, OuterRef, Q, QuerySet, Subquery
from django.db.models.functions import Coalesce

from annotation.models import Identity, Removal, Session, SessionState, Submission
from annotation.models.sessions import OPEN_STATES, has_unlikely_times
from results.queries.studies.progress import pseudonym_in
from results.sentences import unlikely_times
from studies.models import Study

SESSIONS_PER_PAGE = 20
LATEST_FIRST = "-arrived"
# Column of the table -> its title, and what it is sorted by.
SORTS: Mapping[str, tuple[str, str]] = {
    "name": ("Annotator", "pseudonym"),
    "state": ("State", "state"),
    "answered": ("Answered", "questions_answered"),
    "arrived": ("Arrived", "arrived_at"),
    "seen": ("Last seen", "last_seen_at"),
    "minutes": ("Minutes", "took"),
}
# Sessions that do not fit their submissions on Prolific.
UNFIT = Q(submission__flag__gt="") | Q(identity=Identity.MISMATCH)
_TO_DECIDE = (Submission.Flag.NO_DATA, Submission.Flag.REDIRECT_LOST, Submission.Flag.WRONG_CODE)
IDENTITIES: Mapping[str, str] = {
    Identity.SIGNED: "Signed link",
    Identity.CONFIRMED: "Confirmed by Prolific",
    Identity.UNVERIFIED: "Not verified by Prolific yet",
    Identity.MISMATCH: "Somebody else's submission",
}
_REVIEW = Q(state=SessionState.LEFT_OUT) | has_unlikely_times()
STATES: Mapping[str, tuple[str, Q]] = {
    "open": ("In progress", Q(state__in=OPEN_STATES)),
    "finished": ("Finished", Q(state=SessionState.FINISHED)),
    "review": ("To review", _REVIEW),
    "unfit": ("Does not match Prolific", UNFIT),
    "other": ("Ended otherwise", ~Q(state__in=[*OPEN_STATES, SessionState.FINISHED])),
}


@dataclass(frozen=True)
class SessionLine:
    """A session as researchers see it. `minutes`: from arrival to its end, or until last seen.

    `more_time_at`: when its annotator requested more time, None if never. `evidence`: sentences on implausible times,
    "" if there is none or a researcher accepted them. `beside`: for an open session, the number of open ones that
    started from its network, itself included; 0 if unknown. `remote`: the status of its submission on Prolific, `flag`:
    what does not fit there, `identity`: who says that its ids are right; each in words, "" for nothing.
    """

    pk: int
    name: str
    state: str
    is_open: bool
    answered: int
    total: int
    arrived_at: datetime
    last_seen_at: datetime
    minutes: int
    more_time_at: datetime | None
    comment: str
    evidence: str
    beside: int
    remote: str
    flag: str
    identity: str


@dataclass(frozen=True)
class SessionFilter:
    """Which sessions a table shows, and in which order.

    `who`: part of a pseudonym. `state`: a key of `STATES`. `sort`: a key of `SORTS`, descending with a minus sign.
    """

    who: str = ""
    state: str = ""
    sort: str = LATEST_FIRST

    @property
    def is_narrow(self) -> bool:
        return bool(self.who or self.state)

    def toggle_order(self, column: str) -> str:
        """Return the order after a click on the heading of `column`: first ascending, then reversed."""
        return f"-{column}" if self.sort == column else column

    def direction(self, column: str) -> str:
        """Return the ARIA sort direction of `column`, "" if the table is sorted by another column."""
        return {column: "ascending", f"-{column}": "descending"}.get(self.sort, "")


def read_filter(fields: Mapping[str, str]) -> SessionFilter:
    """Return the filter in an address; unknown values are ignored."""
    state, sort = fields["state"], fields["sort"]
    return SessionFilter(
        fields["who"], state if state in STATES else "", sort if sort.removeprefix("-") in SORTS else LATEST_FIRST
    )


def session_lines(study: Study, page: Any, shown: SessionFilter = SessionFilter()) -> Page[Session]:
    """Return one page of the sessions of `study` as SessionLines."""
    sessions = named_sessions(study).annotate(
        until=Coalesce("ended_at", "last_seen_at"),
        took=ExpressionWrapper(F("until") - F("arrived_at"), output_field=DurationField()),
    )
    if shown.who:
        sessions = sessions.filter(pseudonym__icontains=shown.who)
    if shown.state:
        sessions = sessions.filter(STATES[shown.state][1])
    minus = "-" if shown.sort.startswith("-") else ""
    found: Page[Any] = Paginator(
        sessions.order_by(f"{minus}{SORTS[shown.sort.removeprefix('-')][1]}", "-id"), SESSIONS_PER_PAGE
    ).get_page(page)
    found.object_list = [session_line(session) for session in found.object_list]
    return found


def named_sessions(study: Study) -> QuerySet[Session]:
    """Return the sessions of `study` with the pseudonym of each annotator, and whether they withdrew."""
    withdrawals = Removal.objects.withdrawals().filter(project=study.project_id, annotator=OuterRef("annotator_id"))
    # Texts are deleted with consent; the session stays, as a record of payment.
    sessions = Session.objects.filter(study=study).select_related("submission")
    same = Session.objects.filter(study=OuterRef("study"), network=OuterRef("network"), state__in=OPEN_STATES)
    counted = same.exclude(network="").order_by().values("network").annotate(n=Count("pk")).values("n")
    return sessions.annotate(
        pseudonym=pseudonym_in(study), withdrew=Exists(withdrawals), beside=Coalesce(Subquery(counted), 0)
    )


def session_line(session: Any) -> SessionLine:
    """Return one of `named_sessions` for display."""
    until = session.ended_at or session.last_seen_at
    submission = getattr(session, "submission", None)
    return SessionLine(
        pk=session.pk,
        name=session.pseudonym or "",
        state=SessionState(session.state).label,
        is_open=session.state in OPEN_STATES,
        answered=session.questions_answered,
        total=session.questions_total,
        arrived_at=session.arrived_at,
        last_seen_at=session.last_seen_at,
        minutes=round((until - session.arrived_at).total_seconds() / 60),
        more_time_at=session.more_time_at,
        comment="" if session.withdrew else session.comment,
        evidence=unlikely_times(session.time_evidence) if session.has_unlikely_times else "",
        beside=session.beside if session.state in OPEN_STATES else 0,
        remote=submission.status.capitalize() if submission else "",
        flag=Submission.Flag(submission.flag).label if submission and submission.flag else "",
        identity=IDENTITIES.get(session.identity, ""),
    )


def count_without_session(study: Study) -> int:
    """Return how many submissions are flagged on Prolific whose participant has no session here."""
    return Submission.objects.filter(prolific_study__study=study, session=None).exclude(flag="").count()


def count_unfit(studies: Iterable[int]) -> dict[int, int]:
    """Return how many submissions of each study do not fit and wait for a researcher, by the study's number.

    What was paid without answers, and answers without a place, stay so: they are only shown on the study's page.
    """
    found = Submission.objects.filter(prolific_study__study__in=list(studies), flag__in=_TO_DECIDE).order_by()
    rows = found.values_list("prolific_study__study").annotate(Count("pk"))
    return dict(rows)
