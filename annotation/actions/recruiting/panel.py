"""Panels: add and remove people, sign them in by an emailed link, and list their studies and sessions."""

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.core import signing
from django.db import transaction
from django.db.models import Count, Max, QuerySet, Sum
from django.utils.translation import gettext, gettext_noop

from annotation.actions import sessions
from annotation.errors import AnnotationError, CannotTakePart
from annotation.language import format_day, translate
from annotation.models import Annotator, PanelMember, Payment, Response, Session
from annotation.models.sessions import OPEN_STATES, TAKEN_PART, SessionState
from annotation.money import format_amount
from annotation.recruitment import invite
from annotation.recruitment.base import Entry, normalize_id
from annotation.session_pay import compute_pay
from background.sealed_secrets import CannotUnseal, keyed_digest, keyed_digests, seal, unseal
from studies.actions.events import Actor, What, person, record
from studies.models import Project, Study, StudyState

# A link that lies in a mailbox for longer is worth more to others than to its owner.
LINK_LASTS = timedelta(minutes=30)
_SALT = "annotation.panel"
# Of the digests of addresses.
PURPOSE = "panel address"
_UNFINISHED = gettext_noop("Not finished")
# What an annotator reads about their own session; any other state is unfinished.
_ENDINGS = {
    SessionState.FINISHED: gettext_noop("Finished"),
    SessionState.NO_CONSENT: gettext_noop("You did not agree to take part"),
    SessionState.FAILED_CHECKS: gettext_noop("You did not pass the practice"),
    SessionState.LEFT_OUT: gettext_noop("Ended after too many skipped questions"),
    SessionState.WITHDRAWN: gettext_noop("You withdrew your consent"),
    SessionState.STOPPED: gettext_noop("Ended by the researchers"),
    SessionState.GIVEN_UP: gettext_noop("Stopped early"),
    SessionState.RETURNED: gettext_noop("Returned"),
    SessionState.LAPSED: gettext_noop("The time was over"),
    SessionState.SUPERSEDED: gettext_noop("Continued in another session"),
    SessionState.WAITED: gettext_noop("No question came"),
}


class BadLink(Exception):
    """The link is not ours, is too old, or was used."""


@dataclass(frozen=True)
class PanelSession:
    """A session as its annotator sees it. `owed` and `paid` are in whole units of `currency`."""

    study: Study
    token: str
    state: SessionState
    began: datetime
    took: timedelta | None
    answers: int
    owed: Decimal
    to_decide: bool
    paid: Decimal
    currency: str

    @property
    def is_open(self) -> bool:
        return self.state in OPEN_STATES

    @property
    def minutes(self) -> int | None:
        """The time from the first page to the last, in whole minutes; None while it is open."""
        return None if self.took is None else round(self.took.total_seconds() / 60)

    @property
    def state_words(self) -> str:
        """How it ended, in the reader's language."""
        return translate(_ENDINGS.get(self.state, _UNFINISHED))

    @property
    def day(self) -> str:
        return format_day(self.began)

    @property
    def owed_amount(self) -> str:
        return format_amount(self.owed, self.currency)

    @property
    def paid_amount(self) -> str:
        return format_amount(self.paid, self.currency)


@dataclass(frozen=True)
class PaySum:
    """What is owed and what was paid, in whole units of `currency`."""

    currency: str
    owed: Decimal
    paid: Decimal

    @property
    def owed_amount(self) -> str:
        return format_amount(self.owed, self.currency)

    @property
    def paid_amount(self) -> str:
        return format_amount(self.paid, self.currency)


@dataclass(frozen=True)
class Total:
    """Minutes of all ended sessions, answers, and pay by currency."""

    minutes: int
    answers: int
    sums: list[PaySum]


@transaction.atomic
def add_to_panel(*, project: Project, addresses: Sequence[str], by: Actor, now: datetime) -> list[PanelMember]:
    """Add the people with these normalised addresses; return those who are new in the project."""
    # One list at a time: two lists with the same address would both make an annotator.
    Project.objects.select_for_update(of=("self",), no_key=True).get(pk=project.pk)
    added = []
    for address in addresses:
        known = _known(address)
        if known.filter(project=project).exists():
            continue
        elsewhere = known.select_related("annotator").first()
        added.append(
            PanelMember.objects.create(
                project=project,
                annotator=elsewhere.annotator if elsewhere else _new_annotator(),
                sealed_address=seal(address),
                address_digest=keyed_digest(address, purpose=PURPOSE),
                added_by=person(by),
                added_at=now,
            )
        )
    if added:
        record(project=project, what=What.PANEL_MEMBERS_ADDED, by=by, now=now, people=len(added))
    return added


def _known(address: str) -> QuerySet[PanelMember]:
    return PanelMember.objects.filter(address_digest__in=keyed_digests(address, purpose=PURPOSE)).order_by("pk")


def _new_annotator() -> Annotator:
    return Annotator.objects.create(provider=invite.PROVIDER, **Annotator.seal_id(invite.new_member()))


@transaction.atomic
def remove_from_panel(*, member: PanelMember, by: Actor, now: datetime) -> None:
    """Delete a person's address from a project. Sessions, answers and pay stay; open sessions go on."""
    record(project=member.project, what=What.PANEL_MEMBER_REMOVED, by=by, now=now)
    member.delete()


def address_of(member: PanelMember) -> str:
    """Return a member's mail address; "" if no key of the site opens it any more."""
    try:
        return unseal(member.sealed_address)
    except CannotUnseal:
        return ""


def find_annotator(address: str) -> Annotator | None:
    """Return who has this mail address in any panel."""
    member = _known(normalize_id(address)).select_related("annotator").first()
    return member.annotator if member else None


