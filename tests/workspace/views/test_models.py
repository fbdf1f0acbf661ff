"""The page of a project's models: what was asked of them, how far it is, cancel and go on."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from pytest_django import Settings

from background.models import Job
from predictions.actions.runs import request_run
from predictions.models import Chunk, Conditions, Model, Prediction, Run
from predictions.queries.progress import models_of
from results.actions import cached_statistics
from results.models import KeptNumbers
from studies.models import Project
from tests.factories import (
    NOON,
    TESTS,
    make_instance,
    make_launched,
    make_member,
    make_model,
    make_project,
    make_study,
)
from tests.jobs import run_now
from tests.pages import signed_in, words_of

pytestmark = pytest.mark.django_db
SPEC = "open_clip:ViT-B-32/openai"
PAGE = "/projects/vases/models/"


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def client(project: Project) -> Client:
    return signed_in(make_member(project, "editor"))


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """The runs of which messages were to be sent."""
    found: list[int] = []
    monkeypatch.setattr("workspace.views.projects.models.send_to_worker", lambda run: found.append(run.pk))
    return found


def asked(project: Project, **fields: Any) -> Run:
    run = request_run(project=project, spec=SPEC, kind="image_to_text", by=TESTS, now=NOON)
    Run.objects.filter(pk=run.pk).update(**fields)
    run.refresh_from_db()
    return run


def text_of(client: Client, page: str = PAGE) -> str:
    return words_of(client.get(page))


def test_a_project_without_models_says_how_to_ask_one(client: Client) -> None:
    text = text_of(client)
    assert "No model has answered here yet." in text
    assert "python manage.py predict vases --model open_clip:ViT-B-32/openai --study SLUG" in text


def test_a_run_that_waits_and_one_that_is_at_it_say_so(client: Client, project: Project) -> None:
    run = asked(project)
    assert "Waiting for a worker with models" in text_of(client)
    Run.objects.update(begun=1)
    assert "Loading the model" in text_of(client, f"/runs/{run.pk}/")


@pytest.mark.parametrize(
    ("spec", "who"),
    [
        ("text-only:ngrams", "a worker of the site"),
        ("image-only:colour-and-gradient", "a worker of the site"),
        ("text-only:hf:gpt2", "a worker with models"),
        ("image-only:onnx:demo", "a worker with models"),
    ],
)
def test_a_blind_baseline_says_whom_it_waits_for(client: Client, project: Project, spec: str, who: str) -> None:
    run = asked(project)
    Run.objects.update(spec=spec)
    assert f"Waiting for {who}" in text_of(client, f"/runs/{run.pk}/")


def test_pictures_that_are_looked_at_before_any_question_is_scored_are_told(client: Client, project: Project) -> None:
    run = asked(project, state=Run.State.RUNNING, total=2, started_at=NOON)
    Chunk.objects.create(run=run, number=1, items=[{"picture": "a" * 64}], sent_at=NOON, begun=1)
    assert "Reading images" in text_of(client, f"/runs/{run.pk}/")
    Chunk.objects.update(stored_at=NOON)
    assert "0 of 2 questions" in text_of(client, f"/runs/{run.pk}/")


def test_pictures_that_cannot_be_reached_are_told_with_since_when_and_why(client: Client, project: Project) -> None:
    why = "https://lineup.example answered 502. Check that the site runs."
    until = NOON + timedelta(seconds=40)
    run = asked(project, state=Run.State.RUNNING, total=2, unreachable_since=NOON, unreachable=why, paused_until=until)
    text = text_of(client, f"/runs/{run.pk}/")
    assert "0 of 2 questions" in text
    assert "Images cannot be reached since <time" in text
    assert f"{NOON:%H:%M} UTC</time>. {why} Next try: <time" in text
    assert f"{until:%H:%M:%S} UTC</time>." in text


def test_progress_tells_questions_speed_and_time_left(
    client: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """300 of 1,500 in the minute since the first was sent are 5 a second; for the rest that is 4 minutes."""
    run = asked(project, state=Run.State.RUNNING, total=1500, stored=300, started_at=NOON)
    Chunk.objects.create(run=run, number=1, items=[], sent_at=NOON, stored_at=NOON, stored=300, begun=1)
    monkeypatch.setattr("workspace.views.projects.models.timezone.now", lambda: NOON + timedelta(seconds=60))
    text = text_of(client, f"/runs/{run.pk}/")
    assert "300 of 1,500 questions, 5.0 a second, about 4 minutes left" in text
    assert 'value="300" max="1500"' in text


def test_what_went_wrong_is_told_in_sentences_with_how_many(client: Client, project: Project) -> None:
    run = asked(project, state=Run.State.DONE, finished_at=NOON, total=5, stored=2, wrong=3, left_out=2)
    Run.objects.update(why_left_out=["Instance 7 has no caption to show."])
    lost = ["row-1: <b>gone</b>", "The worker failed.", "The worker failed."]
    Chunk.objects.create(run=run, number=1, items=[], stored_at=NOON, stored=2, problems=lost)
    text = text_of(client)
    assert "3 questions could not be scored:" in text
    assert "<li>row-1: &lt;b&gt;gone&lt;/b&gt;</li>" in text
    assert 'The worker failed. <span class="muted">(2 questions)</span>' in text
    assert "2 questions left out:" in text
    assert "Instance 7 has no caption to show." in text


def test_cancel_and_go_on(client: Client, project: Project, sent: list[int]) -> None:
    run = asked(project)
    text = client.post(f"/runs/{run.pk}/cancel/", follow=True).content.decode()
    assert "It was cancelled." in text
    assert "already ended" in client.post(f"/runs/{run.pk}/cancel/", follow=True).content.decode()
    assert sent == []
    text = client.post(f"/runs/{run.pk}/go-on/", follow=True).content.decode()
    assert "Waiting for a worker with models" in text
    assert sent == [run.pk]
    assert "nothing to resume" in client.post(f"/runs/{run.pk}/go-on/", follow=True).content.decode()


def test_a_failed_run_says_why(client: Client, project: Project) -> None:
    asked(project, state=Run.State.FAILED, finished_at=NOON, error="ViT-B-33 is unknown.")
    assert "ViT-B-33 is unknown." in text_of(client)


def test_a_run_that_is_over_takes_the_place_of_its_progress(client: Client, project: Project) -> None:
    run = asked(project, state=Run.State.DONE, finished_at=NOON, stored=7)
    response = client.get(f"/runs/{run.pk}/", headers={"HX-Request": "true"})
    assert (response["HX-Retarget"], response["HX-Reswap"]) == (f"#run-{run.pk}", "outerHTML")


def predicted(project: Project, name: str, content_hash: str, key: str) -> None:
    model = Model.objects.get_or_create_named(project, now=NOON, name=name, weights="ab" * 32)
    Prediction.objects.create(
        model=model,
        instance=make_instance(project, key),
        kind="image_to_text",
        variant="image",
        caption_rule="as-is-v1",
        content_hash=content_hash,
        is_right=True,
        source_row=0,
        created_at=NOON,
    )


def test_what_nobody_can_verify_is_called_declared(client: Client, project: Project) -> None:
    predicted(project, "CLIP", "c" * 64, "one")
    predicted(project, "CLIP", "", "two")
    predicted(project, "CLIP", "", "three")
    text = text_of(client)
    assert "2 from files without image names, so not verified" in text
    # A digest is shortened to what people compare.
    assert ">(abababababab)</span>" in text


def test_the_predictions_of_a_model_are_counted_in_indexes_alone(project: Project) -> None:
    if connection.vendor != "sqlite":
        pytest.skip("PostgreSQL reads a small table whole.")
    predicted(project, "CLIP", "", "one")
    with CaptureQueriesContext(connection) as queries:
        assert [(each.verified, each.declared, each.mismatched) for each in models_of(project)] == [(0, 1, 0)]
    counted = [query["sql"] for query in queries if 'COUNT("predictions_prediction"."id")' in query["sql"]]
    with connection.cursor() as cursor:
        plans = [cursor.execute(f"EXPLAIN QUERY PLAN {each}").fetchall()[0][3] for each in counted]
    # All, the declared ones, and the mismatched ones, of which most projects have none.
    assert [plan.partition(" USING ")[2].partition(" (")[0] for plan in plans] == [
        "COVERING INDEX predictions_prediction_model_id_11b554a3",
        "COVERING INDEX declared_predictions",
        "INDEX mismatched_predictions",
    ]


def test_what_is_mismatched_is_counted_with_its_problem(
    client: Client, project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("predictions.queries.progress.PROBLEMS_SHOWN", 1)
    for key in ("one", "two", "three", "four"):
        predicted(project, "CLIP", "", key)
    Prediction.objects.filter(instance__key__in=("one", "two")).update(problem="zz is not an option")
    Prediction.objects.filter(instance__key="three").update(problem="the scores lack caption")
    text = text_of(client)
    assert "1 from files without image names" in text
    assert "<summary>3 not counted: their options do not match the question</summary>" in text
    assert "<li>2: zz is not an option</li>" in text
    assert '<li class="muted">... and 1 more</li>' in text
    listed = words_of(client.get("/projects/vases/instances/", {"model": "CLIP (abababababab)"}))
    assert [key for key in ("one", "two", "three", "four") if f">{key}<" in listed] == ["four"]


def test_what_was_computed_twice_is_listed(client: Client, project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("predictions.queries.progress.AGAIN_SHOWN", 2)
    predicted(project, "CLIP", "a" * 64, "clear")
    for key in ("one", "two", "three"):
        predicted(project, "CLIP", "c" * 64, key)
    again = Conditions.objects.create(digest="d" * 64, details={"again": {"in": "float16", "closer_than": 0.002}})
    Prediction.objects.filter(content_hash="c" * 64).update(conditions=again)
    text = text_of(client)
    assert "<summary>3 computed twice</summary>" in text
    assert "<li>one image_to_text image</li><li>two image_to_text image</li>" in text
    assert '<li class="muted">... and 1 more</li>' in text
    assert "clear" not in text


def test_a_model_has_its_share_right_what_it_scored_of_what_was_asked_when_and_by_what(
    client: Client, project: Project, sent: list[int]
) -> None:
    predicted(project, "CLIP", "c" * 64, "one")
    model = Model.objects.get()
    by = Conditions.objects.create(
        digest="d" * 64, details={"scorer": "onnx", "device": "cuda", "dtype": "float16", "batch": 16}
    )
    Prediction.objects.update(conditions=by)
    # Of two runs about the same, the newer one says what is missing: one of two, and one that cannot be scored.
    asked(project, model=model, state=Run.State.DONE, finished_at=NOON, total=9, stored=0)
    asked(project, model=model, state=Run.State.DONE, finished_at=NOON, total=2, stored=1, left_out=1)
    text = text_of(client)
    assert "The shares of right answers are being computed in the background." in text
    (job,) = Job.objects.filter(kind=cached_statistics.KIND)
    run_now(job)
    words = words_of(client.get(PAGE))
    # The only caption that it was asked about was chosen correctly: Wilson's limits of 1 of 1 are .207 and 1.
    assert "100.0 %" in words
    assert "20.7–100.0" in words
    assert "1 captions of imported instances" in words
    assert ">1</a> of 3" in words
    assert "onnx on cuda in float16" in words
    assert "is computed in the background" not in words
    # The same number is in the results.
    assert "The model CLIP (abababababab) gets 100.0 % of captions right (1 imported instance)." in words_of(
        client.get("/projects/vases/results/")
    )


def test_a_model_from_a_file_says_so(client: Client, project: Project) -> None:
    predicted(project, "CLIP", "", "one")
    Prediction.objects.update(source_file="siglip.csv")
    assert "file siglip.csv" in words_of(client.get(PAGE))


def test_more_runs_ask_no_more_queries(client: Client, project: Project) -> None:
    def queries() -> int:
        with CaptureQueriesContext(connection) as captured:
            client.get(PAGE)
        return len(captured)

    asked(project, state=Run.State.DONE, finished_at=NOON)
    # The first look has the results computed.
    queries()
    one = queries()
    for _ in range(3):
        asked(project, state=Run.State.DONE, finished_at=NOON)
    assert queries() == one


def test_renaming_a_model_says_what_is_wrong_and_keeps_what_was_typed(client: Client, project: Project) -> None:
    model = make_model(project, "ViT-B-32")
    make_model(project, "SigLIP")
    page = f"/models/{model.pk}/rename/"
    assert f'href="{page}"' in text_of(client)
    assert 'value="ViT-B-32"' in text_of(client, page)
    response = client.post(page, {"name": "SigLIP", "version": ""})
    assert (response.status_code, 'value="SigLIP"' in response.content.decode()) == (409, True)
    assert "The project has another model of this name" in response.content.decode()
    answer = client.post(page, {"name": "CLIP", "version": "2"}, follow=True).content.decode()
    assert "The model was renamed to CLIP 2." in answer


def test_deleting_a_model_says_first_what_goes(client: Client, project: Project) -> None:
    predicted(project, "CLIP", "ab" * 32, "one")
    model = Model.objects.get()
    page = f"/models/{model.pk}/delete/"
    text = text_of(client, page)
    there = "/projects/vases/instances/?model=CLIP%20%28abababababab%29"
    assert f'1 prediction about <a href="{there}">1 instance</a> will be deleted. You cannot undo this' in text
    assert client.get(there).context["count"] == 1
    shown = text_of(client, PAGE)
    assert f'<a href="{there}" title="Show the instances with predictions">1</a>' in shown
    assert Prediction.objects.exists()
    answer = client.post(page, follow=True).content.decode()
    assert "was deleted, with 1 prediction about 1 instance." in answer
    assert "No model has answered here yet." in answer
    assert client.get(page).status_code == 404


def test_a_model_that_is_being_asked_is_not_deleted(client: Client, project: Project) -> None:
    model = make_model(project)
    asked(project, model=model)
    response = client.post(f"/models/{model.pk}/delete/")
    assert (response.status_code, Model.objects.count()) == (409, 1)
    assert "The model is running now" in response.content.decode()


def test_a_model_that_the_site_offers_is_asked_about_a_study_and_about_all_instances(
    client: Client, project: Project, sent: list[int], settings: Settings
) -> None:
    settings.MODELS_OFFERED = [SPEC, "text-only:ngrams"]
    make_instance(project, "vase-0")
    study = make_launched(make_study(project, slug="pick"))
    html = client.get(PAGE).content.decode()
    assert "<option>text-only:ngrams</option>" in html
    assert '<option value="study:pick">pick</option>' in html
    asked_of_study = client.post(f"{PAGE}ask/", {"model": SPEC, "about": "study:pick"}, follow=True)
    assert f"Model run requested: {SPEC} on pick." in words_of(asked_of_study)
    client.post(f"{PAGE}ask/", {"model": "text-only:ngrams", "about": "kind:image_to_text"})
    first, second = Run.objects.order_by("pk")
    assert (first.spec, first.study, first.by_name, first.state) == (SPEC, study, "editor", Run.State.LOADING)
    assert (second.spec, second.study, second.kind) == ("text-only:ngrams", None, "image_to_text")
    assert sent == [first.pk, second.pk]


@pytest.mark.parametrize(
    ("posted", "said"),
    [
        ({"model": "hf:/srv/models/ours", "about": "kind:image_to_text"}, "does not offer the model"),
        ({"about": "kind:image_to_text"}, "needs the name of a model"),
        ({"model": SPEC, "about": "study:nowhere"}, "has no study called nowhere"),
        ({"model": SPEC, "about": "kind:dance"}, "is unknown"),
        ({"model": SPEC}, "Name either a study or a kind of question."),
    ],
)
def test_what_cannot_be_asked_is_said_and_what_was_chosen_stays(
    client: Client, sent: list[int], settings: Settings, posted: dict[str, str], said: str
) -> None:
    settings.MODELS_OFFERED = ["text-only:ngrams", SPEC]
    refused = client.post(f"{PAGE}ask/", posted)
    assert (refused.status_code, Run.objects.count(), sent) == (409, 0, [])
    assert said in words_of(refused)
    assert (f"<option selected>{SPEC}</option>" in refused.content.decode()) == (posted.get("model") == SPEC)


def test_a_site_that_offers_no_model_says_how_one_is_asked(client: Client, settings: Settings) -> None:
    settings.MODELS_OFFERED = []
    html = client.get(PAGE).content.decode()
    assert "No models are offered here" in html
    assert f'action="{PAGE}ask/"' not in html


def test_many_predictions_are_not_counted_for_a_page_but_in_the_background(
    project: Project, client: Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("predictions.queries.progress.MOST_COUNTED_AT_ONCE", 0)
    predicted(project, "CLIP", "", "one")
    assert ">1</a> of 1<" in words_of(client.get(PAGE))
    cached_statistics.compute_now(page=KeptNumbers.Page.PROJECT_RESULTS, project=project, now=NOON)
    predicted(project, "CLIP", "", "two")
    with CaptureQueriesContext(connection) as queries:
        text = words_of(client.get(PAGE))
    assert ">1</a> of 1<" in text
    assert "The numbers are from" in text
    assert not [query for query in queries if 'COUNT("predictions_prediction"."id")' in query["sql"]]
