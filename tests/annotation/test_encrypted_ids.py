"""Ids of people and sessions are encrypted in the database, and found by a digest under any key of the site."""

import pytest
from django.db import IntegrityError, connection, transaction
from pytest_django import Settings

from annotation.actions import sessions
from annotation.actions.arriving import groups, suspicious_arrivals
from annotation.actions.removing import erasure, removals
from annotation.errors import OtherPerson
from annotation.models import Annotator, EntryEvent, GroupMember, Session
from annotation.models.sessions import SessionState
from annotation.recruitment.base import Entry
from annotation.recruitment.invite import named_entry
from tests.factories import NOON, launch_study, make_project, sit_down
from tests.people import make_annotator

pytestmark = pytest.mark.django_db
OLD, NEW = "an-old-key-of-the-site-0123456789ab", "a-new-key-of-the-site-0123456789abc"
PERSON, SUBMISSION = "5f00aa00aa00aa00aa00aa01", "60ff00bb00bb00bb00bb0b01"


def entry(person: str = PERSON, session: str = SUBMISSION, **written: str) -> Entry:
    return Entry(provider="prolific", person=person, session_id=session, **written)


def test_the_database_holds_no_id_in_clear() -> None:
    study = launch_study(answers=3)
    sessions.start(study=study, entry=entry(), now=NOON)
    sessions.start(study=study, entry=named_entry("José Ñandú"), now=NOON)
    with connection.cursor() as cursor:
        for table in ("annotation_annotator", "annotation_session"):
            cursor.execute(f"SELECT * FROM {table}")  # noqa: S608 (names of ours)
            rows = cursor.fetchall()
            assert len(rows) == 2
            assert not any(secret in str(rows) for secret in (PERSON, SUBMISSION, "José", "name:"))


def test_a_person_is_found_after_the_key_was_replaced(settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [OLD]
    study, other = launch_study(answers=3), launch_study(make_project("second"), answers=3)
    first = sessions.start(study=study, entry=entry(), now=NOON)
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    assert sessions.start(study=study, entry=entry(), now=NOON) == first
    assert sessions.start(study=other, entry=entry(session="new"), now=NOON).annotator == first.annotator


def test_ids_that_an_older_version_stored_as_written_are_found() -> None:
    """Older versions kept the case; the link still has it."""
    study = launch_study(answers=3)
    ann = make_annotator("5F00AA")
    session = sit_down(study, "5F00AA", **Session.seal_id("60FF"))
    link = entry("5f00aa", "60ff", person_as_written="5F00AA", session_as_written="60FF")
    assert sessions.start(study=study, entry=link, now=NOON) == session
    newer = entry("5f00aa", "new", person_as_written="5F00AA")
    assert sessions.start(study=launch_study(make_project("second"), answers=3), entry=newer, now=NOON).annotator == ann


def test_of_two_spellings_the_normalised_one_is_preferred() -> None:
    make_annotator("5F00AA")
    normalised = make_annotator("5f00aa")
    link = entry("5f00aa", person_as_written="5F00AA")
    assert sessions.start(study=launch_study(answers=3), entry=link, now=NOON).annotator == normalised


def test_a_link_in_another_spelling_than_the_stored_one_is_the_same_persons() -> None:
    study = launch_study(answers=3)
    session = sit_down(study, "Ann.", **Session.seal_id("s1"))
    assert sessions.find(study=study, entry=entry("ann", "s1", person_as_written="ANN")) == session
    with pytest.raises(OtherPerson):
        sessions.find(study=study, entry=entry("ben", "s1"))


def test_a_session_whose_person_cannot_be_read_any_more_is_somebody_elses(settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [OLD]
    ann = make_annotator("Ann.")
    settings.ENCRYPTION_KEYS = [NEW]
    study = launch_study(answers=3)
    session = sit_down(study, "ben", **Session.seal_id("s1"))
    Session.objects.filter(pk=session.pk).update(annotator=ann)
    with pytest.raises(OtherPerson):
        sessions.find(study=study, entry=entry("ann", "s1"))


def test_one_id_is_one_person_and_one_session_of_a_study() -> None:
    make_annotator("ann")
    make_annotator("ann", provider="invite")
    with pytest.raises(IntegrityError), transaction.atomic():
        make_annotator("ann")
    study = launch_study(answers=3)
    sit_down(study, "ben", **Session.seal_id("s1"))
    with pytest.raises(IntegrityError), transaction.atomic():
        sit_down(study, "cleo", **Session.seal_id("s1"))


def test_any_number_of_ids_may_be_deleted() -> None:
    for person in ("ann", "ben"):
        make_annotator(person)
    Annotator.objects.update(sealed_id="", id_digest=None)
    assert [each.provider_id for each in Annotator.objects.all()] == ["", ""]
    assert not Annotator.objects.with_id("prolific", ["ann", ""]).exists()


def test_members_of_a_group_are_found_after_the_key_was_replaced(settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [OLD]
    project = make_project()
    ann = make_annotator("ann")
    settings.ENCRYPTION_KEYS = [NEW, OLD]
    people = ["ann", "ben", "ann"]
    count = groups.set_group(project=project, group="trained", provider="prolific", people=people, by="tests", now=NOON)
    assert count == 2
    assert set(GroupMember.objects.values_list("annotator", flat=True)) == set(
        Annotator.objects.values_list("pk", flat=True)
    )
    assert Annotator.objects.filter(pk=ann.pk).exists()
    assert Annotator.objects.count() == 2


def test_a_person_whose_id_no_key_opens_can_still_be_erased(settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = [OLD]
    study = launch_study(answers=3)
    session = sit_down(study, "ann", state=SessionState.RETURNED)
    settings.ENCRYPTION_KEYS = [NEW]
    removals.withdraw(annotator=session.annotator, project=study.project, by="tests", now=NOON)
    erasure.delete_rows(annotator=session.annotator, project=study.project)
    assert not Annotator.objects.exists()


def test_erasing_a_person_empties_the_digests_of_their_suspicious_arrivals() -> None:
    study = launch_study(answers=3)
    session = sit_down(study, "ann", state=SessionState.RETURNED)
    for person in ("ann", "ben"):
        suspicious_arrivals.note(study=study, what=EntryEvent.What.NO_SEAT, person=person, now=NOON)
    removals.withdraw(annotator=session.annotator, project=study.project, by="tests", now=NOON)
    erasure.delete_rows(annotator=session.annotator, project=study.project)
    assert sorted(bool(event.who) for event in EntryEvent.objects.all()) == [False, True]
