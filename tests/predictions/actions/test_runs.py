"""What is asked of models, what workers answer, and that whatever comes twice, late or never changes nothing else."""

from collections.abc import Callable, Mapping
from datetime import timedelta
from typing import Any

import pytest

import tests.predictions.plain_scorer as plain
from predictions.actions import runs, store_scores
from predictions.actions.runs import LOST_AFTER, MOST_BEGUN, WINDOW, cancel_run, request_run, resume_run
from predictions.errors import CannotPredict
from predictions.messages import Item
from predictions.models import Chunk, Conditions, Model, Prediction, Run
from predictions.queries.progress import models_of, progress_of
from studies.kinds import content_hash, get_kind
from studies.models import Event, Instance, Project, Question, Study
from tests.factories import NOON, TESTS, draw_image, draw_instance, make_launched, make_project, make_study

pytestmark = pytest.mark.django_db
SPEC = "plain:w1"
IDENTITY = {"name": "plain", "version": "1", "weights": "w1"}
CONDITIONS = {"dtype": "float32", "batch": 16}
INSTANCES = 12
LATER = NOON + LOST_AFTER + timedelta(seconds=1)
DOWN = "https://lineup.example answered 502. Check that the site runs, and the worker's LINEUP_IMAGES."


def seconds(count: float) -> timedelta:
    return timedelta(seconds=count)


@pytest.fixture
def project() -> Project:
    project = make_project("birds")
    for number in range(1, INSTANCES + 1):
        draw_instance(project, number, candidates=2)
    return project


def ask(project: Project, spec: str = SPEC, **wanted: Any) -> Run:
    return request_run(project=project, spec=spec, by=TESTS, now=NOON, **wanted or {"kind": "best_of_n"})


def loaded(run: Run, *, questions_per_chunk: int = 1, **identity: str) -> Run:
    """Let a worker say that it has loaded the model, which is so fast that a chunk has so many questions."""
    speed = 2 * questions_per_chunk / store_scores.SECONDS_PER_CHUNK
    answer = {"identity": IDENTITY | identity, "pictures_per_second": speed}
    assert runs.due(run_id=run.pk, now=NOON).load == run
    store_scores.plan(run_id=run.pk, answer=answer, now=NOON)
    run.refresh_from_db()
    return run


def score(text: str, picture: str) -> float:
    return plain.digest_score("w1", text, picture)


def scored(items: list[Item], by: Callable[[str, str], float] = score, **identity: str) -> dict[str, Any]:
    """Return what a worker answers to these."""
    results = [
        {"content": item["content"], "scores": {option: by(*match) for option, match in item["matches"].items()}}
        for item in items
    ]
    return {"identity": IDENTITY | identity, "conditions": CONDITIONS, "results": results}


def in_one_chunk(run: Run, **identity: str) -> tuple[Chunk, dict[str, Any]]:
    """Return the only chunk of a run, and what a worker answers to it."""
    (chunk,) = runs.due(run_id=loaded(run, questions_per_chunk=2 * INSTANCES, **identity).pk, now=NOON).chunks
    return chunk, scored(runs.items_of(chunk=chunk), score, **identity)


def store(chunk: Chunk, answer: Mapping[str, Any] | None = None, **clock: Any) -> None:
    answer = scored(runs.items_of(chunk=chunk)) if answer is None else answer
    store_scores.store(run_id=chunk.run_id, chunk_id=chunk.pk, answer=answer, now=clock.get("now", NOON))


def do_all(run: Run) -> Run:
    while chunks := runs.due(run_id=run.pk, now=NOON).chunks:
        for chunk in chunks:
            store(chunk)
    run.refresh_from_db()
    return run


def stored() -> dict[str, Any]:
    return {
        model.__name__: list(model._default_manager.order_by("pk").values())
        for model in (Run, Chunk, Prediction, Model)
    }


