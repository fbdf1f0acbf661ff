"""Candidates that wait: for models on workers, whose messages are lost, doubled or late, and for a look at them all."""

from collections.abc import Callable, Mapping, Sequence
from datetime import timedelta
from importlib import import_module
from pathlib import Path
from typing import Any, ClassVar

import pytest
from celery import current_app
from django.apps import apps
from django.core.files.storage import default_storage
from PIL import Image as PictureFile
from pytest_django import Settings

from background.models import JobState
from making.actions import batches, filter_phases
from making.actions.batches import LOST_AFTER, LOST_TOO_OFTEN, MOST_BEGUN, note_begun, send_due, stalled, store
from making.actions.candidate_images import store_image
from making.actions.pipelines import cancel_pipeline, continue_pipeline, next_round, request_pipeline, request_trial
from making.actions.stages import StageRun
from making.filters import FILTERS, FilterInput, StageContext, StageFilter, StageVerdicts, Verdict
from making.makers import MAKERS
from making.messages import from_candidates, from_results, from_verdicts, to_candidates, to_requests
from making.models import Batch, Candidate, KnownText, Pipeline, UsedFilter
from making.queries.yields import WorkerProgress, stage_yields, worker_progress
from predictions.image_sets.embeddings import embedding_of
from predictions.models import PictureVector
from studies.actions.images import rendition
from studies.models import Image, InstanceImage, Project, Study
from tests.factories import NOON, make_instance, make_project
from tests.jobs import run_now
from tests.making.actions.test_human_stages import FILE as ASKING
from tests.making.actions.test_human_stages import choose, run_news, run_round
from tests.making.critic import DISLIKED, UNLOADABLE, LoadedCritic
from tests.making.painter import Painter, paint

pytestmark = pytest.mark.django_db

FILE = """name: swaps
start: {role: caption}
stages:
  - name: swapped
    make: words:swap-nouns
    filters:
      - {filter: length, at_least: 3}
      - filter: critic
      - filter: duplicates
  - name: again
    make: words:swap-nouns
    of: swapped
instances:
  of: again
  captions: {caption: start, negative_caption: again}
"""
IMAGES = """name: four
start: {role: caption}
stages:
  - {name: pictures, make: "paint:plain", count: 2, filters: [filter: looker]}
instances: {of: start, captions: {caption: start}, images: {candidate: pictures}}
"""
CAPTIONS = {
    "good": "A dog is on a table.",
    "bad": "A cup is in a bad box.",
    "short": "Dogs, cats.",
}
AN_HOUR = timedelta(hours=1)
LATER = NOON + LOST_AFTER + timedelta(seconds=1)


class Odd(StageFilter):
    """Keep every other candidate; stop where there are more than `most`."""

    version: ClassVar[str] = "2"
    of_images: ClassVar[bool] = True

    most: int = 1_000

    def judge_stage(self, candidates: Sequence[FilterInput], context: StageContext) -> StageVerdicts:
        stop = f"There are more than {self.most}." if len(candidates) > self.most else ""
        verdicts = [Verdict("It is odd." if place % 2 else "", place) for place in range(len(candidates))]
        return StageVerdicts(verdicts, f"Of {len(candidates)}.", stop)


@pytest.fixture(autouse=True)
def registries(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(MAKERS, "paint", "tests.making.painter.Paint")
    monkeypatch.setitem(FILTERS, "critic", "tests.making.critic.Critic")
    monkeypatch.setitem(FILTERS, "looker", "tests.making.critic.Looker")
    monkeypatch.setitem(FILTERS, "odd", "tests.making.actions.test_filter_phases.Odd")


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, dict[str, Any]]]:
    """The messages to workers with models: their tasks and what they say."""
    messages: list[tuple[str, dict[str, Any]]] = []

    def send(name: str, *, kwargs: dict[str, Any], queue: str, expires: float) -> None:
        assert (queue, expires) == ("gpu", LOST_AFTER.total_seconds())
        messages.append((name, kwargs))

    monkeypatch.setattr(current_app, "send_task", send)
    return messages


@pytest.fixture
def project() -> Project:
    return filled(CAPTIONS)


