"""Launching grows with what is asked about, and not faster."""

import random
from collections.abc import Iterable

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.actions.launching.launch import launch
from annotation.models import Decision, Seat, Slot
from studies.actions.studies import create_study
from studies.models import Study, SurveyQuestion
from tests.factories import NOON, TESTS, make_project
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


def test_many_small_surveys_take_no_more_statements_than_one_large_one() -> None:
    _, one = launched("one", sets=12, size=36)
    study, twelve = launched("twelve", sets=12, size=3)
    assert study.surveys.count() == 12
    assert twelve == one


def test_ten_times_the_image_sets_take_at_most_ten_times_the_statements() -> None:
    _, few = launched("few", sets=4, size=6)
    study, many = launched("many", sets=40, size=6)
    assert study.questions.count() == 120
    assert many <= 10 * few


def test_every_seat_gets_all_questions_of_its_survey_in_their_order() -> None:
    study, _ = launched("sets", sets=5, size=6)
    assert (study.surveys.count(), Seat.objects.count(), Slot.objects.count()) == (2, 2, 15)
    for seat in Seat.objects.all():
        asked = SurveyQuestion.objects.filter(survey=seat.survey).values_list("question", "position")
        assert list(Slot.objects.filter(seat=seat).order_by("position").values_list("question", "position")) == list(
            asked
        )
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
