"""Messages to annotators: by Prolific to its participants, by mail to people of a panel.

Each is a row before it is sent, and is sent at most once. As of payments (`annotation.actions.paying.payment_states`):
a worker claims a planned row as `sending`. Immediately before the call the row becomes `uncertain`, and stays it if
nothing is heard of the call: it is never sent again. A row that is `sending` for five minutes lost its worker before
that, and becomes `planned` again.
"""

from collections.abc import Callable
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Q

from annotation.actions.paying.payment_states import PASSING, SECONDS_TO_CALL, STALE
from annotation.actions.paying.submission_ids import without_ids
from annotation.actions.recruiting.panel import address_of
from annotation.actions.recruiting.prolific_account import connect_project
from annotation.errors import AnnotationError
from annotation.models import Annotator, PanelMember, PersonMessage, ProlificAccount, ProlificStudy, Session
from annotation.recruitment.prolific.connection import ProlificError
from annotation.recruitment.prolific.entry import PROVIDER as PROLIFIC
from background.sealed_secrets import CannotUnseal
from studies.actions.events import Actor, What, person, record
from studies.models import Project, Study
from studies.names import LONGEST_NOTE, problem_with_text

Channel, State = PersonMessage.Channel, PersonMessage.State
# Whoever means to write the same again waits for so long.
SENT_TWICE = timedelta(minutes=5)
UNHEARD = "No reply came, so it is unknown whether it arrived. It is not sent again. Look on the platform."
NO_ADDRESS = "They are no longer in the panel, or no key of this site decrypts their address."
NO_ID = "Their ID is deleted, or no key of this site decrypts it."
NO_STUDY = "This project has no study on Prolific that they took part in."


class CannotWrite(AnnotationError):
    """Nothing can be sent to this person; the message tells the researcher why."""


def find_channel(*, annotator: Annotator, project: Project) -> PersonMessage.Channel:
    """Return how `annotator` can be written to. Raises CannotWrite."""
    if PanelMember.objects.filter(project=project, annotator=annotator).exists():
        return Channel.MAIL
    if annotator.provider != PROLIFIC:
        raise CannotWrite("They came by an invitation link, so there is no address to write to.")
    if not annotator.sealed_id:
        raise CannotWrite(NO_ID)
    if not ProlificAccount.objects.filter(project=project).exists():
        raise CannotWrite("They came from Prolific. Connect this project to its account at Prolific to write to them.")
    if _remote_study(annotator, project) is None:
        raise CannotWrite(f"Prolific sends messages about one of its studies. {NO_STUDY}")
    return Channel.PROLIFIC


def _remote_study(annotator: Annotator, project: Project) -> ProlificStudy | None:
    """Return the latest study on Prolific from which the person came."""
    theirs = Session.objects.filter(annotator=annotator, study__project=project)
    came = Q(submissions__session__in=theirs) | Q(
        remote_id__in=theirs.exclude(provider_study_id="").values("provider_study_id")
    )
    found = ProlificStudy.objects.filter(came, study__project=project).exclude(remote_id="")
    return found.order_by("-created_at", "-pk").first()


@transaction.atomic
def write_message(*, annotator: Annotator, project: Project, text: str, by: Actor, now: datetime) -> PersonMessage:
    """Store a message that a worker sends. Raises CannotWrite.

    The same text by the same researcher within `SENT_TWICE` is one message, which is returned: its form was sent twice.
    """
    channel = find_channel(annotator=annotator, project=project)
    if not text.strip():
        raise CannotWrite("The message is empty. Write a text.")
    if problem := problem_with_text(text, LONGEST_NOTE):
        raise CannotWrite(f"The message cannot be sent. {problem}")
    # Of two at the same moment, the second waits here and then finds the first.
    Annotator.objects.select_for_update(no_key=True).get(pk=annotator.pk)
    author, text = person(by), text.strip()
    same = PersonMessage.objects.filter(project=project, annotator=annotator, text=text, by=author)
    same = same.filter(at__gt=now - SENT_TWICE).exclude(state=State.REFUSED)
    if (sent := same.first()) is not None:
        return sent
    message = PersonMessage.objects.create(
        project=project,
        annotator=annotator,
        channel=channel,
        text=text,
        by=author,
        at=now,
        state_at=now,
    )
    record(project=project, what=What.MESSAGE_REQUESTED, by=by, now=now, annotator=annotator.pk)
    return message


def send_planned(
    *, mail: Callable[[PersonMessage, str, Study], bool], can_mail: Callable[[], bool], now: Callable[[], datetime]
) -> None:
    """Send all messages that wait. mail: sends a text to an address, returns whether the server took it; it raises
    OSError if that is unknown. can_mail: whether a mail server lets this site in.
    """
    lost = PersonMessage.objects.filter(state=State.SENDING, state_at__lt=now() - STALE)
    lost.update(state=State.PLANNED, state_at=now())
    waiting = PersonMessage.objects.filter(state=State.PLANNED).order_by("pk")
    for message in waiting.select_related("annotator", "project"):
        if not _move(message, State.SENDING, now()):
            continue
        if message.channel == Channel.PROLIFIC:
            _send_on_prolific(message, now)
        else:
            _send_by_mail(message, mail, can_mail, now)


def _send_on_prolific(message: PersonMessage, now: Callable[[], datetime]) -> None:
    try:
        recipient = message.annotator.provider_id
    except CannotUnseal:
        recipient = ""
    remote = _remote_study(message.annotator, message.project)
    if not recipient or remote is None:
        _move(message, State.REFUSED, now(), NO_ID if remote else NO_STUDY)
        return
    try:
        client = connect_project(message.project)
        with client.within(SECONDS_TO_CALL):
            if _move(message, State.UNCERTAIN, now(), UNHEARD):
                client.send_message(recipient, study=remote.remote_id, text=message.text)
                _move(message, State.SENT, now())
    except ProlificError as error:
        if error.is_uncertain:
            _move(message, State.UNCERTAIN, now(), UNHEARD)
        elif error.status in PASSING:
            _move(message, State.PLANNED, now(), f"{without_ids(error)} This site tries again every minute.")
        else:
            _move(message, State.REFUSED, now(), without_ids(error))


def _send_by_mail(
    message: PersonMessage,
    mail: Callable[[PersonMessage, str, Study], bool],
    can_mail: Callable[[], bool],
    now: Callable[[], datetime],
) -> None:
    member = PanelMember.objects.filter(project=message.project, annotator=message.annotator).first()
    address = address_of(member) if member else ""
    sat = Session.objects.filter(annotator=message.annotator, study__project=message.project)
    last = sat.select_related("study").order_by("-arrived_at", "-pk").first()
    if not address or last is None:
        _move(message, State.REFUSED, now(), NO_ADDRESS)
        return
    if not can_mail():
        _move(message, State.PLANNED, now(), "The mail server does not answer. This site tries again every minute.")
        return
    if not _move(message, State.UNCERTAIN, now(), UNHEARD):
        return
    try:
        is_taken = mail(message, address, last.study)
    except OSError:
        return
    _move(message, State.SENT if is_taken else State.REFUSED, now(), "" if is_taken else "The mail server refused it.")


def _move(message: PersonMessage, state: PersonMessage.State, now: datetime, problem: str = "") -> bool:
    """Change the state of a message that nobody has changed since it was read; return whether it was changed."""
    unchanged = PersonMessage.objects.filter(pk=message.pk, state=message.state, state_at=message.state_at)
    if not unchanged.update(state=state, state_at=now, problem=problem):
        return False
    message.state, message.state_at, message.problem = state, now, problem
    return True
