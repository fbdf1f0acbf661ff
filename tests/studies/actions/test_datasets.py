"""Who says which study keeps the dataset of a project, and which studies may."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction

from annotation.actions.launching.launch import launch
from studies.actions.events import What, record
from studies.actions.projects.datasets import dataset_studies, set_dataset
from studies.actions.studies import create_study
from studies.errors import StudyError
from studies.models import Event, Project, Purpose, Study
from tests.factories import NOON, TESTS, launch_study, make_instance, make_launched, make_project, make_study
from tests.together import at_once

pytestmark = pytest.mark.django_db


def kept_by(project: Project) -> Study | None:
    """Return the only study of the dataset, None without one."""
    studies = dataset_studies(project)
    assert len(studies) < 2
    return studies[0] if studies else None


@pytest.fixture
def project() -> Project:
    """Its studies step-3 and step-4 accept, the baseline does not, and draft is one. No study keeps the dataset."""
    project = make_project("birds")
    for name in ("step-3", "step-4", "baseline"):
        make_launched(make_study(project, name))
    make_study(project, "draft")
    project.studies.filter(slug="baseline").update(purpose=Purpose.BASELINE)
    return project


def test_the_study_that_keeps_it_can_be_chosen_and_chosen_again(project: Project) -> None:
    for name in ("step-3", "step-4"):
        set_dataset(project=project, studies=[project.studies.get(slug=name)], by=TESTS, now=NOON)
        assert kept_by(project) == project.studies.get(slug=name)
    set_dataset(project=project, studies=[], by=TESTS, now=NOON)
    # What is chosen already is no event.
    set_dataset(project=project, studies=[], by=TESTS, now=NOON)
    assert kept_by(project) is None
    told = [(event.study and event.study.slug, event.details) for event in Event.objects.order_by("pk")]
    assert told == [
        ("step-3", {"before": "", "studies": "step-3"}),
        ("step-4", {"before": "step-3", "studies": "step-4"}),
        (None, {"before": "step-4", "studies": ""}),
    ]


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("baseline", "baseline accepts no instances, so it cannot be part of the dataset."),
        ("draft", "draft is a draft, so it has accepted nothing yet. Launch it first."),
    ],
)
def test_a_study_that_kept_nothing_is_refused(project: Project, name: str, sentence: str) -> None:
    with pytest.raises(StudyError, match=sentence):
        set_dataset(project=project, studies=[project.studies.get(slug=name)], by=TESTS, now=NOON)
    assert kept_by(project) is None


def test_a_study_of_another_project_is_refused(project: Project) -> None:
    other = make_launched(make_study(make_project("fish"), "fish-step-3"))
    with pytest.raises(StudyError, match=r"fish-step-3 belongs to another project\. Choose a study of birds\."):
        set_dataset(project=project, studies=[other], by=TESTS, now=NOON)


def test_parallel_studies_can_keep_it_together(project: Project) -> None:
    studies = [project.studies.get(slug=name) for name in ("step-3", "step-4")]
    set_dataset(project=project, studies=studies, by=TESTS, now=NOON)
    assert dataset_studies(project) == studies
    (event,) = Event.objects.filter(what="dataset set")
    assert (event.study, event.details) == (None, {"before": "", "studies": "step-3, step-4"})


def test_a_study_beside_one_that_feeds_it_is_refused(project: Project) -> None:
    step_3, step_4, last = (project.studies.get(slug=name) for name in ("step-3", "step-4", "draft"))
    Study.objects.filter(pk=step_4.pk).update(fed_by=step_3)
    make_launched(last)
    Study.objects.filter(pk=last.pk).update(fed_by=step_4)
    with pytest.raises(StudyError, match=r"draft takes its instances from step-3, .* Leave step-3 out\."):
        set_dataset(project=project, studies=Study.objects.filter(slug__in=("step-3", "draft")), by=TESTS, now=NOON)
    assert dataset_studies(project) == []


@pytest.mark.parametrize(
    ("first", "second", "kept"),
    [
        # Of other instances: both.
        ({"split": ["train"]}, {"split": ["valid"]}, ["first", "second"]),
        # Of some of the same: the one launched later takes the place of the other.
        ({"split": ["train"]}, {"split": ["train", "valid"]}, ["second"]),
    ],
)
def test_a_launch_joins_studies_of_other_instances_and_replaces_those_of_the_same(
    first: dict[str, list[str]], second: dict[str, list[str]], kept: list[str]
) -> None:
    project = make_project("birds")
    for number, split in enumerate(["train", "train", "valid"]):
        make_instance(project, f"bird-{number}", split=split)
    for name, selected in (("first", first), ("second", second)):
        file = {
            "study": name,
            "title": "T",
            "kind": "best_of_n",
            "contact": "Ada",
            "dataset": True,
            "instances": selected,
        }
        launch(study=create_study(project=project, source=json.dumps(file), by=TESTS, now=NOON), by=TESTS, now=NOON)
    assert [study.slug for study in dataset_studies(project)] == kept


def test_launching_a_filter_declares_what_it_keeps_and_says_so() -> None:
    study = launch_study()
    assert kept_by(study.project) == study
    assert list(Event.objects.order_by("pk").values_list("what", "by_name")) == [
        ("study created", TESTS),
        ("dataset set", TESTS),
        ("study launched", TESTS),
    ]


def test_launching_what_does_not_keep_it_declares_nothing() -> None:
    assert kept_by(launch_study(dataset=False).project) is None
    assert not Event.objects.filter(what="dataset set").exists()


def test_the_command_declares_it_too(project: Project) -> None:
    said = StringIO()
    call_command("set_dataset", "birds", "step-4", stdout=said)
    assert said.getvalue() == "The dataset of birds contains the items accepted by step-4.\n"
    assert Event.objects.get().by_name == "command line"
    call_command("set_dataset", "birds", stdout=said)
    assert "The dataset of birds contains all instances." in said.getvalue()
    assert kept_by(project) is None
    with pytest.raises(CommandError, match="accepts no instances"):
        call_command("set_dataset", "birds", "baseline")


@pytest.mark.django_db(transaction=True)
@pytest.mark.once(on="postgresql", because="SQLite lets one transaction write at a time")
def test_an_event_of_the_project_is_noted_while_the_dataset_is_chosen() -> None:
    """Whoever closes a study of the dataset holds its row, which the choice wants, and notes an event in the project,
    whose row the choice holds: neither may wait for the other."""
    if connection.vendor == "sqlite":
        pytest.skip("One transaction writes at a time.")
    project = make_project("birds")
    study = make_launched(make_study(project, "step-3"))

    def note() -> None:
        with transaction.atomic(), connection.cursor() as cursor:
            cursor.execute("SET LOCAL lock_timeout = '5s'")
            record(project=project, what=What.STUDY_CLOSED, by=TESTS, now=NOON)

    with transaction.atomic():
        set_dataset(project=project, studies=[study], by=TESTS, now=NOON)
        at_once(note)
    assert Event.objects.count() == 2