def filled(captions: Mapping[str, str]) -> Project:
    project = make_project("birds")
    for key, text in captions.items():
        texts = {"caption": text, "rival": "a bad one" if key == "rivalled" else "other"}
        make_instance(project, key, candidates=0, captions=texts, original_captions=texts)
    return project


Commit = Callable[..., Any]


@pytest.fixture
def commit(django_capture_on_commit_callbacks: Commit) -> Commit:
    return django_capture_on_commit_callbacks


def begun(project: Project, commit: Commit, source: str = FILE, state: JobState = JobState.DONE) -> Pipeline:
    """Return a pipeline whose job ran as far as it comes."""
    pipeline, job = request_pipeline(project=project, source=source, by="anna", now=NOON)
    assert job is not None
    with commit(execute=True):
        assert run_now(job, now=NOON).state == state
    pipeline.refresh_from_db()
    return pipeline


def answer(message: tuple[str, Mapping[str, Any]]) -> dict[str, Any]:
    task, content = message
    if task == "making.make":
        return from_results(Painter.identity, Painter().make(to_requests(content["requests"])))
    assert task == "making.judge"
    critic = LoadedCritic(content["options"]["dislikes"])

    def nobody(name: str) -> Any:
        raise AssertionError(name)

    return from_verdicts(critic.identity, critic.judge(to_candidates(content["candidates"]), nobody))


def stored(message: tuple[str, Mapping[str, Any]]) -> Pipeline | None:
    return store(batch_id=message[1]["batch"], answer=answer(message), now=NOON)


def gone_on(pipeline: Pipeline, commit: Commit) -> Pipeline:
    """Let the job after the last answer run; return the pipeline."""
    job = continue_pipeline(pipeline_id=pipeline.pk, now=NOON)
    assert job is not None
    with commit(execute=True):
        assert run_now(job, now=NOON).state == JobState.DONE
    pipeline.refresh_from_db()
    return pipeline


def states(pipeline: Pipeline, stage: str = "swapped") -> dict[str, str]:
    return dict(pipeline.candidates.filter(stage=stage).values_list("start_key", "state"))


def test_nothing_is_made_of_candidates_before_their_filters_answered(
    project: Project, sent: list[tuple[str, dict[str, Any]]], commit: Commit
) -> None:
    pipeline = begun(project, commit)
    (message,) = sent
    assert message[0] == "making.judge"
    assert (message[1]["filter"], message[1]["options"]) == ("critic", {"dislikes": "bad", "broken": False})
    expected = [("A table is on a dog.", CAPTIONS["good"]), ("A box is in a bad cup.", CAPTIONS["bad"])]
    assert [(each["text"], each["parent"]) for each in message[1]["candidates"]] == expected
    assert states(pipeline) == {"good": "waits", "bad": "waits", "short": "rejected"}
    assert (pipeline.waits_for, pipeline.is_unfinished) == ("swapped", True)
    assert worker_progress(pipeline) == WorkerProgress(0, 1)
    counts = stage_yields(pipeline)[0]
    assert (counts.made, counts.waits, counts.kept, counts.rejected) == (3, 2, 0, 1)
    assert not pipeline.candidates.filter(stage="again").exists()
    assert stored(message) == pipeline
    assert states(pipeline)["good"] == "waits"
    pipeline = gone_on(pipeline, commit)
    assert pipeline.finished_at == NOON
    assert states(pipeline) == {"good": "kept", "bad": "rejected", "short": "rejected"}
    bad = pipeline.candidates.get(start_key="bad", stage="swapped")
    assert (bad.rejected_by, bad.reason, bad.scores["length"]) == ("critic", DISLIKED, 7)
    # "A box is in a bad cup." has 22 characters, as has its parent.
    assert (bad.scores["critic"], bad.scores["critic gap"]) == (0.22, 0)
    assert states(pipeline, "again") == {"good": "kept"}
    assert list(project.instances.filter(tags__name="swaps").values_list("key", flat=True)) == ["good-swaps-1-1"]