def test_a_run_asks_for_the_model_first_and_then_for_chunks(project: Project) -> None:
    run = ask(project)
    due = runs.due(run_id=run.pk, now=NOON)
    assert (due.load, due.chunks) == (run, [])
    # While the worker is at it nothing more is asked.
    assert runs.due(run_id=run.pk, now=NOON) == runs.Due()
    answer = {"identity": IDENTITY, "pictures_per_second": 2 * 5 / store_scores.SECONDS_PER_CHUNK}
    store_scores.plan(run_id=run.pk, answer=answer, now=NOON)
    assert [len(chunk.items) for chunk in run.chunks.all()] == [5, 5, 2]
    due = runs.due(run_id=run.pk, now=NOON)
    assert [chunk.number for chunk in due.chunks] == [1, 2, 3]
    assert due.load is None


def test_scores_become_predictions_about_what_was_shown(project: Project) -> None:
    pictures = [draw_image(number).sha256 for number in (7, 8)]
    text = "A bird under 2 roofs."
    options = [{"key": f"candidate-{at}", "image": sha, "width": 8, "height": 6} for at, sha in enumerate(pictures)]
    shown = content_hash(get_kind("best_of_n"), {"caption": text, "options": options})
    run = loaded(ask(project), questions_per_chunk=5)
    items = runs.items_of(chunk=runs.due(run_id=run.pk, now=NOON).chunks[0])
    # Nothing else is told to a worker.
    matches = {f"candidate-{at}": (text, sha) for at, sha in enumerate(pictures)}
    assert items[1] == {"content": shown, "matches": matches}
    for chunk in run.chunks.all():
        store(chunk)
    run.refresh_from_db()
    assert (run.state, run.stored, run.wrong, run.total, run.finished_at) == (Run.State.DONE, 12, 0, 12, NOON)
    assert not runs.overdue_runs(now=LATER)
    second = Prediction.objects.get(instance__key="row-2")
    assert second.scores == {option: score(*match) for option, match in matches.items()}
    assert (second.is_right, second.caption_rule, second.source_file) == (None, "bivlc-release-v1", "")
    assert second.conditions is not None
    assert second.conditions.details == CONDITIONS
    assert second.model == run.model == Model.objects.get(**IDENTITY)
    told = Event.objects.get(what="predictions computed")
    assert told.details == {"model": "plain 1 (w1)", "predictions": 12, "wrong": 0}


def test_what_was_scored_again_says_under_what_other_conditions(project: Project) -> None:
    chunk, answer = in_one_chunk(ask(project))
    in_float32 = {"dtype": "float32", "again": {"in": "float16", "closer_than": 0.002}}
    again = {"contents": [answer["results"][at]["content"] for at in (1, 4)], "conditions": in_float32}
    store(chunk, {**answer, "again": again})
    computed = Prediction.objects.exclude(conditions=None).order_by("instance_id")
    assert [each.conditions.details for each in computed if each.conditions] == [
        in_float32 if at in (1, 4) else CONDITIONS for at in range(INSTANCES)
    ]
    assert Conditions.objects.count() == 2
    (line,) = models_of(project)
    assert (line.verified, line.declared, line.again, line.more_again) == (INSTANCES, 0, 2, 0)
    assert line.asked_again == ["row-2 best_of_n", "row-5 best_of_n"]


def test_an_answer_is_right_when_the_right_option_alone_is_highest(project: Project) -> None:
    for instance in project.instances.prefetch_related("images"):
        instance.images.filter(role="candidate", position=0).update(role="negative_image")
    chunk, _ = in_one_chunk(ask(project, kind="image_to_text", variant="image"))
    # By the length of the text: "on" is right and shorter than "under"; then a tie.
    store(chunk, scored(runs.items_of(chunk=chunk), by=lambda text, _: -len(text)))
    assert set(Prediction.objects.values_list("kind", "variant", "is_right")) == {("image_to_text", "image", True)}
    chunk, _ = in_one_chunk(ask(project, "plain:w2", kind="image_to_text"), weights="w2")
    store(chunk, scored(runs.items_of(chunk=chunk), by=lambda *_: 0.5, weights="w2"))
    of_other = Prediction.objects.filter(model__weights="w2").values_list("variant", "is_right")
    assert sorted(of_other) == [("image", False)] * INSTANCES + [("negative_image", False)] * INSTANCES


