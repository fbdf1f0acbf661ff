"""Events get the name of their study when a site is upgraded, and let go of deleted drafts when it goes back."""

from importlib import import_module

import pytest
from django.apps import apps

from studies.actions.drafts import delete_draft
from studies.models import Event
from studies.models.events import EventQuerySet
from tests.factories import NOON, TESTS, create_draft, make_project

pytestmark = pytest.mark.django_db
migration = import_module("studies.migrations.0010_events_name_their_study")


@pytest.fixture(autouse=True)
def _as_migrations_see_events(monkeypatch: pytest.MonkeyPatch) -> None:
    """They may change them."""
    monkeypatch.delattr(EventQuerySet, "update")


def test_an_old_event_gets_the_name_of_its_study() -> None:
    create_draft()
    Event.objects.update(study_name="")
    Event.objects.create(project=make_project(), what="project made", by_name="t", at=NOON)
    migration.name_studies(apps, None)
    names = dict(Event.objects.values_list("what", "study_name"))
    assert names == {"study created": "best-vase", "project made": ""}


def test_on_the_way_back_events_of_deleted_drafts_are_about_no_study() -> None:
    kept = create_draft()
    gone = create_draft(kept.project, study="gone")
    delete_draft(study=gone, by=TESTS, now=NOON)
    migration.let_go_of_deleted_drafts(apps, None)
    assert set(Event.objects.filter(study=None).values_list("study_name", flat=True)) == {"gone"}
    assert Event.objects.get(study=kept).study_name == "best-vase"
