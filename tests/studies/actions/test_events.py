"""What an event holds, and that it is part of what it tells about."""

import pytest
from django.db import transaction

from studies.actions.events import What, record
from studies.models import Event
from tests.factories import NOON, make_person, make_project, make_study

pytestmark = pytest.mark.django_db


def test_an_event_names_who_changed_what_when_and_how() -> None:
    anna = make_person("anna")
    study = make_study(make_project(), "step-3")
    record(project=study.project, study=study, what=What.STUDY_LAUNCHED, by=anna, now=NOON, seats=8)
    event = Event.objects.get()
    assert (event.project, event.study, event.what) == (study.project, study, "study launched")
    assert (event.by, event.by_name, event.at, event.details) == (anna, "anna", NOON, {"seats": 8})


def test_people_are_called_by_their_name_and_a_command_is_somebody_without_an_account() -> None:
    anna = make_person("anna")
    anna.first_name, anna.last_name = "Anna", "Etxeberria"
    assert record(project=make_project(), what=What.DATASET_SET, by=anna, now=NOON).by_name == "Anna Etxeberria"
    event = record(project=make_project(), what=What.INSTANCES_IMPORTED, by="command line", now=NOON)
    assert (event.by, event.by_name, event.study) == (None, "command line", None)


def test_what_is_undone_leaves_no_event() -> None:
    project = make_project()
    with transaction.atomic():
        record(project=project, what=What.DATASET_SET, by="command line", now=NOON)
        transaction.set_rollback(True)
    assert not Event.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_no_event_is_recorded_apart_from_what_it_tells_about() -> None:
    with pytest.raises(transaction.TransactionManagementError, match="in the transaction"):
        record(project=make_project(), what=What.DATASET_SET, by="command line", now=NOON)
