"""The sessions of a study whose submissions a researcher reviews."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import UTC
from decimal import Decimal

from django.db.models import Count, Sum
from django.utils.dateparse import parse_datetime

from annotation.actions.paying.order_payments import REWARDS, VOID
from annotation.models import Payment, Session, SessionState, Submission
from annotation.recruitment.prolific.researcher_codes import allows_parts
from annotation.recruitment.prolific.statuses import SubmissionStatus
from annotation.review_marks import review_marks
from annotation.session_pay import stored_answers
from results.models import Pseudonym
from results.queries.paying.study_money import LOST, ON_ITS_WAY
from results.queries.paying.switched_roles import took_part_in
from results.sentences import STATE_WORDS
from studies.models import Study

State = Payment.State


@dataclass(frozen=True)
class ReviewedSession:
    """A session and its submission. payments: ordered for it. minutes: on our clock and on Prolific's, if known.

    took_part: the session of the feeding study in which they took part instead.
    """

    submission: Submission
    name: str
    answers: int
    marks: Sequence[str]
    payments: Sequence[Payment]
    took_part: Session | None = None

    @property
    def pk(self) -> int:
        return self.submission.session_id or 0

    @property
    def as_list(self) -> "Sequence[ReviewedSession]":
        return [self]

    @property
    def session(self) -> Session | None:
        """The session in which they worked."""
        return self.took_part or self.submission.session

    @property
    def reward(self) -> Decimal:
        return self.submission.prolific_study.reward

    @property
    def own_minutes(self) -> float | None:
        session, arrived = self.session, self.submission.session
        if session is None or session.ended_at is None or arrived is None:
            return None
        return ((session.handed_back_at or session.ended_at) - arrived.arrived_at).total_seconds() / 60

    @property
    def platform_minutes(self) -> float | None:
        begun, ended = self.submission.started_at, self.submission.completed_at
        return (ended - begun).total_seconds() / 60 if begun and ended else None

    @property
    def is_finished(self) -> bool:
        return self.session is not None and self.session.state == SessionState.FINISHED

    @property
    def reward_payment(self) -> Payment | None:
        return next((each for each in self.payments if each.reason in REWARDS and each.state not in VOID), None)

    @property
    def awaits_review(self) -> bool:
        return self.submission.status == SubmissionStatus.AWAITING_REVIEW and self.reward_payment is None

    @property
    def is_lost(self) -> bool:
        """Whether they finished here, lost their place on Prolific and are not paid yet."""
        return self.is_finished and self.submission.status in LOST and not self._is_paid

    @property
    def _is_paid(self) -> bool:
        return any(each.state not in VOID for each in self.payments)

    @property
    def has_bonus(self) -> bool:
        """Whether the one bonus that a researcher may decide is ordered."""
        decided, cancelled = Payment.Reason.DECIDED, Payment.State.CANCELLED
        return any(each.reason == decided and each.state != cancelled for each in self.payments)

    @property
    def allows_parts(self) -> bool:
        return allows_parts(self.submission.prolific_study.details)


@dataclass
class Review:
    """Sessions of a study: ready to approve, marked, finished here but lost on Prolific, and others."""

    ready: list[ReviewedSession] = field(default_factory=list)
    marked: list[ReviewedSession] = field(default_factory=list)
    lost: list[ReviewedSession] = field(default_factory=list)
    others: list[ReviewedSession] = field(default_factory=list)

    @property
    def amount(self) -> Decimal:
        """Return the rewards of those that are ready, without the fee."""
        return sum((each.reward for each in self.ready), Decimal(0))


@dataclass(frozen=True)
class JustOrdered:
    """Rewards that were ordered at one `moment`, as addresses have it. states: in words, with numbers."""

    moment: str
    number: int
    amount: Decimal
    currency: str
    states: Sequence[tuple[str, int]]
    is_moving: bool


def ordered_at(study: Study, moment: str) -> JustOrdered | None:
    """Return the payments of `study` that were ordered at this moment, None without any."""
    try:
        at = parse_datetime(moment)
        if at is None or at.tzinfo is None:
            return None
        at = at.astimezone(UTC)
    except (ValueError, OverflowError):
        return None
    rows = Payment.objects.filter(study=study, ordered_at=at).order_by()
    found = list(rows.values_list("state", "currency").annotate(n=Count("pk"), amount=Sum("amount")))
    if not found:
        return None
    numbers = Counter[str]()
    for state, _, n, _ in found:
        # Planned for seconds only.
        numbers[STATE_WORDS[State.SENDING if state == State.PLANNED else State(state)].lower()] += n
    return JustOrdered(
        moment=moment,
        number=sum(numbers.values()),
        amount=sum((amount for *_, amount in found), Decimal(0)),
        currency=found[0][1],
        states=list(numbers.items()),
        is_moving=any(state in ON_ITS_WAY for state, *_ in found),
    )


def review_of(study: Study) -> Review:
    """Return all submissions of `study` with a session. Everybody has a name."""
    found = Review()
    for line in reviewed_sessions(study):
        if line.awaits_review:
            (found.ready if line.is_finished and not line.marks else found.marked).append(line)
        elif line.is_lost:
            found.lost.append(line)
        else:
            found.others.append(line)
    return found


def reviewed_sessions(study: Study, session: int | None = None) -> list[ReviewedSession]:
    """Return the submissions of `study` with a session, or that of one session."""
    rows = Submission.objects.filter(prolific_study__study=study, session__isnull=False)
    if session is not None:
        rows = rows.filter(session=session)
    submissions = list(rows.select_related("prolific_study", "session").order_by("completed_at", "pk"))
    sessions = [each.session_id for each in submissions if each.session_id is not None]
    for each in submissions:
        if each.session is not None:
            # Its design is read by the marks.
            each.session.study = study
    took_part = took_part_in(study, session)
    answers = stored_answers([took_part[pk].pk if pk in took_part else pk for pk in sessions])
    names = dict(Pseudonym.objects.filter(project=study.project_id).values_list("annotator_id", "name"))
    payments: dict[int, list[Payment]] = {pk: [] for pk in sessions}
    for payment in Payment.objects.filter(study=study, session__in=sessions).order_by("pk"):
        payments[payment.session_id or 0].append(payment)
    found = []
    for each in submissions:
        other = took_part.get(each.session_id or 0)
        number = answers.get(other.pk if other else each.session_id or 0, 0)
        found.append(
            ReviewedSession(
                submission=each,
                name=names.get(each.session.annotator_id, "") if each.session else "",
                answers=number,
                marks=review_marks(each, number, other),
                payments=payments.get(each.session_id or 0, []),
                took_part=other,
            )
        )
    return found