def make_link_key(annotator: Annotator) -> str:
    """Return the key of a link with which this annotator signs in, once, within half an hour."""
    return signing.dumps([annotator.pk, _last_sign_in(annotator.pk)], salt=_SALT)


def note_link_sent(*, annotator: Annotator, now: datetime) -> None:
    PanelMember.objects.filter(annotator=annotator).update(link_sent_at=now)


def check_link(key: str) -> int:
    """Return the number of the annotator whom a link signs in. Raises BadLink."""
    try:
        annotator, last = signing.loads(key, salt=_SALT, max_age=LINK_LASTS)
    except signing.BadSignature:
        raise BadLink from None
    if not PanelMember.objects.filter(annotator=annotator).exists() or _last_sign_in(annotator) != last:
        raise BadLink
    return int(annotator)


@transaction.atomic
def use_link(*, key: str, now: datetime) -> int:
    """Return the number of the annotator whom a link signs in; no link mailed before works again. Raises BadLink."""
    try:
        annotator, _ = signing.loads(key, salt=_SALT, max_age=LINK_LASTS)
    except signing.BadSignature:
        raise BadLink from None
    # Of two uses at once, the second finds the first.
    sessions.lock_annotator(Annotator.objects.filter(pk=annotator))
    check_link(key)
    PanelMember.objects.filter(annotator=annotator).update(signed_in_at=now)
    return int(annotator)


def _last_sign_in(annotator: int) -> str:
    last = PanelMember.objects.filter(annotator=annotator).aggregate(last=Max("signed_in_at"))["last"]
    return last.isoformat() if last else ""


def find_member(annotator: int) -> Annotator | None:
    """Return an annotator who is in a panel at present."""
    return Annotator.objects.filter(pk=annotator, panels__isnull=False).distinct().first()


def open_studies(annotator: Annotator, *, now: datetime) -> list[Study]:
    """Return the studies that they may begin or continue now, newest first."""
    projects = PanelMember.objects.filter(annotator=annotator).values("project")
    found = Study.objects.filter(project__in=projects, state=StudyState.OPEN, project__archived_at=None)
    return [study for study in found.order_by("-launched_at", "-pk") if _may_enter(study, annotator, now=now)]


def _may_enter(study: Study, annotator: Annotator, *, now: datetime) -> bool:
    if not study.design.recruitment.invite:
        return False
    try:
        entry = _entry(study, annotator)
        sessions.check_can_start(study=study, entry=entry, provider=invite.PROVIDER, now=now)
    except AnnotationError:
        return False
    session = sessions.find(study=study, entry=entry)
    return session is None or session.state in OPEN_STATES | {SessionState.LAPSED}


def start(*, study: Study, annotator: Annotator, now: datetime) -> Session:
    """Start or continue the annotator's session of a study of their panel. Raises AnnotationError."""
    return sessions.start(study=study, entry=_entry(study, annotator), now=now)


def may_see(study: Study, annotator: Annotator) -> bool:
    """Whether a study takes invited people, and the annotator is in the panel of its project."""
    in_panel = PanelMember.objects.filter(project=study.project_id, annotator=annotator)
    return study.design.recruitment.invite and in_panel.exists()


def came_through_panel(session: Session) -> bool:
    """Whether a session is of somebody in a panel, who may see their studies."""
    return session.provider == invite.PROVIDER and PanelMember.objects.filter(annotator=session.annotator_id).exists()


def _entry(study: Study, annotator: Annotator) -> Entry:
    """Return the arrival at the session after those that the annotator has completed. Raises CannotTakePart."""
    done = Session.objects.filter(study=study, annotator=annotator, state__in=TAKEN_PART).count()
    try:
        return invite.member_entry(annotator.provider_id, number=done + 1)
    except CannotUnseal as error:
        message = gettext("This site can no longer read your ID, so you cannot start.")
        raise CannotTakePart(message, gettext("Tell the researchers.")) from error


def panel_sessions(annotator: Annotator) -> list[PanelSession]:
    """Return all sessions of an annotator, newest first."""
    found = Session.objects.filter(annotator=annotator).select_related("study__project").order_by("-arrived_at", "-pk")
    stored = Response.objects.filter(session__annotator=annotator, is_current=True).order_by()
    answers = dict(stored.values_list("session").annotate(n=Count("pk")))
    paid = Payment.objects.filter(annotator=annotator, state=Payment.State.PAID).order_by()
    sums = dict(paid.values_list("session").annotate(sum=Sum("amount")))
    return [_panel_session(session, answers.get(session.pk, 0), sums.get(session.pk, Decimal(0))) for session in found]


def total_of(own: Sequence[PanelSession]) -> Total:
    """Return the total of sessions; minutes are those of the sessions' times together, rounded once."""
    took = sum((each.took for each in own if each.took is not None), timedelta())
    sums = [
        PaySum(
            currency,
            sum((each.owed for each in own if each.currency == currency), Decimal(0)),
            sum((each.paid for each in own if each.currency == currency), Decimal(0)),
        )
        for currency in sorted({each.currency for each in own})
    ]
    return Total(round(took.total_seconds() / 60), sum(each.answers for each in own), sums)


def _panel_session(session: Session, answers: int, paid: Decimal) -> PanelSession:
    design = session.study.design
    owed = compute_pay(session.state, answers, design, unlikely_times=session.has_unlikely_times)
    ended = session.handed_back_at or session.ended_at
    return PanelSession(
        study=session.study,
        token=session.token,
        state=SessionState(session.state),
        began=session.arrived_at,
        took=ended - session.arrived_at if ended else None,
        answers=answers,
        owed=owed.amount(),
        to_decide=owed.to_decide,
        paid=paid,
        currency=design.pay.currency,
    )
