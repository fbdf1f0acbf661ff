"""Create, plan, launch, pause and close a study."""

from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from annotation.actions.launching.launch import launch
from annotation.models import Decision, Seat, Slot
from studies.actions.studies import change_state, create_study, plan_study
from studies.errors import StudyError
from studies.models import CompletionCode, InstanceImage, Question, Study, StudyState, Survey
from tests.factories import NOON, TESTS, create_draft, launch_study, make_instance, make_project

pytestmark = pytest.mark.django_db


def test_a_new_study_is_a_draft_with_a_different_code_per_outcome() -> None:
    study = create_draft()
    codes = dict(CompletionCode.objects.filter(study=study).values_list("outcome", "code"))
    assert study.state == StudyState.DRAFT
    assert codes.keys() == {
        *("finished", "no_consent", "failed_checks", "left_out", "few_answers"),
        *("stopped", "time_over", "unlikely_times", "waited"),
    }
    assert len(set(codes.values())) == 9


def test_a_name_can_be_used_once() -> None:
    study = create_draft()
    with pytest.raises(StudyError, match="already has a study called best-vase"):
        create_study(project=study.project, source=study.source, by=TESTS, now=NOON)


def test_launching_makes_what_the_plan_said() -> None:
    study = create_draft(instances=7, surveys={"size": 3, "double_seats": 1}, answers=2)
    plan = plan_study(study)
    launch(study=study, by=TESTS, now=NOON)
    assert (plan.questions, plan.surveys, plan.seats, plan.answers) == (7, 2, 6, 20)
    assert (Question.objects.count(), Survey.objects.count(), Seat.objects.count()) == (7, 2, 6)
    assert Slot.objects.count() == 20
    assert Decision.objects.filter(state="undecided").count() == 7


def test_more_images_than_sqlite_takes_terms_in_one_query_can_be_launched() -> None:
    study = create_draft(instances=260)
    assert InstanceImage.objects.count() > 1000
    launch(study=study, by=TESTS, now=NOON)
    assert Question.objects.count() == 260


def test_a_launched_design_is_frozen() -> None:
    study = launch_study()
    with pytest.raises(StudyError, match="already launched"):
        launch(study=study, by=TESTS, now=NOON)


@pytest.mark.parametrize(
    ("design", "waits", "sentence"),
    [
        ({"contact": ""}, False, "has no contact for annotators"),
        ({}, True, r"vase-1 still waits for the image vase-1_2\.png"),
        ({"practice": {"questions": [{"instance": "nowhere", "right": "none"}]}}, False, "names instance nowhere"),
        ({"practice": {"questions": [{"instance": "vase-0", "right": "candidate-9"}]}}, False, "its options are cand"),
    ],
    ids=["contact", "image", "practice instance", "practice option"],
)
def test_what_is_not_ready_stays_a_draft_of_no_questions(design: dict[str, Any], waits: bool, sentence: str) -> None:
    study = create_draft(instances=3, **design)
    if waits:
        InstanceImage.objects.filter(instance__key="vase-1", position=2).update(image=None)
    with pytest.raises(StudyError, match=sentence):
        launch(study=study, by=TESTS, now=NOON)
    study.refresh_from_db()
    assert study.state == StudyState.DRAFT
    assert Question.objects.count() == Seat.objects.count() == 0


def test_thousands_of_problems_are_counted_not_listed() -> None:
    study = create_draft(instances=30)
    InstanceImage.objects.update(image=None)
    with pytest.raises(StudyError) as refused:
        launch(study=study, by=TESTS, now=NOON)
    assert len(refused.value.problems) == 22
    assert refused.value.problems[-2] == "... and 10 more instances cannot be asked about."


def test_only_the_selected_instances_are_asked_about() -> None:
    project = make_project()
    make_instance(project, "an-addition", type="add")
    make_instance(project, "a-swap", type="swap")
    study = create_draft(project, instances=0, selection={"type": ["add"]})
    launch(study=study, by=TESTS, now=NOON)
    assert list(Question.objects.values_list("instance__key", flat=True)) == ["an-addition"]


def test_an_instance_of_the_practice_is_not_asked_about_again() -> None:
    launch_study(instances=3, practice={"questions": [{"instance": "vase-1", "right": "none"}]})
    assert set(Question.objects.values_list("instance__key", flat=True)) == {"vase-0", "vase-2"}


@pytest.mark.parametrize("state", StudyState.values)
@pytest.mark.parametrize("to", StudyState.values)
def test_a_study_changes_state_only_as_the_table_says(state: str, to: str) -> None:
    study = launch_study()
    times = {"closed_at": NOON if state == "closed" else None, "launched_at": None if state == "draft" else NOON}
    Study.objects.update(state=state, **times)
    study.refresh_from_db()
    allowed = {("open", "paused"), ("open", "closed"), ("paused", "open"), ("paused", "closed")}
    if (state, to) in allowed:
        change_state(study=study, to=StudyState(to), by=TESTS, now=NOON)
        assert Study.objects.get().state == to
    else:
        with pytest.raises(StudyError):
            change_state(study=study, to=StudyState(to), by=TESTS, now=NOON)
        assert Study.objects.get().state == state


@pytest.mark.parametrize(
    ("command", "sentence"),
    [
        (("launch_study", "nowhere"), "no study called nowhere"),
        (("close_study", "nowhere"), "no study called nowhere"),
        (("create_study", "no-such-file.yaml", "--project", "vases"), r"yaml cannot be read \(No such file or"),
    ],
)
def test_a_command_that_names_nothing_says_so(command: tuple[str, ...], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        call_command(*command)


def test_a_study_file_that_is_no_text_is_refused_in_a_sentence(tmp_path: Path) -> None:
    file = tmp_path / "study.yaml"
    file.write_bytes("study: x".encode("utf-16"))
    with pytest.raises(CommandError, match=r"is not UTF-8 text\. Save the study file as UTF-8\."):
        call_command("create_study", str(file), "--project", "vases")
