"""Launching grows with what is asked about, and not faster."""

import io
import random
from collections.abc import Iterable
from typing import Any

import pytest
from django.core.management import call_command
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.actions.launching.launch import launch, launch_warnings
from annotation.models import Decision, Seat, Slot
from studies.actions.studies import create_study
from studies.errors import StudyError
from studies.models import Study, StudyState, SurveyQuestion
from tests.annotation.test_pipeline import make_pipeline_project
from tests.factories import NOON, TESTS, create_draft, fresh, make_instance, make_person, make_project
from tests.results.describing import make_set

pytestmark = pytest.mark.django_db

DESCRIBE = """
study: describe
title: Describe the marked image
kind: describe
ask: {targets: 3}
answers: 1
surveys: {size: %s}
rule: described-v1
purpose: filter
contact: ada@example.org
"""


def launched(slug: str, *, sets: int, size: int) -> tuple[Study, int]:
    """Return a study that asks three questions about each of `sets`, in surveys of `size` questions, and how many
    statements launching it took."""
    project = make_project(slug)
    for number in range(sets):
        make_set(project, f"{slug}-{number}")
    study = create_study(project=project, source=DESCRIBE % size, by=TESTS, now=NOON)
    with CaptureQueriesContext(connection) as statements:
        launch(study=study, by=TESTS, now=NOON)
    return study, len(statements)


def test_launching_takes_no_more_statements_for_many_surveys_and_ten_times_as_many_for_ten_times_as_much() -> None:
    _, one = launched("one", sets=12, size=36)
    study, twelve = launched("twelve", sets=12, size=3)
    assert (study.surveys.count(), twelve) == (12, one)
    _, few = launched("few", sets=4, size=6)
    study, many = launched("many", sets=40, size=6)
    assert (study.questions.count(), many <= 10 * few) == (120, True)


def test_every_seat_gets_all_questions_of_its_survey_in_their_order() -> None:
    study, _ = launched("sets", sets=5, size=6)
    assert (study.surveys.count(), Seat.objects.count(), Slot.objects.count()) == (2, 2, 15)
    for seat in Seat.objects.all():
        asked = SurveyQuestion.objects.filter(survey=seat.survey).values_list("question", "position")
        given = Slot.objects.filter(seat=seat).order_by("position").values_list("question", "position")
        assert list(given) == list(asked)
    assert Decision.objects.filter(study=study).count() == 15


def targets_of(study: Study) -> dict[str, list[int]]:
    """Return which images of each set are described, in the order of their questions."""
    found: dict[str, list[int]] = {}
    for question in study.questions.select_related("instance").order_by("pk"):
        found.setdefault(question.instance.key, []).append(question.content["target"])
    return found


def drawn_from(seed: str, keys: Iterable[str]) -> dict[str, list[int]]:
    return {key: random.Random(f"{seed}|{key}|0|targets").sample(range(10), 3) for key in keys}


def test_which_images_are_described_does_not_follow_from_what_is_public() -> None:
    """Foreseen from the seed were 6 of 6 sets; here all but those that chance meets, one set in 120."""
    study, _ = launched("sets", sets=24, size=6)
    targets = targets_of(study)
    assert targets == drawn_from(study.order_secret, targets)
    public = (study.seed, study.slug, study.public_token, study.title, study.invite_token, str(study.pk), "")
    for seed in public:
        foreseen = drawn_from(seed, targets)
        assert sum(foreseen[key] == targets[key] for key in targets) < 6


def test_studies_of_versions_without_secrets_go_on_by_their_seed() -> None:
    assert (Study(seed="s", order_secret="o").secret_seed, Study(seed="s").secret_seed) == ("o", "s")


BLIND = (
    "Another study asks about the answers of study describe, but its rule collected-v1 does not use the outcome: "
    "a rejected answer is not replaced by a new one. Rules that use the outcome: described-v1."
)


