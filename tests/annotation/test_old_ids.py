"""Ids of people are deleted a stated time after their last session; answers, sessions and pseudonyms stay."""

from collections.abc import Callable
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from pytest_django import Settings

from annotation import tasks
from annotation.actions import sessions
from annotation.actions.arriving import suspicious_arrivals
from annotation.actions.removing.old_ids import delete_old_ids
from annotation.models import (
    Annotator,
    EntryEvent,
    GroupMember,
    Payment,
    ProlificStudy,
    Response,
    Session,
    SessionState,
    Submission,
)
from annotation.recruitment.base import Entry
from background.sealed_secrets import keyed_digest, seal
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from studies.models import Event, Project, Study, StudyState
from tests.factories import NOON, answer, launch_study, make_project, sit_down
from tests.people import make_annotator

pytestmark = pytest.mark.django_db
YEAR = timedelta(days=365)
LATER = NOON + YEAR + timedelta(days=1)


def delete() -> int:
    return delete_old_ids(by="timetable", now=LATER)


def finished(person: str = "ann", **fields: Any) -> Session:
    """Return an ended session in a study that is closed now."""
    study = Study.objects.first() or launch_study(answers=3)
    session = sit_down(study, person, state=SessionState.RETURNED, **fields)
    Study.objects.update(state=StudyState.CLOSED, closed_at=NOON)
    Annotator.objects.update(created_at=NOON)
    return session


def submission_of(session: Session | None, study: Study, remote_id: str) -> Submission:
    at_prolific = ProlificStudy.objects.create(
        study=study, internal_name=remote_id, places=1, reward=1, currency="USD", created_at=NOON
    )
    return Submission.objects.create(
        prolific_study=at_prolific,
        session=session,
        sealed_id=seal(remote_id),
        id_digest=keyed_digest(remote_id, purpose="submission"),
        status="APPROVED",
        read_at=NOON,
    )


def pay(session: Session, state: Payment.State) -> None:
    Payment.objects.create(
        study=session.study,
        annotator=session.annotator,
        session=session,
        reason=Payment.Reason.REWARD,
        amount=Decimal("2.00"),
        currency="USD",
        ordered_at=NOON,
        state=state,
        state_at=NOON,
    )


def test_ids_are_deleted_and_everything_else_stays() -> None:
    study = launch_study(answers=3)
    session = sit_down(study, "ann")
    answer(session, study.questions.order_by("pk")[0], "candidate-0")
    sessions.leave(session=session, to=SessionState.GIVEN_UP, now=NOON)
    Study.objects.update(state=StudyState.CLOSED, closed_at=NOON)
    Annotator.objects.update(created_at=NOON)
    name_annotators(project=study.project)
    name = Pseudonym.objects.get().name
    assert delete() == 1
    (ann,) = Annotator.objects.all()
    assert (ann.sealed_id, ann.id_digest, ann.provider) == ("", None, "prolific")
    session.refresh_from_db()
    assert (session.sealed_id, session.id_digest, session.state) == ("", None, SessionState.GIVEN_UP)
    assert Response.objects.get().annotator == ann
    assert Pseudonym.objects.get() == Pseudonym.objects.get(annotator=ann, name=name)
    event = Event.objects.get(what="provider ids deleted")
    assert (event.project, event.by_name, event.details) == (study.project, "timetable", {"people": 1})
    assert delete() == 0
    assert Event.objects.filter(what="provider ids deleted").count() == 1


def test_who_returns_afterwards_is_somebody_new() -> None:
    session = finished()
    delete()
    study = launch_study(session.study.project, study="second", answers=3)
    again = sessions.start(study=study, entry=Entry(provider="prolific", person="ann", session_id="new"), now=LATER)
    assert again.annotator != session.annotator


def _in_an_open_study() -> None:
    Study.objects.filter(pk=finished().study_id).update(state=StudyState.OPEN, closed_at=None)


def _in_a_paused_study() -> None:
    Study.objects.filter(pk=finished().study_id).update(state=StudyState.PAUSED, closed_at=None)


def _in_another_open_study() -> None:
    sit_down(launch_study(finished().study.project, study="second", answers=3), "ann", state=SessionState.RETURNED)


def _seen_within_the_year() -> None:
    finished(last_seen_at=NOON + timedelta(days=2))


def _blocked() -> None:
    Annotator.objects.filter(pk=finished().annotator_id).update(blocked=True)


