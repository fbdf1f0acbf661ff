"""What is odd at the door is counted, in a bounded number of rows."""

from datetime import datetime, timedelta

import pytest
from django.db import IntegrityError, transaction

from annotation.actions.arriving import suspicious_arrivals
from annotation.models import EntryEvent
from studies.models import Study
from tests.factories import NOON, launch_study
from tests.together import at_once

pytestmark = pytest.mark.django_db
LATER = NOON + timedelta(hours=1)
WHAT = EntryEvent.What.NO_SEAT


def note(study: Study, person: str, *, what: EntryEvent.What = WHAT, now: datetime = NOON) -> None:
    suspicious_arrivals.note(study=study, what=what, person=person, now=now)


def test_the_same_thing_by_the_same_person_is_one_row_that_counts_and_people_without_an_id_are_one() -> None:
    study = launch_study()
    for now in (NOON, NOON, LATER):
        note(study, "ann", now=now)
        note(study, "")
    note(study, "ann", what=EntryEvent.What.OTHER_STUDY)
    note(study, "ben")
    counted = EntryEvent.objects.filter(what=WHAT).order_by("pk").values_list("times", "at")
    assert list(counted) == [(3, LATER), (3, NOON), (1, NOON)]
    assert EntryEvent.objects.count() == 4
    with pytest.raises(IntegrityError), transaction.atomic():
        EntryEvent.objects.create(study=study, what=WHAT, who=EntryEvent.objects.exclude(who="")[0].who, at=NOON)


def test_ten_thousand_ids_fill_no_table(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(suspicious_arrivals, "TOLD_APART", 3)
    study = launch_study()
    for number in range(10):
        note(study, f"person-{number}")
    note(study, "person-1")
    note(study, "person-9")
    assert sorted(EntryEvent.objects.values_list("times", flat=True)) == [1, 1, 2, 8]


def test_no_id_of_a_person_is_kept_and_the_same_person_differs_between_studies() -> None:
    first, second = launch_study(study="one"), launch_study(study="two")
    for study in (first, second):
        note(study, "5f5f5f5f5f5f5f5f5f5f5f5f")
    kept = set(EntryEvent.objects.values_list("who", flat=True))
    assert len(kept) == 2
    assert not any("5f5f5f" in who for who in kept)


@pytest.mark.django_db(transaction=True)
def test_one_person_many_times_at_once_is_one_row() -> None:
    study = launch_study()
    at_once(*[lambda: note(study, "ann")] * 8)
    assert EntryEvent.objects.get().times == 8
