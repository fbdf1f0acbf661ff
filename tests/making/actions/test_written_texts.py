"""Texts that a language model writes for a pipeline: stored with prompt and tokens, counted, turned into instances."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any

import pytest
from celery import current_app
from django.conf import settings

from background.models import JobState
from making.actions.batches import store
from making.actions.pipelines import cancel_pipeline, continue_pipeline, request_pipeline
from making.errors import CannotMake
from making.makers.llm import Llm
from making.messages import from_failure, from_results, to_lost_tokens, to_requests
from making.models import Candidate, Pipeline
from making.pipeline_file import read_pipeline
from making.queries.yields import stage_yields
from making.tokens import Tokens
from studies.models import Project
from tests.factories import NOON, make_instance, make_project
from tests.jobs import run_now
from tests.making.chat_model import TOKENS, ChatModel, caption_of, chat_model, fails, says, says_caption
from tests.receivers import Answer

pytestmark = pytest.mark.django_db
DESIGNS = Path(settings.BASE_DIR) / "making" / "designs"
CAPTIONS = {
    "first": "A dog sleeps on a sofa.",
    "second": "A bird eats a seed on a wall.",
    "third": "a" * 5_000,
    "fourth": "A fish swims in a tank.",
}
# The captions of the tests have no images.
EXAMPLE = (DESIGNS / "replace-object.yaml").read_text(encoding="utf-8").replace("  images:\n    image: image\n", "")
NOT_JSON = "The language model's answer is not the JSON that it was asked for."


def replies(asked: Mapping[str, Any], number: int) -> Answer:
    caption = caption_of(asked)
    if "bird" in caption:
        return says("As a language model I like birds.")
    if "fish" in caption:
        # The project has this caption already.
        return says_caption(CAPTIONS["first"])
    return says_caption(caption.replace("dog", "cat"))


@pytest.fixture
def model(monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatModel]:
    monkeypatch.setattr("making.makers.llm.sleep", lambda seconds: None)
    with chat_model(replies) as model:
        monkeypatch.setenv("LINEUP_LLM_ADDRESS", model.address)
        yield model


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[dict[str, Any]]:
    """The messages to workers with models."""
    messages: list[dict[str, Any]] = []
    monkeypatch.setattr(current_app, "send_task", lambda name, *, kwargs, **_: messages.append(kwargs))
    return messages


@pytest.fixture
def project() -> Project:
    project = make_project("birds")
    for key, text in CAPTIONS.items():
        make_instance(project, key, candidates=0, captions={"caption": text}, original_captions={"caption": text})
    return project


def work(message: Mapping[str, Any]) -> dict[str, Any]:
    """Answer a message as a worker does."""
    family, _, policy = message["maker"].partition(":")
    assert family == "llm"
    maker = Llm(**message["options"]).load(policy)
    return from_results(maker.identity, maker.make(to_requests(message["requests"])))


def test_the_shipped_example_makes_instances_and_says_what_became_of_the_rest(
    project: Project,
    model: ChatModel,
    sent: list[dict[str, Any]],
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    told = f"\n      address: {model.address}\n      price: {{currency: USD, input: 1000, output: 2000}}"
    source = EXAMPLE.replace("\n      temperature", f"{told}\n      temperature")
    pipeline, job = request_pipeline(project=project, source=source, by="anna", now=NOON)
    assert job is not None
    with django_capture_on_commit_callbacks(execute=True):
        assert run_now(job, now=NOON).state == JobState.DONE
    (message,) = sent
    assert store(batch_id=message["batch"], answer=work(message), now=NOON) == pipeline
    after = continue_pipeline(pipeline_id=pipeline.pk, now=NOON)
    assert after is not None
    assert run_now(after, now=NOON).state == JobState.DONE

    (made,) = project.instances.filter(reference__has_key="made")
    assert (made.key, made.type) == ("first-replace-object-1", "replace_obj")
    assert made.captions == {"caption": CAPTIONS["first"], "negative_caption": "A cat sleeps on a sofa."}

    written = Candidate.objects.filter(stage="replaced")
    kept, unreadable = written.get(start_key="first"), written.get(start_key="second")
    assert kept.prompt.endswith(model.prompts[0][-100:])
    assert f"Caption: {CAPTIONS['first']}\n" in kept.prompt
    assert (kept.prompt_tokens, kept.completion_tokens) == TOKENS
    assert (unreadable.state, unreadable.reason) == ("not_made", NOT_JSON)
    assert f"Caption: {CAPTIONS['second']}\n" in unreadable.prompt
    # Three attempts.
    assert (unreadable.prompt_tokens, unreadable.completion_tokens) == (3 * TOKENS[0], 3 * TOKENS[1])
    assert written.get(start_key="third").reason.startswith("The text is longer than 1,000 characters")
    assert written.get(start_key="fourth").rejected_by == "duplicates"
    assert kept.maker is not None
    assert (kept.maker.name, kept.maker.options["template"]) == ("llm:Qwen/Qwen2.5-7B-Instruct", "replace-object")

    (counts,) = stage_yields(Pipeline.objects.get())
    assert (counts.parents, counts.kept, counts.rejected, counts.not_made) == (4, 1, 1, 2)
    # Five answers of 11 and 7 tokens: 55 and 35, of which a thousand cost one and two dollars.
    assert counts.tokens == Tokens(55, 35)
    assert str(counts.cost) == "0.12 USD"


def test_a_worker_of_another_version_may_count_no_tokens(
    project: Project,
    model: ChatModel,
    sent: list[dict[str, Any]],
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    source = EXAMPLE.replace("\n      temperature", f"\n      address: {model.address}\n      temperature")
    _, job = request_pipeline(project=project, source=source, by="anna", now=NOON)
    assert job is not None
    with django_capture_on_commit_callbacks(execute=True):
        run_now(job, now=NOON)
    answer = work(sent[0])
    for result in answer["results"]:
        for each in [result, *result.get("made", [])]:
            each.pop("tokens", None)
    store(batch_id=sent[0]["batch"], answer=answer, now=NOON)
    (counts,) = stage_yields(Pipeline.objects.get())
    assert (counts.kept, counts.tokens, counts.cost) == (1, Tokens(), None)


def test_what_a_batch_used_counts_once_whether_it_failed_or_was_cancelled(
    project: Project,
    model: ChatModel,
    sent: list[dict[str, Any]],
    monkeypatch: pytest.MonkeyPatch,
    django_capture_on_commit_callbacks: Callable[..., Any],
) -> None:
    source = EXAMPLE.replace("\n      temperature", f"\n      address: {model.address}\n      temperature")

    def used() -> Tokens:
        return stage_yields(Pipeline.objects.get())[0].tokens

    def ask() -> Pipeline:
        pipeline, job = request_pipeline(project=project, source=source, by="anna", now=NOON)
        assert job is not None
        with django_capture_on_commit_callbacks(execute=True):
            run_now(job, now=NOON)
        return pipeline

    pipeline = ask()
    with monkeypatch.context() as patch:
        # The server loses its model after all but one caption are answered.
        patch.setattr("making.makers.llm.ATTEMPTS", 1)
        with chat_model(lambda asked, number: fails(502) if "bird" in caption_of(asked) else replies(asked, 0)) as away:
            patch.setenv("LINEUP_LLM_ADDRESS", away.address)
            message = sent[0] | {"options": sent[0]["options"] | {"address": away.address}}
            with pytest.raises(CannotMake) as failed:
                work(message)
    answer = from_failure(str(failed.value), failed.value.tokens)
    # Of three captions that are short enough, two were answered.
    for _ in range(2):
        assert store(batch_id=sent[0]["batch"], answer=answer, now=NOON) is None
    pipeline.refresh_from_db()
    assert pipeline.error.startswith("127.0.0.1 cannot reach its model (502). Continue the pipeline")
    assert used() == Tokens(2 * TOKENS[0], 2 * TOKENS[1])

    ask()
    pipeline.refresh_from_db()
    cancel_pipeline(pipeline=pipeline, by="anna", now=NOON)
    done = work(sent[1])
    for _ in range(2):
        store(batch_id=sent[1]["batch"], answer=done, now=NOON)
    # Five more answers: one each for two captions, and three attempts at the other one.
    assert used() == Tokens(7 * TOKENS[0], 7 * TOKENS[1])


def test_a_failure_without_tokens_or_of_another_version_has_none() -> None:
    assert to_lost_tokens(from_failure("It failed.")) == {}
    assert to_lost_tokens({"error": "It failed.", "id": "a", "tokens": "many"}) == {}
    assert to_lost_tokens({"error": "It failed.", "id": "a", "tokens": [1, 2]}) == {"a": [1, 2]}


def test_an_answer_without_lost_tokens_only_looks_for_its_batch(
    django_assert_num_queries: Callable[[int], AbstractContextManager[Any]],
) -> None:
    with django_assert_num_queries(1):
        assert store(batch_id=1, answer=from_failure("It failed."), now=NOON) is None


def test_trohn_text_asks_for_each_of_the_seven_types() -> None:
    stages = read_pipeline((DESIGNS / "trohn-text.yaml").read_text(encoding="utf-8")).stages
    assert len(stages) == 7
    assert [stage.options["template"] for stage in stages] == [stage.name for stage in stages]
