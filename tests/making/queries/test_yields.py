"""How fast a stage makes candidates, and how long workers will take for the rest."""

from datetime import timedelta

import pytest

from making.models import Batch, Candidate, Pipeline
from making.queries.yields import WorkerProgress, stage_speeds, worker_progress
from tests.factories import NOON, make_project

pytestmark = pytest.mark.django_db
FILE = "name: swaps\nstart: {role: caption}\nstages: [{name: swapped, make: 'words:swap'}]\n"
MINUTE = timedelta(minutes=1)


@pytest.fixture
def pipeline() -> Pipeline:
    return Pipeline.objects.create(
        project=make_project(), name="swaps", source=FILE, by_name="test", requested_at=NOON, waits_for="swapped"
    )


def test_the_first_batch_of_a_stage_only_says_when_it_ended(pipeline: Pipeline) -> None:
    assert stage_speeds(pipeline) == {}
    for minute, count in ((0, 16), (1, 16), (2, 8)):
        for number in range(count):
            Candidate.objects.create(
                pipeline=pipeline,
                stage="swapped",
                start_key=f"{minute}-{number}",
                text="A dog.",
                state="kept",
                made_at=NOON + minute * MINUTE,
            )
    # 24 candidates in two minutes.
    assert stage_speeds(pipeline) == {"swapped": 720}


def test_the_time_that_is_left_follows_from_the_batches_that_came_back(pipeline: Pipeline) -> None:
    for number in range(1, 8):
        stored_at = NOON + number * MINUTE if number <= 3 else None
        Batch.objects.create(pipeline=pipeline, stage="swapped", number=number, parents=[], stored_at=stored_at)
    # Three came back a minute apart; four are left.
    assert worker_progress(pipeline) == WorkerProgress(3, 7, 4 * MINUTE)
    assert worker_progress(pipeline).left_in_words == "4 minutes"
    Batch.objects.filter(number__gt=1).update(stored_at=None)
    assert worker_progress(pipeline) == WorkerProgress(1, 7)