def test_the_same_answer_twice_changes_nothing_the_second_time(project: Project) -> None:
    run = loaded(ask(project), questions_per_chunk=5)
    chunk = runs.due(run_id=run.pk, now=NOON).chunks[0]
    answer = scored(runs.items_of(chunk=chunk))
    store(chunk, answer)
    before = stored()
    store(chunk, answer, now=LATER)
    store(chunk, scored(runs.items_of(chunk=chunk), by=lambda *_: 0.5), now=LATER)
    store_scores.plan(run_id=run.pk, answer={"identity": IDENTITY, "pictures_per_second": 9}, now=LATER)
    assert stored() == before
    assert Prediction.objects.count() == 5


def test_no_more_is_with_the_workers_than_the_window_and_what_was_lost_is_sent_again(project: Project) -> None:
    run = loaded(ask(project))
    first, second, *others = runs.due(run_id=run.pk, now=NOON).chunks
    assert [chunk.number for chunk in (first, second, *others)] == list(range(1, WINDOW + 1))
    # However long they take, until they are taken for lost.
    assert runs.due(run_id=run.pk, now=NOON + LOST_AFTER).chunks == []
    store(second)
    assert [chunk.number for chunk in runs.due(run_id=run.pk, now=NOON).chunks] == [WINDOW + 1]
    store(first)
    assert [run] == list(runs.overdue_runs(now=LATER))
    # One place of the window is free, which the next takes.
    again = [chunk.number for chunk in runs.due(run_id=run.pk, now=LATER).chunks]
    assert again == [*(chunk.number for chunk in others), WINDOW + 1, WINDOW + 2]
    assert runs.due(run_id=run.pk, now=LATER).chunks == []


def test_a_message_to_load_that_was_lost_is_sent_again_until_it_was_lost_too_often(project: Project) -> None:
    run = ask(project)
    assert not runs.overdue_runs(now=NOON)
    runs.due(run_id=run.pk, now=NOON)
    assert runs.due(run_id=run.pk, now=NOON + LOST_AFTER) == runs.Due()
    assert list(runs.overdue_runs(now=LATER)) == [run]
    assert runs.due(run_id=run.pk, now=LATER).load == run
    for _ in range(MOST_BEGUN):
        store_scores.note_begun(run_id=run.pk, chunk_id=0)
    assert runs.due(run_id=run.pk, now=LATER + LOST_AFTER + seconds(1)) == runs.Due()
    run.refresh_from_db()
    assert (run.state, run.error) == (Run.State.FAILED, runs.LOST_TOO_OFTEN)


def test_what_ends_every_worker_that_begins_it_is_given_up(project: Project) -> None:
    run = loaded(ask(project), questions_per_chunk=11)
    first, second = runs.due(run_id=run.pk, now=NOON).chunks
    for _ in range(MOST_BEGUN):
        store_scores.note_begun(run_id=run.pk, chunk_id=first.pk)
    store(second)
    assert runs.due(run_id=run.pk, now=LATER).chunks == []
    run.refresh_from_db()
    assert (run.state, run.stored, run.wrong) == (Run.State.DONE, 1, 11)
    assert progress_of(run, now=LATER).problems == [(runs.LOST_TOO_OFTEN, 11)]


def test_a_model_that_cannot_be_loaded_ends_the_run_with_its_sentence(project: Project) -> None:
    run = ask(project)
    store_scores.plan(run_id=run.pk, answer={"error": plain.BROKEN}, now=NOON)
    run.refresh_from_db()
    assert (run.state, run.error, run.finished_at) == (Run.State.FAILED, plain.BROKEN, NOON)


