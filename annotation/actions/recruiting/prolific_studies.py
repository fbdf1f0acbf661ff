"""Studies on Prolific: draft, publish, pause, resume, add places, stop, and read their state.

Each action first writes what it is about to do, then asks Prolific, outside of transactions. Where a reply is lost, the
state is read before anything is decided, so that nothing happens twice.
"""

import secrets
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import datetime, timedelta
from decimal import Decimal

from django.db import transaction
from django.db.models import Q

from analytics.work.ledger import from_cents
from annotation.actions.recruiting.prolific_account import NOT_CONNECTED, SECONDS_IN_ALL, connect
from annotation.actions.recruiting.prolific_draft import Draft, body_of, current_body, stored_body
from annotation.actions.recruiting.prolific_people import join_filters, send_people
from annotation.models import ProlificAccount, ProlificStudy
from annotation.recruitment.prolific import bodies
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import ProlificError
from annotation.recruitment.prolific.researcher_codes import find_code
from annotation.recruitment.prolific.statuses import StudyStatus
from studies.actions.events import Actor, What, person, record
from studies.errors import StudyError
from studies.models import Project, Study, StudyState

_UNCERTAIN = "Prolific did not answer. It may or may not have done this. Try again: nothing is done twice."
# No request that creates a study is still on its way after this.
CREATION = timedelta(minutes=1)
# Of a study that has not been published, at Prolific or here alone.
DRAFT = frozenset({"", StudyStatus.UNPUBLISHED})
# Of a study in which people may still take places.
RUNNING = frozenset({StudyStatus.ACTIVE, StudyStatus.AWAITING_REVIEW, StudyStatus.PAUSED})
# Nobody takes part yet: a draft, or one that starts at a later time.
NOT_STARTED = DRAFT | {StudyStatus.SCHEDULED}


def account_of(project: Project) -> ProlificAccount:
    """Return the account that pays for a project's studies. Raises StudyError without one, or without a workspace."""
    account = ProlificAccount.objects.filter(project=project).first()
    if account is None:
        raise StudyError(NOT_CONNECTED)
    if not account.workspace_id:
        raise StudyError("No workspace is chosen to pay. An owner can choose one under Settings, Prolific.")
    return account


def workspace_of(prolific_study: ProlificStudy, account: ProlificAccount) -> str:
    """Return the workspace that a study on Prolific is in: the account may have another one by now."""
    return prolific_study.workspace_id or account.workspace_id


def current_study(study: Study) -> ProlificStudy | None:
    """Return the study on Prolific that sends people to `study`: the last one."""
    return study.prolific_studies.first()


def sends_people(*, study: Study, remote_id: str) -> bool:
    """Whether a study with this id at Prolific is one that was published from here."""
    return study.prolific_studies.filter(remote_id=remote_id).exists()


def researcher_code(prolific_study: ProlificStudy) -> str:
    """Return the code with which we complete a submission whose redirect was lost; "" if it has none."""
    return find_code(prolific_study.details, "MANUALLY_REVIEW")


def part_pay_code(prolific_study: ProlificStudy) -> str:
    """Return the code with which a share of the reward is paid; "" if the workspace may not."""
    return find_code(prolific_study.details, "DYNAMIC_PAYMENT")


# The draft


@transaction.atomic
def write_draft(*, study: Study, draft: Draft, by: Actor, now: datetime) -> ProlificStudy:
    """Write a draft here, in the place of an earlier one; `send_draft` brings it to Prolific. Raises StudyError."""
    # One at a time, so that a doubled click writes one draft.
    Study.objects.select_for_update(of=("self",), no_key=True).get(pk=study.pk)
    row = study.prolific_studies.exclude(status=StudyStatus.COMPLETED).first()
    if row is not None and row.status not in DRAFT:
        raise StudyError("The study is published on Prolific already. Add places there, or stop it first.")
    internal_name = row.internal_name if row else _new_internal_name(study)
    codes = {"completes": researcher_code(row), "pays_part": part_pay_code(row)} if row else {}
    details = body_of(draft, study=study, internal_name=internal_name, **codes).model_dump(mode="json")
    fields = {"details": details, "places": draft.places, "reward": draft.reward, "currency": draft.currency}
    if row is None:
        row = ProlificStudy.objects.create(
            study=study, internal_name=internal_name, created_by=person(by), created_at=now, **fields
        )
        _record(row, What.PROLIFIC_STUDY_DRAFTED, by, now)
    elif any(getattr(row, name) != value for name, value in fields.items()):
        ProlificStudy.objects.filter(pk=row.pk).update(**fields)
        _record(row, What.PROLIFIC_STUDY_CHANGED, by, now, places=draft.places)
    row.refresh_from_db()
    return row