def test_the_filters_of_a_stage_are_recorded_with_the_weights_of_their_models(
    project: Project, sent: list[tuple[str, dict[str, Any]]], commit: Commit
) -> None:
    pipeline = begun(project, commit)
    stored(sent[0])
    gone_on(pipeline, commit)
    found = UsedFilter.objects.values_list("stage", "number", "name", "version", "weights")
    assert list(found) == [
        ("swapped", 1, "length", "1", ""),
        ("swapped", 2, "critic", "1; critic", "1" * 64),
        ("swapped", 3, "duplicates", "1", ""),
    ]


def test_an_answer_that_comes_twice_or_late_is_stored_once(
    project: Project, sent: list[tuple[str, dict[str, Any]]], commit: Commit
) -> None:
    pipeline = begun(project, commit)
    cancel_pipeline(pipeline=pipeline, by="anna", now=NOON)
    assert stored(sent[0]) == pipeline
    assert stored(sent[0]) is None
    assert continue_pipeline(pipeline_id=pipeline.pk, now=NOON) is None
    assert states(pipeline) == {"good": "waits", "bad": "rejected", "short": "rejected"}
    assert begun(project, commit).finished_at == NOON
    assert len(sent) == 1
    assert stored(sent[0]) is None


def test_a_lost_message_is_sent_again_and_one_that_kills_its_workers_is_not(
    project: Project, sent: list[tuple[str, dict[str, Any]]], commit: Commit
) -> None:
    pipeline = begun(project, commit)
    assert list(stalled(now=LATER)) == [pipeline]
    send_due(pipeline.pk, LATER)
    assert sent[1] == sent[0]
    for _ in range(MOST_BEGUN):
        note_begun(batch_id=sent[0][1]["batch"], now=NOON)
    send_due(pipeline.pk, LATER + LOST_AFTER + timedelta(seconds=1))
    pipeline.refresh_from_db()
    assert (pipeline.error, len(sent)) == (LOST_TOO_OFTEN, 2)


def test_an_error_is_shown_and_candidates_wait_until_it_is_mended(
    project: Project, sent: list[tuple[str, dict[str, Any]]], commit: Commit
) -> None:
    pipeline = begun(project, commit)
    assert store(batch_id=sent[0][1]["batch"], answer={"error": UNLOADABLE}, now=NOON) is None
    pipeline.refresh_from_db()
    assert (pipeline.problem, pipeline.can_go_on) == (UNLOADABLE, True)
    assert states(pipeline)["good"] == "waits"
    begun(project, commit)
    stored(sent[1])
    assert gone_on(pipeline, commit).finished_at == NOON


FEWER = "it has 1 verdicts for 2 candidates"
UNREADABLE = "`verdicts` cannot be read"


@pytest.mark.parametrize(
    ("change", "why"),
    [
        (lambda plain: plain | {"verdicts": plain["verdicts"][:1]}, FEWER),
        (lambda plain: {"verdicts": plain["verdicts"]}, "`identity` is missing"),
        (lambda plain: plain | {"identity": {"version": 1}}, "`identity` cannot be read"),
        (lambda plain: plain | {"verdicts": None}, UNREADABLE),
        (lambda plain: plain | {"verdicts": [{"reason": None}] * 2}, UNREADABLE),
        (lambda plain: plain | {"verdicts": [{"score": "high"}] * 2}, UNREADABLE),
        (lambda plain: plain | {"verdicts": [{"score": float("nan")}] * 2}, "it has a score that is not a number"),
    ],
)
def test_a_malformed_answer_is_an_error_at_once(
    change: Callable[[dict[str, Any]], dict[str, Any]],
    why: str,
    project: Project,
    sent: list[tuple[str, dict[str, Any]]],
    commit: Commit,
) -> None:
    pipeline = begun(project, commit)
    assert store(batch_id=sent[0][1]["batch"], answer=change(answer(sent[0])), now=NOON) is None
    pipeline.refresh_from_db()
    assert pipeline.problem == (
        f"The answer of a worker with models cannot be used: {why}. Check that the worker runs the same version of "
        "Lineup as the site, and go on."
    )
    assert states(pipeline)["good"] == "waits"