def test_a_second_run_scores_only_what_is_missing_or_mismatched_and_changes_nothing_else(project: Project) -> None:
    do_all(loaded(ask(project), questions_per_chunk=5))
    *before, wrong = Prediction.objects.order_by("pk")
    Prediction.objects.filter(pk=wrong.pk).update(problem="the scores lack a", scores={"zz": 1.0, "candidate-1": 0.5})
    draw_instance(project, INSTANCES + 1, candidates=2)
    run = do_all(loaded(ask(project), questions_per_chunk=5))
    assert (run.total, run.stored, run.already_there) == (2, 2, INSTANCES - 1)
    kept = Prediction.objects.filter(pk__in=[each.pk for each in before]).order_by("pk")
    assert [(each.scores, each.created_at) for each in kept] == [(each.scores, each.created_at) for each in before]
    again = Prediction.objects.get(instance=wrong.instance)
    assert (again.scores, again.problem) == (wrong.scores, "")
    assert do_all(loaded(ask(project))).total == 0


@pytest.mark.both
def test_two_runs_at_once_store_each_prediction_once(project: Project) -> None:
    """One about the study, one about the same questions without it."""
    study = make_launched(make_study(project))
    (first, _), (second, _) = in_one_chunk(ask(project)), in_one_chunk(ask(project, study=study))
    store(first)
    before = list(Prediction.objects.order_by("pk").values())
    store(second, scored(runs.items_of(chunk=second), by=lambda *_: 0.5))
    assert list(Prediction.objects.order_by("pk").values()) == before
    assert Run.objects.get(study=study).state == Run.State.DONE


def test_a_cancelled_run_sends_nothing_more_and_goes_on_with_what_is_missing(project: Project) -> None:
    run = loaded(ask(project))
    chunks = runs.due(run_id=run.pk, now=NOON).chunks
    store(chunks[0])
    cancel_run(run=run, by=TESTS, now=NOON)
    assert runs.due(run_id=run.pk, now=LATER) == runs.Due()
    # What was with a worker is kept.
    store(chunks[1])
    run.refresh_from_db()
    assert (run.state, run.stored) == (Run.State.CANCELLED, 2)
    with pytest.raises(CannotPredict, match="already ended"):
        cancel_run(run=run, by=TESTS, now=NOON)
    resume_run(run=run, by=TESTS, now=NOON)
    # An answer that comes after all, to a chunk of before.
    answer = scored(runs.items_of(chunk=chunks[2]))
    run = loaded(run, questions_per_chunk=20)
    store(chunks[2], answer)
    run = do_all(run)
    assert (run.state, run.stored, run.total, run.already_there) == (Run.State.DONE, 12, 12, 0)
    assert Prediction.objects.count() == 12
    with pytest.raises(CannotPredict, match="nothing to resume"):
        resume_run(run=run, by=TESTS, now=NOON)


def test_a_question_that_cannot_be_scored_costs_itself_only_and_can_be_gone_on_with(project: Project) -> None:
    run = ask(project)
    chunk, answer = in_one_chunk(run)
    nan, inf, options = float("nan"), float("inf"), ("candidate-0", "candidate-1")
    no_numbers: list[Any] = [
        {"candidate-0": 0.5},
        {},
        None,
        *(dict.fromkeys(options, bad) for bad in ("high", nan, inf)),
    ]
    no_numbers += [{"candidate-0": True, "candidate-1": 1}]
    others = {
        "zz is not an option": {"zz": 0.0, "candidate-0": 0.1, "candidate-1": 0.2},
        "the scores lack candidate-0; zz is not an option": {"zz": 0.0, "candidate-1": 0.2},
        "the scores lack candidate-0; candidate-O is not an option": {"candidate-O": 0.5, "candidate-1": 0.2},
    }
    for result, scores in zip(answer["results"], [*no_numbers, *others.values()], strict=False):
        result["scores"] = scores
    answer["results"][10] = {"content": answer["results"][10]["content"], "error": "The image is gone."}
    store(chunk, answer)
    run.refresh_from_db()
    assert (run.state, run.stored, run.wrong) == (Run.State.DONE, 1, 11)
    chunk.refresh_from_db()
    did_not = "The worker did not answer the question"
    expected = [f"row-{at}: {store_scores.NOT_A_NUMBER}" for at in range(1, 8)]
    expected += [f"row-{at}: {did_not}: {problem} (its options: " for at, problem in enumerate(others, start=8)]
    expected += ["row-11: The image is gone."]
    assert [found[: len(start)] for found, start in zip(chunk.problems, expected, strict=True)] == expected
    assert set(progress_of(run, now=NOON).problems) < {(problem, 1) for problem in chunk.problems}
    resume_run(run=run, by=TESTS, now=NOON)
    run = do_all(loaded(run))
    assert (run.state, run.stored, run.wrong, run.total) == (Run.State.DONE, 12, 0, 12)


