"""Images that workers with models make: messages that are lost, doubled, late or answered with an error."""

import errno
import hashlib
from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest
from celery import current_app
from kombu.exceptions import OperationalError

from background.models import Job, JobState
from making.actions.batches import LOST_AFTER, LOST_TOO_OFTEN, MOST_BEGUN, WINDOW, note_begun, send_due, stalled, store
from making.actions.pipelines import cancel_pipeline, continue_pipeline, request_pipeline
from making.makers import MAKERS, Request
from making.messages import from_requests, from_results, to_requests, to_results
from making.models import Batch, Candidate, Pipeline
from making.queries.yields import stage_yields
from studies.models import Image, InstanceImage, Project
from tests.factories import NOON, make_instance, make_project
from tests.jobs import run_now
from tests.making.painter import BROKEN, UNSAFE, Painter, paint

pytestmark = pytest.mark.django_db

FILE = """name: four
start: {role: caption}
stages:
  - {name: pictures, make: "paint:plain", count: 4, licence: CC0}
instances:
  of: start
  captions: {caption: start}
  images: {candidate: pictures}
  least_images: 2
"""
CAPTIONS = {"first": "A dog.", "second": "A cat.", "third": "An unsafe thing.", "fourth": "Of nothing."}
PAINTED = {"image": "bm9uZQ==", "seed": 1, "prompt": "A dog.", "problem": ""}
LATER = NOON + LOST_AFTER + timedelta(seconds=1)