def _new_internal_name(study: Study) -> str:
    return f"{study.project.slug[:40]}-{study.slug[:40]}-{secrets.token_hex(4)}"


def _record(row: ProlificStudy, what: What, by: Actor, now: datetime, **details: int) -> None:
    record(project=row.study.project, study=row.study, what=what, by=by, now=now, number=row.pk, **details)


def send_draft(*, prolific_study: ProlificStudy, now: datetime) -> None:
    """Create a draft on Prolific, or update it there; it is never created twice. Raises StudyError."""
    with _prolific(prolific_study) as (client, account):
        _send_draft(client, prolific_study, account, now=now)


def _send_draft(client: Client, row: ProlificStudy, account: ProlificAccount, *, now: datetime) -> None:
    """Write a draft in the workspace that pays now, also if it was in another one before."""
    body = current_body(row)
    ours = send_people(
        client, study=row.study, workspace=account.workspace_id, chosen=body.filters, needs_somebody=True
    )
    ProlificStudy.objects.filter(pk=row.pk).update(details=body.model_dump(mode="json"))
    body = body.model_copy(
        update={"filters": join_filters(body.filters, ours), "project": _find_project(client, row.study, account)}
    )
    remote_id = row.remote_id or _find_created(client, row)
    remote = _update(client, remote_id, body) if remote_id else None
    if remote is None:
        if remote_id:
            ProlificStudy.objects.filter(pk=row.pk, remote_id=remote_id).update(remote_id="", creation_sent_at=None)
        remote = _create(client, row, body, now=now)
    ProlificStudy.objects.filter(pk=row.pk).update(workspace_id=account.workspace_id)
    note_state(row, remote, now=now)


def _update(client: Client, remote_id: str, body: bodies.NewStudy) -> bodies.Study | None:
    """Update a draft; None if Prolific no longer has it, because it was deleted there or is in another account."""
    changes = {name: value for name, value in dict(body).items() if name in bodies.StudyChanges.model_fields}
    try:
        return client.update_study(remote_id, bodies.StudyChanges(**changes))
    except ProlificError as error:
        if error.status == 404:
            return None
        raise


def _find_project(client: Client, study: Study, account: ProlificAccount) -> str:
    """Return our folder in the workspace that pays; without one, Prolific would choose a workspace."""
    title = f"Lineup: {study.project.slug}"
    known = [one.id for one in client.list_projects(account.workspace_id) if one.title == title]
    return known[0] if known else client.create_project(account.workspace_id, title=title).id


def _find_created(client: Client, row: ProlificStudy) -> str:
    """Return the id of a draft whose creation was asked for but never confirmed; "" if Prolific does not have it."""
    row.refresh_from_db(fields=("remote_id", "creation_sent_at"))
    if row.remote_id or row.creation_sent_at is None:
        return row.remote_id
    return next((one.id for one in client.list_studies() if one.internal_name == row.internal_name), "")


def _create(client: Client, row: ProlificStudy, body: bodies.NewStudy, *, now: datetime) -> bodies.Study:
    """Create a draft, unless another request is doing so at this moment."""
    may_be_sent = Q(creation_sent_at=None) | Q(creation_sent_at__lte=now - CREATION)
    mine = ProlificStudy.objects.filter(may_be_sent, pk=row.pk, remote_id="")
    if not mine.update(creation_sent_at=now):
        raise StudyError(
            "Prolific may or may not have created the draft. "
            "Try again in a minute: it is looked for first, and not created twice."
        )
    try:
        return client.create_study(body)
    except ProlificError as error:
        if not error.is_uncertain:
            ProlificStudy.objects.filter(pk=row.pk).update(creation_sent_at=None)
        raise


# Changes of a study on Prolific


@dataclass(frozen=True)
class _Move:
    """A change of a study's status. done: the statuses after it, also if something else brought them about."""

    send: Callable[[Client, str], bodies.Study]
    done: Callable[[str], bool]
    what: What