def test_images_are_judged_by_their_names_and_beside_the_caption_of_a_role(
    sent: list[tuple[str, dict[str, Any]]], commit: Commit
) -> None:
    project = filled({"good": "A dog.", "bad": "A bad cat.", "rivalled": "A cup."})
    pipeline = begun(project, commit, IMAGES)
    stored(sent[0])
    gone_on(pipeline, commit)
    task, content = sent[1]
    made = list(pipeline.candidates.filter(stage="pictures").order_by("pk"))
    assert (task, content["filter"], len(made)) == ("making.judge", "looker", 6)
    assert {one.state for one in made} == {"waits"}
    assert content["candidates"][0] == {"image": made[0].image_id, "text": "A dog.", "rival": "other"}
    stored(sent[1])
    gone_on(pipeline, commit)
    kept = pipeline.candidates.filter(stage="pictures", state="kept")
    assert {one.start_key for one in kept} == {"good"}
    assert list(project.instances.filter(tags__name="four").values_list("key", flat=True)) == ["good-four"]
    # As samples for the researcher.
    assert Image.objects.count() == 6


@pytest.mark.parametrize("has_vector", [True, False])
def test_an_image_like_one_of_the_project_is_a_near_duplicate(
    has_vector: bool, sent: list[tuple[str, dict[str, Any]]], commit: Commit
) -> None:
    project = filled({"good": "A dog."})
    pipeline = begun(project, commit, IMAGES.replace("filter: looker", "filter: near-duplicates"))
    seed = to_requests(sent[0][1]["requests"])[0].seed
    shown = store_image(paint("A dog.", seed))
    InstanceImage.objects.create(instance=project.instances.get(), role="image", filename="a.png", image=shown)
    if has_vector:
        embedding = embedding_of("")
        with default_storage.open(rendition(sha256=shown.pk, size="card")) as file:
            vector = embedding.embed([PictureFile.open(file).convert("RGB")])[0].astype("<f2").tobytes()
        PictureVector.objects.create(image=shown, embedding=embedding.name, vector=vector)
    stored(sent[0])
    assert gone_on(pipeline, commit).finished_at == NOON
    found = pipeline.candidates.filter(stage="pictures").order_by("number")
    assert [one.reason for one in found] == ["It is a near duplicate of an image of the project.", ""]
    # The project still shows it.
    assert found[0].image == shown


def test_only_samples_of_rejected_images_stay(
    monkeypatch: pytest.MonkeyPatch, sent: list[tuple[str, dict[str, Any]]], commit: Commit
) -> None:
    monkeypatch.setattr("making.actions.stages.MOST_REJECTED", 1)
    pipeline = begun(filled({"good": "A dog.", "bad": "A bad cat."}), commit, IMAGES)
    stored(sent[0])
    gone_on(pipeline, commit)
    with commit(execute=True):
        stored(sent[1])
    rejected = pipeline.candidates.filter(state="rejected").order_by("pk")
    assert [bool(one.image_id) for one in rejected] == [True, False]
    assert Image.objects.count() == 3


ODD = FILE.replace("filter: critic", "filter: odd").replace("      - filter: duplicates\n", "")
FOUR = {f"row-{number}": f"A dog is on table {number}." for number in range(4)}


def test_a_filter_of_a_whole_stage_sees_all_that_are_left(commit: Commit) -> None:
    pipeline = begun(filled(FOUR | {"short": "Dogs, cats."}), commit, ODD)
    found = states(pipeline)
    assert found == {"row-0": "kept", "row-1": "rejected", "row-2": "kept", "row-3": "rejected", "short": "rejected"}
    assert UsedFilter.objects.get(name="odd").note == "Of 4."
    assert pipeline.candidates.get(stage="swapped", start_key="row-2").scores["odd"] == 2


def test_a_filter_of_a_whole_stage_may_stop_the_pipeline_before_anything_follows(commit: Commit) -> None:
    source = ODD.replace("filter: odd", "{filter: odd, most: 3}")
    pipeline = begun(filled(FOUR), commit, source, state=JobState.FAILED)
    assert (pipeline.problem, pipeline.can_go_on) == ("There are more than 3.", True)
    assert set(states(pipeline).values()) == {"waits", "rejected"}
    assert not pipeline.candidates.filter(stage="again").exists()
    assert not pipeline.project.instances.filter(tags__name="swaps").exists()
    assert UsedFilter.objects.get(name="odd").note == "Of 4."


