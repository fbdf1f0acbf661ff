"""Texts from a real worker, which asks a server with a language model, and alone knows its key."""

from pathlib import Path
from threading import Event
from typing import Any

import pytest
from django.core import serializers

from making.makers import MAKERS
from making.models import Batch, Candidate, Pipeline, UsedMaker
from studies.models import Project
from tests.factories import make_instance, make_project
from tests.making.chat_model import caption_of, chat_model, says_caption
from tests.making.test_worker import FILE as PAINTED
from tests.making.test_worker import PAINTER, WAIT_SECONDS, ask, is_finished, wait_until
from tests.predictions.model_worker import model_worker
from tests.predictions.test_worker import EMBEDDED_BROKER, said_by_the_worker, sending_to
from tests.receivers import Answer
from tests.workers import celery_worker

pytestmark = pytest.mark.django_db(transaction=True)
KEY = "sk-a-secret-of-the-worker"
CAPTIONS = [f"Dog number {number} sleeps." for number in range(20)]
FILE = """name: cats
start: {role: caption}
stages:
  - name: replaced
    make: llm:tiny
    options: {template: "Put a cat in. Caption: {{ caption }}", address: "ADDRESS", seconds: 120}
    filters: [{filter: duplicates}]
instances: {of: replaced, captions: {caption: start, negative_caption: replaced}}
"""


def make_dogs() -> Project:
    project = make_project("dogs")
    for number, text in enumerate(CAPTIONS):
        captions = {"caption": text}
        make_instance(project, f"row-{number}", candidates=0, captions=captions, original_captions=captions)
    return project


@said_by_the_worker
def test_a_worker_asks_a_server_and_the_key_stays_with_it(tmp_path: Path) -> None:
    project = make_dogs()

    def cats(asked: Any, number: int) -> Answer:
        return says_caption(caption_of(asked).replace("Dog", "Cat"))

    with (
        chat_model(cats) as model,
        sending_to(EMBEDDED_BROKER, tmp_path),
        model_worker(
            folder=tmp_path,
            broker_url=EMBEDDED_BROKER,
            app="making.worker",
            LINEUP_LLM_ADDRESS=model.address,
            LINEUP_LLM_API_KEY=KEY,
        ),
        celery_worker(folder=tmp_path, broker_url=EMBEDDED_BROKER),
    ):
        pipeline = ask(project, FILE.replace("ADDRESS", model.address))
        wait_until(lambda: is_finished(pipeline), tmp_path)
    made = project.instances.filter(reference__has_key="made").values_list("captions", flat=True)
    assert {one["caption"]: one["negative_caption"] for one in made} == {
        text: text.replace("Dog", "Cat") for text in CAPTIONS
    }
    assert model.keys == [f"Bearer {KEY}"] * len(CAPTIONS)
    rows = [*Pipeline.objects.all(), *Candidate.objects.all(), *Batch.objects.all(), *UsedMaker.objects.all()]
    assert KEY not in serializers.serialize("json", rows)
    assert not [log.name for log in tmp_path.glob("*.log") if KEY in log.read_text(encoding="utf-8")]


@said_by_the_worker
def test_a_server_that_takes_its_time_does_not_keep_the_device_from_others(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setitem(MAKERS, "paint", "tests.making.painter.Paint")
    project = make_dogs()
    is_asked, has_painted = Event(), Event()

    def slowly(asked: Any, number: int) -> Answer:
        is_asked.set()
        has_painted.wait(WAIT_SECONDS)
        return says_caption(caption_of(asked).replace("Dog", "Cat"))

    with (
        chat_model(slowly) as model,
        sending_to(EMBEDDED_BROKER, tmp_path),
        model_worker(
            folder=tmp_path,
            broker_url=EMBEDDED_BROKER,
            app="making.worker",
            include=PAINTER,
            LINEUP_LLM_ADDRESS=model.address,
        ),
        celery_worker(folder=tmp_path, broker_url=EMBEDDED_BROKER, include=[PAINTER]),
    ):
        # As many batches as the worker takes messages.
        written = ask(project, FILE.replace("ADDRESS", model.address))
        wait_until(is_asked.is_set, tmp_path)
        painted = ask(project, PAINTED)
        wait_until(lambda: is_finished(painted), tmp_path)
        assert not is_finished(written)
        has_painted.set()
        wait_until(lambda: is_finished(written), tmp_path)
    assert project.instances.filter(tags__name="cats").count() == len(CAPTIONS)