_PUBLISH = _Move(Client.publish_study, lambda status: status not in NOT_STARTED, What.PROLIFIC_STUDY_PUBLISHED)
_PAUSE = _Move(Client.pause_study, lambda status: status == StudyStatus.PAUSED, What.PROLIFIC_STUDY_PAUSED)
_RESUME = _Move(
    Client.resume_study,
    lambda status: status in {StudyStatus.ACTIVE, StudyStatus.AWAITING_REVIEW},
    What.PROLIFIC_STUDY_RESUMED,
)
_STOP = _Move(Client.stop_study, lambda status: status == StudyStatus.COMPLETED, What.PROLIFIC_STUDY_STOPPED)


def publish(*, prolific_study: ProlificStudy, by: Actor, now: datetime) -> None:
    """Publish a draft as it was last written here. Raises StudyError."""
    row = prolific_study
    _check_state(row, StudyState.OPEN)
    with _prolific(row) as (client, account):
        if row.remote_id:
            remote = client.read_study(row.remote_id)
            if _PUBLISH.done(remote.status):
                note_state(row, remote, now=now, event=(_PUBLISH.what, by))
                return
        _check_currency(row, client.read_balance(account.workspace_id).currency_code)
        try:
            _send_draft(client, row, account, now=now)
        except ProlificError as error:
            # Another request may have published it meanwhile: then it can no longer be changed.
            if not (row.remote_id and error.status == 400):
                raise
        _move(client, row, _PUBLISH, by=by, now=now)


def pause(*, prolific_study: ProlificStudy, by: Actor, now: datetime) -> None:
    """Stop people from taking places; those who have one can finish. Raises StudyError."""
    with _prolific(prolific_study) as (client, _):
        _move(client, prolific_study, _PAUSE, by=by, now=now)


def resume(*, prolific_study: ProlificStudy, by: Actor, now: datetime) -> None:
    """Let people take places again. Raises StudyError."""
    _check_state(prolific_study, StudyState.OPEN)
    with _prolific(prolific_study) as (client, account):
        _send_people(client, prolific_study, account)
        _move(client, prolific_study, _RESUME, by=by, now=now)


def stop(*, prolific_study: ProlificStudy, by: Actor, now: datetime) -> None:
    """End a study on Prolific; people who have a place can finish. Raises StudyError."""
    with _prolific(prolific_study) as (client, _):
        _move(client, prolific_study, _STOP, by=by, now=now)


def raise_places(*, prolific_study: ProlificStudy, places: int, by: Actor, now: datetime) -> None:
    """Set how many places a published study has; it can only get more. Twice equals once. Raises StudyError."""
    # Of a paused study, people may come once it goes on.
    _check_state(prolific_study, StudyState.OPEN, StudyState.PAUSED)
    with _prolific(prolific_study) as (client, account):
        remote = client.read_study(prolific_study.remote_id)
        if places < remote.total_available_places:
            note_state(prolific_study, remote, now=now)
            raise StudyError(
                f"The study has {remote.total_available_places} places on Prolific. "
                f"Enter a larger number: you entered {places}."
            )
        if places > remote.total_available_places:
            _check_currency(prolific_study, remote.currency_code)
            _send_people(client, prolific_study, account)
            remote = _repeat_safely(
                client,
                prolific_study,
                lambda: client.set_places(prolific_study.remote_id, places),
                lambda after: after.total_available_places >= places,
            )
        note_state(prolific_study, remote, now=now, event=(What.PROLIFIC_PLACES_ADDED, by))


def refresh(*, prolific_study: ProlificStudy, now: datetime) -> bodies.StudyCost | None:
    """Read a study from Prolific, bring its groups of people up to date, and return what it has cost.

    None for one that Prolific never got. Raises StudyError.
    """
    row = prolific_study
    with _prolific(row) as (client, account):
        remote_id = row.remote_id or _find_created(client, row)
        if not remote_id:
            return None
        remote = client.read_study(remote_id)
        if remote.status != StudyStatus.COMPLETED:
            _send_people(client, row, account)
        cost = client.read_cost(remote_id)
        note_state(row, remote, now=now)
        _check_currency(row, remote.currency_code)
        return cost