@pytest.fixture(autouse=True)
def painter(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MAKERS, "paint", "tests.making.painter.Paint")


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The messages to workers with models."""
    messages: list[dict[str, Any]] = []

    def send(name: str, *, kwargs: dict[str, Any], queue: str, expires: float) -> None:
        assert (name, queue, expires) == ("making.make", "gpu", LOST_AFTER.total_seconds())
        messages.append(kwargs)

    monkeypatch.setattr(current_app, "send_task", send)
    return messages


@pytest.fixture
def project() -> Project:
    return filled(make_project("birds"), CAPTIONS)


def filled(project: Project, captions: Mapping[str, str]) -> Project:
    for key, text in captions.items():
        make_instance(project, key, candidates=0, captions={"caption": text}, original_captions={"caption": text})
    return project


def begun(project: Project, commit: Callable[..., Any], source: str = FILE) -> Pipeline:
    """Return a pipeline whose first messages were sent."""
    pipeline, job = request_pipeline(project=project, source=source, by="anna", now=NOON)
    assert job is not None
    with commit(execute=True):
        assert run_now(job, now=NOON).state == JobState.DONE
    pipeline.refresh_from_db()
    return pipeline


def answer(message: Mapping[str, Any]) -> dict[str, Any]:
    painter = Painter()
    return from_results(painter.identity, painter.make(to_requests(message["requests"])))


def stored(message: Mapping[str, Any]) -> Pipeline | None:
    return store(batch_id=message["batch"], answer=answer(message), now=NOON)


def ended(pipeline: Pipeline, commit: Callable[..., Any]) -> Pipeline:
    """Let the job after the last answer run; return the pipeline."""
    job = continue_pipeline(pipeline_id=pipeline.pk, now=NOON)
    assert job is not None
    with commit(execute=True):
        assert run_now(job, now=NOON).state == JobState.DONE
    pipeline.refresh_from_db()
    return pipeline


def test_four_images_of_each_caption_become_candidates_of_an_instance(
    project: Project, sent: list[dict[str, Any]], django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    pipeline = begun(project, django_capture_on_commit_callbacks)
    (message,) = sent
    assert pipeline.is_unfinished
    assert pipeline.waits_for == "pictures"
    assert [each["text"] for each in message["requests"]] == list(CAPTIONS.values())
    assert (message["maker"], message["options"]) == ("paint:plain", {})
    assert stored(message) == pipeline
    pipeline = ended(pipeline, django_capture_on_commit_callbacks)
    assert pipeline.finished_at == NOON
    assert not pipeline.is_unfinished
    made = project.instances.filter(tags__name="four").order_by("pk")
    # No instance of the unsafe one, nor of the one without images.
    assert list(made.values_list("key", flat=True)) == ["first-four", "second-four"]
    uses = InstanceImage.objects.filter(instance=made[0]).order_by("position")
    seed = to_requests(message["requests"])[0].seed
    expected = [hashlib.sha256(paint("A dog.", seed + number)).hexdigest() for number in range(4)]
    assert list(uses.values_list("image", flat=True)) == expected
    assert (uses[0].role, uses[0].licence, uses[0].source) == ("candidate", "CC0", "Made from: A dog.")
    assert [use.generator for use in uses] == [f"paint:plain 1, seed {seed + number}" for number in range(4)]
    assert made[0].captions == {"caption": "A dog."}
    (counts,) = stage_yields(pipeline)
    assert (counts.parents, counts.kept, counts.rejected, counts.not_made) == (4, 8, 4, 1)
    assert counts.reasons == {UNSAFE: 4, "There is nothing to see.": 1}
    rejected = Candidate.objects.filter(state="rejected")
    assert {one.rejected_by for one in rejected} == {"checker"}
    # As a sample for the researcher.
    assert all(one.image_id for one in rejected)


def test_an_answer_that_comes_twice_is_stored_once(
    project: Project, sent: list[dict[str, Any]], django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    begun(project, django_capture_on_commit_callbacks)
    assert stored(sent[0]) is not None
    count = Candidate.objects.count()
    assert stored(sent[0]) is None
    assert Candidate.objects.count() == count
    assert store(batch_id=0, answer=answer(sent[0]), now=NOON) is None


def test_few_messages_wait_with_workers_and_the_next_follow_their_answers(
    sent: list[dict[str, Any]], django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    # With four images of each, a message has four captions.
    project = filled(make_project("birds"), {f"row-{n}": f"A dog, number {n}." for n in range(22)})
    pipeline = begun(project, django_capture_on_commit_callbacks)
    assert [len(message["requests"]) for message in sent] == [4] * WINDOW
    assert Batch.objects.count() == 6
    stored(sent[0])
    send_due(pipeline.pk, NOON)
    assert len(sent) == WINDOW + 1
    send_due(pipeline.pk, NOON)
    assert len(sent) == WINDOW + 1


def test_a_lost_message_is_sent_again_and_one_that_kills_its_workers_is_not(
    project: Project, sent: list[dict[str, Any]], django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    pipeline = begun(project, django_capture_on_commit_callbacks)
    assert list(stalled(now=NOON)) == []
    assert list(stalled(now=LATER)) == [pipeline]
    send_due(pipeline.pk, LATER)
    assert sent[1] == sent[0]
    for _ in range(MOST_BEGUN):
        note_begun(batch_id=sent[0]["batch"], now=NOON)
    send_due(pipeline.pk, LATER + LOST_AFTER + timedelta(seconds=1))
    pipeline.refresh_from_db()
    assert (pipeline.error, pipeline.is_unfinished, len(sent)) == (LOST_TOO_OFTEN, False, 2)
    assert list(stalled(now=LATER + 3 * LOST_AFTER)) == []


def test_a_job_that_was_lost_after_the_last_answer_is_found(
    project: Project, sent: list[dict[str, Any]], django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    pipeline = begun(project, django_capture_on_commit_callbacks)
    stored(sent[0])
    assert list(stalled(now=NOON)) == [pipeline]
    assert ended(pipeline, django_capture_on_commit_callbacks).finished_at is not None
    assert list(stalled(now=LATER)) == []


def test_an_error_is_shown_and_what_is_missing_is_made_when_the_pipeline_goes_on(
    project: Project, sent: list[dict[str, Any]], django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    pipeline = begun(project, django_capture_on_commit_callbacks)
    assert store(batch_id=sent[0]["batch"], answer={"error": BROKEN}, now=NOON) is None
    pipeline.refresh_from_db()
    assert (pipeline.problem, pipeline.can_go_on) == (BROKEN, True)
    assert continue_pipeline(pipeline_id=pipeline.pk, now=NOON) is None
    again = begun(project, django_capture_on_commit_callbacks)
    assert again == pipeline
    assert again.problem == ""
    assert sent[1] == sent[0]
    stored(sent[1])
    assert ended(again, django_capture_on_commit_callbacks).finished_at is not None


def test_what_is_answered_after_a_cancellation_is_stored_and_nothing_more_is_sent(
    project: Project, sent: list[dict[str, Any]], django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    pipeline = begun(project, django_capture_on_commit_callbacks)
    cancel_pipeline(pipeline=pipeline, by="anna", now=NOON)
    pipeline.refresh_from_db()
    assert not pipeline.is_unfinished
    send_due(pipeline.pk, LATER)
    assert len(sent) == 1
    stored(sent[0])
    assert Candidate.objects.filter(stage="pictures").count() == 13
    assert continue_pipeline(pipeline_id=pipeline.pk, now=NOON) is None
    # It goes on with what is stored.
    begun(project, django_capture_on_commit_callbacks)
    assert len(sent) == 1
    assert Pipeline.objects.get().finished_at == NOON


def test_the_broker_is_away_for_a_while(
    project: Project,
    monkeypatch: pytest.MonkeyPatch,
    sent: list[dict[str, Any]],
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    def refuse(*args: Any, **kwargs: Any) -> None:
        raise OperationalError

    with monkeypatch.context() as away:
        away.setattr(current_app, "send_task", refuse)
        pipeline = begun(project, django_capture_on_commit_callbacks)
    assert Batch.objects.get().sent_at is None
    assert list(stalled(now=NOON)) == [pipeline]
    send_due(pipeline.pk, NOON)
    assert len(sent) == 1


def test_only_samples_of_rejected_images_are_stored(
    monkeypatch: pytest.MonkeyPatch,
    project: Project,
    sent: list[dict[str, Any]],
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    monkeypatch.setattr("making.actions.stages.MOST_REJECTED", 0)
    begun(project, django_capture_on_commit_callbacks)
    stored(sent[0])
    assert Candidate.objects.filter(state="rejected", image=None).count() == 4
    assert Image.objects.count() == 8


def test_a_full_disk_is_said_and_the_batch_is_stored_once_there_is_room(
    project: Project,
    sent: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    pipeline = begun(project, django_capture_on_commit_callbacks)

    def refuse(*_: Any, **__: Any) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    with monkeypatch.context() as full:
        full.setattr("making.actions.candidate_images.check_and_store", refuse)
        assert stored(sent[0]) is None
    pipeline.refresh_from_db()
    assert pipeline.problem == (
        "The site cannot store an image (No space left on device). Make room on its disk, or mend its media folder; "
        "then continue."
    )
    assert pipeline.can_go_on
    assert not pipeline.candidates.filter(stage="pictures").exists()
    begun(project, django_capture_on_commit_callbacks)
    assert stored(sent[1]) == pipeline
    assert ended(pipeline, django_capture_on_commit_callbacks).finished_at == NOON


def test_bytes_that_are_no_image_are_rejected(
    project: Project, sent: list[dict[str, Any]], django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    begun(project, django_capture_on_commit_callbacks)
    plain = answer(sent[0])
    plain["results"][0]["made"][0]["image"] = "bm9uZQ=="
    store(batch_id=sent[0]["batch"], answer=plain, now=NOON)
    (broken,) = Candidate.objects.filter(start_key="first", state="rejected")
    assert broken.rejected_by == "checker"
    assert broken.reason
    assert broken.image is None


def without(plain: dict[str, Any], name: str) -> dict[str, Any]:
    return {key: value for key, value in plain.items() if key != name}


def all_made(plain: dict[str, Any], *made: dict[str, Any]) -> dict[str, Any]:
    """Return an answer in which this was made of each of four texts."""
    return plain | {"results": [{"made": [*made]}] * 4}


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda plain: plain | {"results": plain["results"][1:]}, "it has 3 results for 4 requests"),
        (lambda plain: without(plain, "identity"), "`identity` is missing"),
        (lambda plain: without(plain, "results"), "`results` is missing"),
        (lambda plain: plain | {"identity": {"name": "paint:plain"}}, "`identity` cannot be read"),
        (lambda plain: plain | {"results": [{}] * 4}, "`results` cannot be read"),
        (lambda plain: all_made(plain, {"image": "bm9uZQ=="}), "`results` cannot be read"),
        (
            lambda plain: plain | {"results": [{"made": [PAINTED | {"image": "no base64"}]}] * 4},
            "`results` cannot be read",
        ),
        (
            lambda plain: plain | {"results": [{"made": [PAINTED] * 5}] * 4},
            "it has 5 candidates where 4 were requested",
        ),
        (lambda plain: plain | {"results": [{"made": [{"text": "A", "prompt": ""}]}] * 4}, "it has texts for images"),
    ],
)
def test_a_malformed_answer_is_an_error_at_once_and_the_batch_can_be_made_again(
    change: Callable[[dict[str, Any]], dict[str, Any]],
    why: str,
    project: Project,
    sent: list[dict[str, Any]],
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    pipeline = begun(project, django_capture_on_commit_callbacks)
    assert store(batch_id=sent[0]["batch"], answer=change(answer(sent[0])), now=NOON) is None
    pipeline.refresh_from_db()
    assert pipeline.problem == (
        f"The answer of a worker with models cannot be used: {why}. Check that the worker runs the same version of "
        "Lineup as the site, and go on."
    )
    assert not Candidate.objects.filter(stage="pictures").exists()
    begun(project, django_capture_on_commit_callbacks)
    assert stored(sent[1]) == pipeline


def test_requests_and_results_are_the_same_after_their_journey() -> None:
    painter = Painter()
    requests = [Request("A dog.", 2, 5), Request("nothing", 1, 6)]
    results = painter.make(requests)
    assert to_requests(from_requests(requests)) == requests
    assert to_results(from_results(painter.identity, results)) == (painter.identity, results)


def test_a_job_waits_for_no_worker(
    project: Project, sent: list[dict[str, Any]], django_capture_on_commit_callbacks: Callable[..., Any]
) -> None:
    begun(project, django_capture_on_commit_callbacks)
    assert list(Job.objects.values_list("state", flat=True)) == [JobState.DONE]