def test_a_job_that_is_lost_between_filters_goes_on_after_the_last_one(
    monkeypatch: pytest.MonkeyPatch, commit: Commit
) -> None:
    project = filled(FOUR)

    def fail(*args: Any) -> None:
        raise RuntimeError

    with monkeypatch.context() as broken:
        broken.setattr(StageRun, "waiting", fail)
        begun(project, commit, ODD, state=JobState.FAILED)
    pipeline = begun(project, commit, ODD)
    # Judged once: of the two that are left, a second look would reject one.
    assert sorted(states(pipeline).values()) == ["kept", "kept", "rejected", "rejected"]


def test_a_trial_waits_for_filters_too(
    project: Project, sent: list[tuple[str, dict[str, Any]]], commit: Commit
) -> None:
    trial, job = request_trial(project=project, source=FILE, by="anna", now=NOON)
    with commit(execute=True):
        run_now(job, now=NOON)
    stored(sent[0])
    assert gone_on(trial, commit).finished_at == NOON
    assert states(trial)["good"] == "kept"


def test_the_captions_of_a_project_are_read_once_and_each_batch_asks_for_its_own_texts(
    monkeypatch: pytest.MonkeyPatch, commit: Commit
) -> None:
    source = FILE.replace("      - filter: critic\n", "")
    mirror = {"first": "A dog is on a table.", "second": "A table is on a dog.", "third": "A cup is in a box."}
    project = filled(mirror)
    monkeypatch.setattr("making.actions.stages.BATCH", 1)
    pipeline = begun(project, commit, source)
    assert states(pipeline) == {"first": "rejected", "second": "rejected", "third": "kept"}
    # Three captions and one rival.
    assert KnownText.objects.filter(pipeline=pipeline).count() == 4
    assert pipeline.texts_known_at == NOON


def test_a_text_that_waits_is_known_to_later_ones_of_its_stage(
    sent: list[tuple[str, dict[str, Any]]], commit: Commit
) -> None:
    # Both captions make "A table is on a dog."; capitals do not count.
    source = FILE.replace("{filter: length, at_least: 3}", "filter: duplicates").replace(
        "      - filter: duplicates\n  - name", "  - name"
    )
    project = filled({"first": "A dog is on a table.", "second": "A DOG is on a table!"})
    pipeline = begun(project, commit, source)
    assert [each["text"] for each in sent[0][1]["candidates"]] == ["A table is on a dog."]
    assert states(pipeline) == {"first": "waits", "second": "rejected"}


