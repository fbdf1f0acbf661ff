from datetime import timedelta

import pytest
from django.contrib.auth.models import User
from django.test import Client

from analytics.outcomes import Outcome
from results.queries.instances.missing_questions import missing_questions
from studies.actions.projects.datasets import set_dataset
from studies.actions.studies import change_state
from studies.models import Instance, Project, Study, StudyState
from tests.checking import CHECKS
from tests.factories import NOON, TESTS, launch_study, make_instance, make_project
from tests.pages import words_of
from tests.results.pipelines import STEP_3, STEP_4, by_key, open_study, project_of, sit_through

HOUR = timedelta(hours=1)


@pytest.fixture
def project(researcher: User) -> Project:
    """Step 3 asks about the vases of two types, but practises on vase-3, and feeds step 4, the dataset's study."""
    project = project_of(researcher)
    Instance.objects.update(created_at=NOON - HOUR)
    practice = {"questions": [{"instance": "vase-3", "right": "none", "feedback": "Look again."}]}
    chosen = {"type": ["replace", "swap"]}
    step_3 = open_study(project, STEP_3 | {"practice": practice, "instances": chosen})
    make_instance(project, "late", type="swap")
    make_instance(project, "other", type="add")
    Instance.objects.filter(key__in=["late", "other"]).update(created_at=NOON + HOUR)
    step_4 = open_study(project, STEP_4)
    set_dataset(project=project, studies=[step_4], by=TESTS, now=NOON)
    sit_through(step_3, "ann", by_key(vase_0="none", vase_1="candidate-1"))
    return project


def why(project: Project, key: str, **outcomes: Outcome) -> list[tuple[str, str]]:
    instance = Instance.objects.get(project=project, key=key)
    known = {Study.objects.get(slug=slug.replace("_", "-")).pk: outcome for slug, outcome in outcomes.items()}
    found = missing_questions(project, [instance], {instance.pk: known})
    return [(each.study.slug, each.why) for each in found[instance.pk]]


def test_each_reason_has_its_sentence(project: Project) -> None:
    assert why(project, "vase-3") == [("step-3", "It is used as a practice question.")]
    assert why(project, "other") == [("step-3", "The study file does not select it.")]
    late = "It was imported after the launch. Add new instances to the study to ask about it."
    assert why(project, "late") == [("step-3", late)]
    waits = "It is asked about as soon as the study has a place for it."
    assert why(project, "vase-1", step_3=Outcome.ACCEPTED) == [("step-4", waits)]
    change_state(study=Study.objects.get(slug="step-3"), to=StudyState.CLOSED, by=TESTS, now=NOON)
    assert why(project, "late") == [("step-3", "It was imported after the launch, and the study is closed.")]


def test_what_was_lost_before_or_is_asked_about_needs_no_reason(project: Project) -> None:
    assert why(project, "vase-0", step_3=Outcome.REJECTED) == []
    assert why(project, "vase-1", step_3=Outcome.ACCEPTED, step_4=Outcome.NONE_YET) == []


@pytest.mark.usefixtures("project")
def test_an_instance_and_its_card_say_why_it_is_not_asked_about(client: Client) -> None:
    for address in ("/projects/vases/instances/vase-3/", "/projects/vases/instances/?state=not-asked"):
        assert "It is used as a practice question." in words_of(client.get(address))


@pytest.mark.django_db
def test_gold_of_a_study_is_not_said_to_be_left_out() -> None:
    project = make_project()
    for number in range(34):
        make_instance(project, f"vase-{number}")
    study = launch_study(project, checks=CHECKS, surveys={"size": 30})
    set_dataset(project=project, studies=[study], by=TESTS, now=NOON)
    gold = "It is asked about as a gold question, and answers to those do not count."
    assert why(project, "vase-0") == [(study.slug, gold)]