def test_pictures_that_cannot_be_reached_are_tried_again_after_growing_pauses(project: Project) -> None:
    run = loaded(ask(project))
    now, waits = NOON, []
    for chunk in runs.due(run_id=run.pk, now=now).chunks:
        store_scores.note_begun(run_id=run.pk, chunk_id=chunk.pk)
        store_scores.note_unreachable(run_id=run.pk, chunk_id=chunk.pk, why=DOWN, now=now)
    for _ in range(8):
        run.refresh_from_db()
        assert run.paused_until is not None
        waits.append((run.paused_until - now).total_seconds())
        assert runs.due(run_id=run.pk, now=run.paused_until - seconds(0.001)) == runs.Due()
        now = run.paused_until
        # One chunk tries for all of them.
        (chunk,) = runs.due(run_id=run.pk, now=now).chunks
        assert runs.due(run_id=run.pk, now=now) == runs.Due()
        store_scores.note_begun(run_id=run.pk, chunk_id=chunk.pk)
        store_scores.note_unreachable(run_id=run.pk, chunk_id=chunk.pk, why=DOWN, now=now)
    assert waits == [5, 10, 20, 40, 80, 160, 300, 300]
    run.refresh_from_db()
    assert (run.state, run.wrong, run.unreachable_since, run.unreachable) == (Run.State.RUNNING, 0, NOON, DOWN)
    assert run.paused_until is not None
    later = run.paused_until
    (chunk,) = runs.due(run_id=run.pk, now=later).chunks
    store(chunk)
    told = Run.objects.values_list("unreachable_since", "unreachable", "paused_until", "pauses").get(pk=run.pk)
    assert told == (None, "", None, 0)
    assert len(runs.due(run_id=run.pk, now=later).chunks) == WINDOW
    for chunk in run.chunks.filter(stored_at=None, sent_at__isnull=False):
        store(chunk)
    run = do_all(run)
    assert (run.state, run.stored, run.wrong) == (Run.State.DONE, INSTANCES, 0)


def test_a_run_that_waits_for_pictures_holds_up_no_other_and_waits_no_more_when_it_is_begun_anew(
    project: Project,
) -> None:
    waiting, other = loaded(ask(project)), loaded(ask(project, "plain:w2"))
    (chunk, *_) = runs.due(run_id=waiting.pk, now=NOON).chunks
    paused = store_scores.note_unreachable(run_id=waiting.pk, chunk_id=chunk.pk, why=DOWN, now=NOON)
    assert paused == seconds(5)
    assert runs.due(run_id=waiting.pk, now=NOON) == runs.Due()
    assert len(runs.due(run_id=other.pk, now=NOON).chunks) == WINDOW
    cancel_run(run=waiting, by=TESTS, now=NOON)
    resume_run(run=waiting, by=TESTS, now=NOON)
    waiting.refresh_from_db()
    assert (waiting.unreachable_since, waiting.paused_until) == (None, None)


def test_pictures_of_what_is_over_are_waited_for_by_nobody(project: Project) -> None:
    chunk, answer = in_one_chunk(ask(project))
    store(chunk, answer)
    before = stored()
    for pk in (chunk.pk, 0):
        assert store_scores.note_unreachable(run_id=chunk.run_id, chunk_id=pk, why=DOWN, now=NOON) is None
    assert stored() == before


