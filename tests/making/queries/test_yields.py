"""How fast a stage makes candidates, and how long workers will take for the rest."""

from datetime import timedelta

import pytest

from making.models import Batch, Candidate, Pipeline
from making.queries.yields import WorkerProgress, stage_speeds, stage_yields, worker_progress
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


PRICED = """name: swaps
start: {role: caption}
stages:
  - {name: swapped, make: 'words:swap', filters: [{filter: toxicity, model: 'classifier:some'}]}
  - {name: drawn, make: 'diffusers:some', of: swapped, options: {checker: none}}
  - {name: written, make: 'llm:some', options: {template: add-object, address: 'https://example.org/v1'}}
device: {currency: USD, hour: 2.5}
"""


def test_hours_of_devices_have_a_price(pipeline: Pipeline) -> None:
    def add(stage: str, minutes: int | None, *, filter_number: int = 0, begun: int = 1) -> None:
        number = Batch.objects.filter(stage=stage).count() + 1
        stored_at = None if minutes is None else NOON + minutes * MINUTE
        Batch.objects.create(
            pipeline=pipeline,
            stage=stage,
            filter_number=filter_number,
            number=number,
            parents=[],
            begun=begun,
            sent_at=NOON,
            stored_at=stored_at,
        )

    add("swapped", 6, filter_number=1)
    add("drawn", 20)
    add("drawn", 16)
    # Not stored, never reported as begun, and written by a server.
    add("drawn", None)
    add("drawn", 30, begun=0)
    add("written", 60)
    assert [each.device_cost for each in stage_yields(pipeline)] == [None]
    pipeline.source = PRICED
    found = {each.name: each for each in stage_yields(pipeline)}
    swapped, drawn, written = found["swapped"], found["drawn"], found["written"]
    # A tenth of an hour, and 36 minutes.
    assert [each.device_hours for each in (swapped, drawn)] == pytest.approx([0.1, 0.6])
    assert [str(each.device_cost) for each in (swapped, drawn)] == ["0.25 USD", "1.50 USD"]
    assert (written.device_hours, written.device_cost) == (0, None)


def test_a_batch_that_came_back_after_it_could_not_be_sent_again_has_no_hours(pipeline: Pipeline) -> None:
    # It was late, and the broker was away when it was sent again: so nobody knows when it began.
    pipeline.source = PRICED
    Batch.objects.create(pipeline=pipeline, stage="drawn", number=1, parents=[], begun=1, stored_at=NOON)
    assert [(each.device_hours, each.device_cost) for each in stage_yields(pipeline)] == 3 * [(0, None)]
