"""Buttons pressed twice at the same moment: one study on Prolific, and one event for each change."""

from collections.abc import Callable

import pytest

from annotation.actions.recruiting import prolific_studies
from annotation.models import ProlificStudy
from studies.errors import StudyError
from studies.models import Event, Study
from tests.factories import NOON, PROLIFIC_DRAFT, TESTS
from tests.prolific import Local
from tests.together import at_once

pytestmark = pytest.mark.django_db(transaction=True)


def press(*actions: Callable[[], None]) -> list[str]:
    """Do all at the same moment; return what was refused."""

    def said(action: Callable[[], None]) -> str:
        try:
            action()
        except StudyError as error:
            return str(error)
        return ""

    return [one for one in at_once(*[lambda action=action: said(action) for action in actions]) if one]


def test_a_draft_saved_three_times_at_once_is_one_draft(local: Local, study: Study) -> None:
    def save() -> None:
        row = prolific_studies.write_draft(
            study=Study.objects.get(pk=study.pk), draft=PROLIFIC_DRAFT, by=TESTS, now=NOON
        )
        prolific_studies.send_draft(prolific_study=row, now=NOON)

    refused = press(save, save, save)
    assert all("Try again in a minute" in said for said in refused)
    [remote] = local.double.store.list("study")
    row = ProlificStudy.objects.get()
    assert row.remote_id == remote["id"]
    assert Event.objects.filter(what="prolific study drafted").count() == 1


def test_a_study_published_three_times_at_once_is_published_once(local: Local, study: Study) -> None:
    row = prolific_studies.write_draft(study=study, draft=PROLIFIC_DRAFT, by=TESTS, now=NOON)
    prolific_studies.send_draft(prolific_study=row, now=NOON)

    def publish() -> None:
        prolific_studies.publish(prolific_study=ProlificStudy.objects.get(), by=TESTS, now=NOON)

    assert press(publish, publish, publish) == []
    assert [one["status"] for one in local.double.store.list("study")] == ["ACTIVE"]
    row = ProlificStudy.objects.get()
    assert (row.status, row.problem) == ("ACTIVE", "")
    assert Event.objects.filter(what="prolific study published").count() == 1


def test_places_added_three_times_at_once_are_added_once(local: Local, study: Study) -> None:
    row = prolific_studies.write_draft(study=study, draft=PROLIFIC_DRAFT, by=TESTS, now=NOON)
    prolific_studies.publish(prolific_study=row, by=TESTS, now=NOON)

    def add() -> None:
        prolific_studies.raise_places(prolific_study=ProlificStudy.objects.get(), places=7, by=TESTS, now=NOON)

    assert press(add, add, add) == []
    assert [one["total_available_places"] for one in local.double.store.list("study")] == [7]
    assert ProlificStudy.objects.get().places == 7
    assert Event.objects.filter(what="prolific places added").count() == 1