def test_a_later_filter_of_texts_finds_duplicates_among_those_that_wait(
    sent: list[tuple[str, dict[str, Any]]], commit: Commit, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(filter_phases, "BATCH", 1)
    project = filled({"first": "A dog is on a table.", "second": "A DOG is on a table!"})
    pipeline = begun(project, commit)
    stored(sent[0])
    gone_on(pipeline, commit)
    assert states(pipeline) == {"first": "kept", "second": "rejected"}


def test_many_candidates_are_several_messages(
    monkeypatch: pytest.MonkeyPatch, sent: list[tuple[str, dict[str, Any]]], commit: Commit
) -> None:
    monkeypatch.setattr(batches, "JUDGED_PER_BATCH", 3)
    pipeline = begun(filled(FOUR), commit)
    assert [len(message[1]["candidates"]) for message in sent] == [3, 1]
    assert Batch.objects.filter(filter_number=2).count() == 2
    stored(sent[1])
    stored(sent[0])
    gone_on(pipeline, commit)
    assert set(states(pipeline).values()) == {"kept"}


def test_in_each_round_what_is_made_of_new_decisions_waits_for_the_filters(
    sent: list[tuple[str, dict[str, Any]]], commit: Commit
) -> None:
    project = make_project("loop")
    for key, text in {"dog": "A dog is on a table.", "cup": "A cup is in a box."}.items():
        captions = {"caption": f"No {key}.", "negative_caption": text}
        make_instance(project, key, captions=captions, original_captions=captions)
    source = ASKING.replace("of: chosen}", "of: chosen, filters: [filter: critic, filter: duplicates]}")
    pipeline = run_round(project, source=source)
    study = Study.objects.get(project=project, slug="loop-chosen")
    for number, person in enumerate(("ann", "bob"), start=1):
        choose(study, person, "candidate-2", now=NOON + number * AN_HOUR)
        with commit(execute=True):
            assert run_news(pipeline, now=NOON + number * AN_HOUR)
        assert len(sent) == number
        assert len(sent[-1][1]["candidates"]) == 1
        assert sorted(states(pipeline).values()) == ["kept"] * (number - 1) + ["waits"]
        assert not next_round(pipeline_id=pipeline.pk, now=NOON + 9 * AN_HOUR)
        stored(sent[-1])
        job = continue_pipeline(pipeline_id=pipeline.pk, now=NOON + number * AN_HOUR)
        assert job is not None
        assert run_now(job, now=NOON + number * AN_HOUR).state == JobState.DONE
        pipeline.refresh_from_db()
        assert sorted(states(pipeline).values()) == ["kept"] * number
        assert project.instances.filter(tags__name="loop").count() == number
    assert list(Batch.objects.values_list("stage", "filter_number", "number")) == [("swapped", 1, 1), ("swapped", 1, 2)]


def test_the_gaps_of_two_models_are_refined(sent: list[tuple[str, dict[str, Any]]], commit: Commit) -> None:
    models = "filter: critic}\n      - {filter: critic, dislikes: none"
    refined = "{filter: adversarial-refinement, gaps: [critic, critic-2]}"
    source = FILE.replace("      - filter: critic\n", f"      - {{{models}}}\n").replace("filter: duplicates", refined)
    pipeline = begun(filled(CAPTIONS), commit, source)
    stored(sent[0])
    gone_on(pipeline, commit)
    stored(sent[1])
    assert gone_on(pipeline, commit).finished_at == NOON
    # Swapped words leave no gap, and pairs without a gap stay.
    assert states(pipeline) == {"good": "kept", "bad": "rejected", "short": "rejected"}
    assert UsedFilter.objects.get(name="adversarial-refinement").note == "It kept 1 of 1."


def test_an_upgrade_notes_the_words_of_texts_that_were_made_before(commit: Commit) -> None:
    source = FILE.replace("      - filter: critic\n", "")
    pipeline = begun(filled({"good": "A dog is on a table."}), commit, source)
    digest = pipeline.candidates.get(stage="swapped").digest
    assert len(digest) == 32
    Candidate.objects.update(digest="")
    import_module("making.migrations.0005_digests_of_texts").add_digests(apps, None)
    assert pipeline.candidates.get(stage="swapped").digest == digest


def test_candidates_are_the_same_after_their_journey() -> None:
    candidates = to_candidates(
        [{"text": "A dog.", "parent": "A cat."}, {"image": "0" * 64, "text": "A dog.", "rival": ""}]
    )
    assert to_candidates(from_candidates(candidates)) == candidates


def test_texts_of_a_known_test_set_are_lines_of_a_file(settings: Settings, tmp_path: Path, commit: Commit) -> None:
    near = FILE.replace("filter: critic", "{filter: near-duplicates, known: [crepe]}")
    project = filled({"first": "A dog is on a table.", "second": "A cup is in a box."})
    settings.KNOWN_SETS_DIR = ""
    pipeline = begun(project, commit, near, state=JobState.FAILED)
    assert "The site has no folder of known test sets." in pipeline.problem
    settings.KNOWN_SETS_DIR = str(tmp_path)
    pipeline = begun(project, commit, near, state=JobState.FAILED)
    assert "crepe.txt in UTF-8, a text a line. It has none." in pipeline.problem
    (tmp_path / "crepe.txt").write_text("Nothing.\n\na box is in a CUP\n", encoding="utf-8")
    pipeline = begun(project, commit, near)
    assert states(pipeline) == {"first": "kept", "second": "rejected"}
    rejected = Candidate.objects.get(stage="swapped", start_key="second")
    assert rejected.reason == "It is a near duplicate of a text of the test set crepe."