def _in_a_group() -> None:
    session = finished()
    GroupMember.objects.create(project=session.study.project, group="trained", annotator=session.annotator)


def _in_a_group_of_another_project() -> None:
    GroupMember.objects.create(project=make_project("other"), group="trained", annotator=finished().annotator)


def _still_read_from_prolific() -> None:
    session = finished()
    submission_of(session, session.study, "s1")
    ProlificStudy.objects.update(due_at=LATER)


@pytest.mark.parametrize(
    "prepare",
    [
        _in_an_open_study,
        _in_a_paused_study,
        _in_another_open_study,
        _seen_within_the_year,
        _blocked,
        _in_a_group,
        _in_a_group_of_another_project,
        _still_read_from_prolific,
    ],
)
def test_ids_are_kept_while_they_are_needed(prepare: Callable[[], None]) -> None:
    prepare()
    assert delete() == 0
    assert Annotator.objects.with_id("prolific", ["ann"]).exists()


@pytest.mark.parametrize("state", Payment.State)
def test_ids_are_kept_until_every_payment_is_settled(state: Payment.State) -> None:
    pay(finished(), state)
    assert delete() == (1 if state in {"paid", "refused", "cancelled"} else 0)


def test_a_group_of_an_archived_project_keeps_nobody() -> None:
    session = finished()
    GroupMember.objects.create(project=session.study.project, group="trained", annotator=session.annotator)
    Project.objects.update(archived_at=NOON)
    assert delete() == 1


def test_only_old_ids_are_deleted() -> None:
    """A year after the last visit to the minute, and not before; a person without a session from their first day."""
    finished("ann", last_seen_at=LATER - YEAR)
    finished("ben", last_seen_at=LATER - YEAR - timedelta(minutes=1))
    make_annotator("cleo")
    make_annotator("dora")
    Annotator.objects.with_id("prolific", ["cleo"]).update(created_at=LATER - YEAR)
    Annotator.objects.with_id("prolific", ["dora"]).update(created_at=LATER - YEAR - timedelta(minutes=1))
    assert delete() == 2
    found = Annotator.objects.exclude(id_digest=None)
    assert sorted(each.provider_id for each in found) == ["ann", "cleo"]


def test_submissions_lose_their_ids_too_also_those_of_people_who_never_arrived() -> None:
    session = finished()
    mine, strangers = (submission_of(each, session.study, name) for each, name in ((session, "s1"), (None, "s2")))
    kept = submission_of(None, session.study, "s3")
    Submission.objects.filter(pk=kept.pk).update(read_at=LATER)
    assert delete() == 1
    for submission, remote_id in ((mine, "s1"), (strangers, "s2")):
        submission.refresh_from_db()
        assert submission.sealed_id == ""
        assert submission.id_digest != keyed_digest(remote_id, purpose="submission")
    kept.refresh_from_db()
    assert kept.id_digest == keyed_digest("s3", purpose="submission")


def test_suspicious_arrivals_of_theirs_become_counts() -> None:
    session = finished()
    for person in ("ann", "ben"):
        suspicious_arrivals.note(study=session.study, what=EntryEvent.What.NO_SEAT, person=person, now=NOON)
    delete()
    assert sorted(bool(event.who) for event in EntryEvent.objects.all()) == [False, True]


def test_the_setting_says_after_how_many_days_and_0_is_never(settings: Settings) -> None:
    finished()
    settings.IDS_KEPT_DAYS = 0
    assert delete() == 0
    settings.IDS_KEPT_DAYS = 400
    assert delete() == 0
    settings.IDS_KEPT_DAYS = 366
    assert delete_old_ids(by="timetable", now=LATER + timedelta(minutes=1)) == 1


def test_the_task_says_in_the_log_that_the_key_of_the_ids_is_missing(
    settings: Settings, caplog: pytest.LogCaptureFixture
) -> None:
    settings.ENCRYPTION_KEYS = ["an-old-key-of-the-site-0123456789ab"]
    finished()
    tasks.delete_old_ids()
    assert "cannot be decrypted" not in caplog.text
    settings.ENCRYPTION_KEYS = []
    tasks.delete_old_ids()
    assert "The ids of people cannot be decrypted: their key is missing." in caplog.text


def test_ids_that_no_key_opens_are_deleted_as_well(settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = ["an-old-key-of-the-site-0123456789ab"]
    finished()
    settings.ENCRYPTION_KEYS = []
    assert delete() == 1