def test_a_question_that_shows_something_else_by_now_is_not_scored(project: Project) -> None:
    run = ask(project)
    chunk, _ = in_one_chunk(run)
    first, second = Instance.objects.order_by("pk")[:2]
    first.captions = first.captions | {"negative_caption": "Something else."}
    first.save()
    second.delete()
    items = runs.items_of(chunk=chunk)
    assert len(items) == INSTANCES - 2
    store(chunk, scored(items))
    run.refresh_from_db()
    assert (run.stored, run.wrong) == (10, 2)
    resume_run(run=run, by=TESTS, now=NOON)
    run = do_all(loaded(run))
    assert (run.stored, run.wrong) == (11, 0)
    assert Prediction.objects.get(instance=first).scores is not None


def test_other_weights_under_the_same_name_are_not_mixed_in(project: Project) -> None:
    run = ask(project)
    chunk, answer = in_one_chunk(run)
    store(chunk, answer | {"identity": IDENTITY | {"weights": "w2"}})
    run.refresh_from_db()
    assert (run.stored, run.wrong) == (0, INSTANCES)
    assert not Prediction.objects.exists()
    resume_run(run=run, by=TESTS, now=NOON)
    store(*in_one_chunk(run, weights="w2"))
    assert set(Prediction.objects.values_list("model__weights", flat=True)) == {"w2"}


def test_an_instance_that_lacks_something_and_a_kind_that_asks_otherwise_are_left_out_with_a_sentence(
    project: Project,
) -> None:
    Instance.objects.filter(key="row-4").update(captions={})
    run = loaded(ask(project))
    assert (run.total, run.left_out, run.why_left_out) == (11, 1, ["Instance row-4 has no negative_caption to show."])
    run = loaded(ask(project, kind="rating"))
    assert (run.state, run.total, run.left_out) == (Run.State.DONE, 0, INSTANCES)
    assert set(run.why_left_out) == {
        "Instance row-4 has no caption to show.",
        "11 questions of rating do not ask which text and image belong together, so models cannot answer them.",
    }


@pytest.mark.parametrize(
    ("wanted", "sentence"),
    [
        ({"spec": "no-colon", "kind": "best_of_n"}, "'no-colon' does not name a model. Write FAMILY:NAME"),
        ({"spec": "nobody:x", "kind": "best_of_n"}, "The family 'nobody' of models is unknown. Use one of open_clip"),
        ({"spec": "hf:" + "x" * 300, "kind": "best_of_n"}, "The model's name has 303 characters; at most 300 fit."),
        ({"spec": "text-only:trigrams", "kind": "image_to_text"}, "There is no blind baseline 'text-only:trigrams'"),
        ({"kind": "guess"}, "The kind 'guess' is unknown."),
        ({"kind": "image_to_text", "variant": "x"}, "image_to_text has no variant 'x'."),
        ({}, "Name either a study or a kind of question."),
    ],
)
def test_what_cannot_be_meant_is_refused(wanted: dict[str, Any], sentence: str) -> None:
    with pytest.raises(CannotPredict, match=sentence):
        request_run(**{"project": make_project("birds"), "spec": SPEC, "by": TESTS, "now": NOON, **wanted})
    assert not Run.objects.exists()


def test_asked_twice_it_is_one_run(project: Project) -> None:
    assert ask(project) == ask(project)
    assert ask(project) != ask(project, "plain:w2")
    assert Event.objects.filter(what="predictions requested").count() == 2


def test_a_study_is_asked_what_it_asks_people(project: Project) -> None:
    """As it was frozen at launch, whatever has become of the instance."""
    study: Study = make_launched(make_study(project))
    Instance.objects.update(captions={})
    taken_out = Question.objects.earliest("pk")
    Question.objects.filter(pk=taken_out.pk).update(taken_out_at=NOON)
    run = do_all(loaded(ask(project, study=study), questions_per_chunk=5))
    assert (run.state, run.total, run.stored) == (Run.State.DONE, INSTANCES - 1, INSTANCES - 1)
    kind = get_kind("best_of_n")
    hashes = {content_hash(kind, each.content) for each in study.questions.exclude(pk=taken_out.pk)}
    assert set(Prediction.objects.values_list("content_hash", flat=True)) == hashes
