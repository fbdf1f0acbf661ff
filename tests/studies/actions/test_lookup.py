"""What a command line names, and what it says when that is nothing, or several things."""

import pytest
from django.core.management import CommandError, call_command

from studies.actions.lookup import find_project, find_study, find_study_of, full_name
from studies.errors import StudyError
from studies.models import Study
from tests.factories import make_project, make_study

pytestmark = pytest.mark.django_db


@pytest.fixture
def birds() -> Study:
    """The study step-3 of birds; fish has a step-3 too, and alone a step-4."""
    fish = make_project("fish")
    make_study(fish, "step-3")
    make_study(fish, "step-4")
    return make_study(make_project("birds"), "step-3")


def test_a_study_is_found_by_its_project_and_name_or_its_name_alone(birds: Study) -> None:
    assert find_study("birds/step-3") == birds
    assert full_name(find_study("fish/step-3")) == "fish/step-3"
    assert full_name(find_study("step-4")) == "fish/step-4"
    assert find_study_of(birds.project, "step-3") == find_study_of(birds.project, "birds/step-3") == birds


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("step-3", "Several projects have a study called step-3. Write which one you mean: birds/step-3, fish/step-3."),
        ("step-9", "There is no study called step-9. Check the name, or create it with create_study."),
        ("bords/step-3", "There is no project called bords. The projects are: birds, fish."),
        ("birds/step-4", "The project birds has no study called step-4. Its studies are: step-3."),
        ("birds/", "There is no study called birds/. Check the name, or create it with create_study."),
        ("birds/step-3/more", "There is no project called birds/step-3. The projects are: birds, fish."),
        ("", "There is no study called . Check the name, or create it with create_study."),
    ],
)
def test_a_name_that_names_no_study_gets_a_sentence(birds: Study, name: str, sentence: str) -> None:
    with pytest.raises(StudyError) as refused:
        find_study(name)
    assert str(refused.value) == sentence


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("fish/step-3", "fish/step-3 is a study of another project than birds. Name one of its own studies."),
        ("step-4", "The project birds has no study called step-4. Its studies are: step-3."),
    ],
)
def test_a_study_of_another_project_is_not_found(birds: Study, name: str, sentence: str) -> None:
    with pytest.raises(StudyError) as refused:
        find_study_of(birds.project, name)
    assert str(refused.value) == sentence


def test_a_site_without_projects_says_so() -> None:
    with pytest.raises(StudyError, match="The projects are: none yet"):
        find_project("birds")


@pytest.mark.parametrize("command", ["launch_study", "close_study", "simulate"])
def test_every_command_about_a_study_asks_which_one_is_meant(birds: Study, command: str) -> None:
    with pytest.raises(CommandError, match="Write which one you mean: birds/step-3, fish/step-3"):
        call_command(command, "step-3")
    # Found: now it is the state of this very study that stands in the way.
    Study.objects.filter(pk=birds.pk).update(state="closed", launched_at=birds.created_at, closed_at=birds.created_at)
    with pytest.raises(CommandError, match=r"is closed|already launched"):
        call_command(command, "birds/step-3")


def test_an_export_and_a_release_take_either_name_of_a_study(birds: Study) -> None:
    for command in (["export", "birds", "--format", "jsonl"], ["release", "birds", "--name", "v1"]):
        for name in ("step-3", "birds/step-3"):
            with pytest.raises(CommandError, match="step-3 has not been launched yet"):
                call_command(*command, "--study", name, "--out", "nowhere")
        with pytest.raises(CommandError, match="a study of another project"):
            call_command(*command, "--study", "fish/step-3", "--out", "nowhere")
