"""Only the instances of a project get its tags, each once."""

import pytest

from studies.actions.projects.tags import tag_instances, untag_instances
from studies.errors import StudyError
from studies.models import Event, Project, Tag
from tests.factories import NOON, TESTS, make_instance, make_project

pytestmark = pytest.mark.django_db


def tag(project: Project, *instances: int) -> int:
    return tag_instances(project=project, instances=instances, name="odd", by=TESTS, now=NOON)


def test_only_those_of_the_project_without_the_tag_get_it_and_are_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studies.actions.projects.tags.BATCH", 2)
    project = make_project()
    own = [make_instance(project, f"vase-{number}").pk for number in range(5)]
    elsewhere = make_instance(make_project("maps"), "elsewhere").pk
    assert tag(project, own[0], elsewhere, 999_999) == 1
    assert tag(project, *own, elsewhere) == 4
    assert tag(project, *own) == 0
    assert list(Tag.objects.get().instances.order_by("pk").values_list("pk", flat=True)) == own
    assert [event.details["instances"] for event in Event.objects.filter(what="instances tagged").order_by("pk")] == [
        1,
        4,
    ]
    assert untag_instances(project=project, instances=own, name="odd", by=TESTS, now=NOON) == 5
    assert not Tag.objects.exists()


def test_a_tag_that_no_instance_gets_is_not_made() -> None:
    elsewhere = make_instance(make_project("maps"), "elsewhere").pk
    assert tag(make_project(), elsewhere) == 0
    assert not Tag.objects.exists()
    with pytest.raises(StudyError, match="No instance is selected"):
        tag(make_project("more"))