def update_people(*, prolific_study: ProlificStudy) -> None:
    """Bring the groups of people whom a study keeps out, or is for, up to date on Prolific.

    Raises StudyError and ProlificError.
    """
    account = account_of(prolific_study.study.project)
    client = connect(account)
    with client.within(SECONDS_IN_ALL):
        _send_people(client, prolific_study, account)


def _send_people(client: Client, row: ProlificStudy, account: ProlificAccount) -> None:
    chosen = stored_body(row).filters
    send_people(client, study=row.study, workspace=workspace_of(row, account), chosen=chosen)


def _move(client: Client, row: ProlificStudy, move: _Move, *, by: Actor, now: datetime) -> None:
    row.refresh_from_db(fields=("remote_id",))
    remote = client.read_study(row.remote_id)
    if not move.done(remote.status):
        remote = _repeat_safely(
            client, row, lambda: move.send(client, row.remote_id), lambda after: move.done(after.status)
        )
    note_state(row, remote, now=now, event=(move.what, by))


def _repeat_safely(
    client: Client, row: ProlificStudy, send: Callable[[], bodies.Study], is_done: Callable[[bodies.Study], bool]
) -> bodies.Study:
    """Send a write; if its reply is lost or says no, read whether it happened, by this request or another."""
    try:
        return send()
    except ProlificError as error:
        if not (error.is_uncertain or error.status == 400):
            raise
        remote = client.read_study(row.remote_id)
        if is_done(remote):
            return remote
        if error.is_uncertain:
            raise ProlificError(
                "Prolific did not answer, and the study there is unchanged. Try again.", status=None, body=None
            ) from error
        raise


@contextmanager
def _prolific(row: ProlificStudy) -> Iterator[tuple[Client, ProlificAccount]]:
    """Connect with the account that pays. What Prolific refuses is kept with the study. Raises StudyError."""
    try:
        account = account_of(row.study.project)
        client = connect(account)
        with client.within(SECONDS_IN_ALL):
            yield client, account
    except ProlificError as error:
        sentence = _UNCERTAIN if error.is_uncertain else error.sentence
        _keep_problem(row, sentence)
        raise StudyError(sentence) from error
    except StudyError as error:
        _keep_problem(row, str(error))
        raise


def _keep_problem(row: ProlificStudy, sentence: str) -> None:
    ProlificStudy.objects.filter(pk=row.pk).update(problem=sentence)


def _check_state(row: ProlificStudy, *fitting: StudyState) -> None:
    """Raise StudyError unless the study here has one of these states: else people would come for nothing."""
    if row.study.state not in fitting:
        state = row.study.get_state_display().lower()
        raise StudyError(f"The study here is {state}, so people could not take part. Open or resume it first.")


def _check_currency(row: ProlificStudy, currency: str) -> None:
    """Raise StudyError if the account pays in another currency than the one that the reward was chosen in."""
    if currency and currency != row.currency:
        reward = Decimal(row.reward).quantize(Decimal("0.01"))
        raise StudyError(
            f"The account pays in {currency} now, and the reward of {reward} was chosen in {row.currency}. "
            + ("Save the draft again with a reward in the new currency." if row.status in DRAFT else "Stop the study.")
        )


@transaction.atomic
def note_state(
    row: ProlificStudy, remote: bodies.Study, *, now: datetime, event: tuple[What, Actor] | None = None
) -> None:
    """Write what Prolific says of a study; the event is recorded if this changes something."""
    there = ProlificStudy.objects.select_for_update(of=("self",)).get(pk=row.pk)
    if there.status not in NOT_STARTED and remote.status in NOT_STARTED:
        # It was read before another request published it.
        return
    before = there.status, there.places
    there.remote_id, there.status, there.problem = remote.id, remote.status, ""
    there.places = remote.total_available_places
    there.places_taken = there.places_taken if remote.places_taken is None else remote.places_taken
    if remote.status not in NOT_STARTED:
        if there.published_at is None:
            # Somebody may have changed it on Prolific's own page before. From now on it stays.
            there.published_at, there.reward = now, from_cents(remote.reward)
        # Its submissions are read at once, and from then on.
        there.due_at = now
    changed = ("remote_id", "status", "problem", "places", "places_taken", "published_at", "reward", "due_at")
    there.save(update_fields=changed)
    if event and before != (there.status, there.places):
        what, by = event
        _record(there, what, by, now, places=there.places)
    row.refresh_from_db()
