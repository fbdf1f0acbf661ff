"""An `ask` that names what no instance has is refused when the study is made, not when it is launched."""

import pytest

from studies.actions.studies import create_study
from studies.errors import StudyError
from studies.models import Project, Study
from tests.factories import NOON, TESTS, make_instance, make_project

pytestmark = pytest.mark.django_db


def create(project: Project, asked: str, **more: str) -> Study:
    lines = [f"{name}: {value}" for name, value in more.items()]
    source = "\n".join(["study: rounds", "title: Rounds", asked, *lines])
    return create_study(project=project, source=source, by=TESTS, now=NOON)


def test_a_role_that_no_instance_has_is_named_with_those_that_there_are() -> None:
    project = make_project()
    make_instance(project, key="vase")
    with pytest.raises(StudyError) as refused:
        create(project, "kind: best_of_n\nask: {caption: said, images: pictures}")
    caption, image = refused.value.problems
    assert caption.startswith("`ask` names the role said, but no instance of the project has captions in it.")
    assert image.startswith("`ask` names the role pictures, but no instance of the project has images in it.")
    assert "candidate" in image
    assert not Study.objects.exists()


def test_where_nothing_is_imported_nothing_can_be_said() -> None:
    assert create(make_project(), "kind: best_of_n\nask: {images: pictures}").slug == "rounds"


def test_a_role_that_acceptance_adds_on_the_way_is_there() -> None:
    project = make_project()
    make_instance(project, key="vase")
    create_study(project=project, source="study: first\ntitle: First\nkind: best_of_n", by=TESTS, now=NOON)
    ask = "kind: ambiguity\nask: {caption: negative_caption, original: candidate, generated: negative_image}"
    assert create(project, ask, instances="{from: first}").slug == "rounds"
    with pytest.raises(StudyError, match="names the role negative_image"):
        create_study(project=project, source=f"study: other\ntitle: Other\n{ask}", by=TESTS, now=NOON)