@pytest.mark.parametrize(("rule", "told"), [("collected-v1", [BLIND]), ("described-v1", [])])
def test_a_rule_that_sees_no_outcomes_is_told_of(client: Client, rule: str, told: list[str]) -> None:
    project = make_project()
    make_instance(project, "set", candidates=10)
    images = {"images": "candidate"}
    describe = create_draft(project, instances=1, study="describe", kind="describe", ask=images, rule=rule)
    feeding = {"from": "describe"}
    find = create_draft(project, instances=1, study="find", kind="retrieve", ask=images, selection=feeding)
    assert launch_warnings(describe) == launch_warnings(find) == told
    assert launch_warnings(create_draft(project, study="alone")) == []
    said = io.StringIO()
    call_command("launch_study", "describe", stdout=io.StringIO(), stderr=said)
    assert (BLIND in said.getvalue()) == bool(told)
    # It stands in nobody's way.
    assert fresh(describe).state == StudyState.OPEN
    client.force_login(make_person("ada", superuser=True))
    assert (BLIND in client.get("/studies/vases/find/launch/").content.decode()) == bool(told)
    assert BLIND not in client.get("/studies/vases/describe/").content.decode()


@pytest.mark.parametrize(("language", "is_told"), [("de", True), ("eu", False), ("es-MX", False), ("en-GB", False)])
def test_instruction_checks_in_another_language_than_the_study_are_warned_about(language: str, is_told: bool) -> None:
    two = {"instruction": {"per_survey": 2}}
    told = launch_warnings(create_draft(language=language, instructions="Wähle.", checks=two))
    assert [each for each in told if each.startswith("The language of the study is de, and Lineup has")] == told
    assert len(told) == is_told
    assert launch_warnings(create_draft(make_project("unchecked"), language=language, instructions="Wähle.")) == []


@pytest.mark.parametrize(
    ("checks", "recruitment", "is_told"),
    [
        ({"instruction": {"per_survey": 1}}, {}, True),
        ({"instruction": {"per_survey": 2}}, {}, False),
        ({"repeat": {"per_survey": 1}}, {}, False),
        # Nobody is rejected who does not come from Prolific.
        ({"instruction": {"per_survey": 1}}, {"prolific": False, "invite": True}, False),
    ],
)
def test_too_few_instruction_checks_for_a_rejection_are_warned_about(
    checks: dict[str, Any], recruitment: dict[str, Any], is_told: bool
) -> None:
    told = launch_warnings(create_draft(checks=checks, recruitment=recruitment))
    reason = "Each survey has 1 instruction check, so nobody can be rejected for failing it: Lineup asks for 2 failed"
    assert [each for each in told if each.startswith(reason)] == told
    assert len(told) == is_told


@pytest.mark.parametrize(
    ("policy", "problem"),
    [
        ({"policy": "cost", "cost_above": "10.00"}, r"The cost of 2 places is at most USD 0\.80, so it is never above"),
        ({"policy": "wage", "wage_below": "0.81", "sessions": 1}, r"The study pays USD 0\.80 an hour at its estimated"),
    ],
)
def test_a_policy_that_can_never_act_prevents_the_launch(policy: dict[str, Any], problem: str) -> None:
    """Two people get 0.10 for each of four answers in 30 minutes. Only the launch knows that there are four."""
    pay = {"currency": "USD", "per_answer": "0.10"}
    draft = create_draft(answers=2, pay=pay, policies=[policy])
    with pytest.raises(StudyError, match=problem):
        launch(study=draft, by=TESTS, now=NOON)
    assert fresh(draft).state == StudyState.DRAFT


def test_a_qualification_that_nobody_can_pass_prevents_the_launch() -> None:
    """30 instances in surveys of about 20 make two surveys of 15."""
    project = make_pipeline_project(30)
    asked: dict[str, Any] = {"kind": "image_to_text", "ask": {"images": ["image"]}, "surveys": {"size": 20}}
    passing = {"group": "experts", "right": 8, "days": 30}
    asked["purpose"] = "qualification"
    draft = create_draft(project, study="too-many", qualification=passing | {"of": 16}, **asked)
    with pytest.raises(StudyError, match=r"`qualification.of` is 16, and one session has at most 15 questions"):
        launch(study=draft, by=TESTS, now=NOON)
    assert fresh(draft).state == StudyState.DRAFT
    draft = create_draft(project, study="enough", qualification=passing | {"of": 15}, **asked)
    launch(study=draft, by=TESTS, now=NOON)
    assert fresh(draft).surveys.count() == 2
