"""The pages of pipelines: a file is written or uploaded, tried, run, cancelled, and its yield looked at."""

import re
from decimal import Decimal
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.actions.answering.responses import open_slots
from background.models import Job, JobState
from evaluation.blind.accuracy import BlindAccuracy
from making.models import Candidate, Pipeline
from making.queries.yields import StageYield
from making.tokens import Cost
from results.queries.studies.pipeline_costs import PipelineCost, pipeline_costs
from studies.models import Project
from tests.annotation.test_responses import next_slot, send
from tests.factories import NOON, arrive_at_work, draw_instance, launch_study, make_instance, make_member, make_project
from tests.jobs import run_now
from tests.making.actions.test_pipelines import CAPTIONS, FILE
from tests.making.test_pipeline_file import ASKED

pytestmark = pytest.mark.django_db
PAGE = "/projects/birds/pipelines/"


@pytest.fixture
def project() -> Project:
    project = make_project("birds")
    for key, text in CAPTIONS.items():
        make_instance(project, key, candidates=0, captions={"caption": text}, original_captions={"caption": text})
    return project


@pytest.fixture
def editor(project: Project) -> User:
    return make_member(project, "editor")


@pytest.fixture
def client(client: Client, editor: User) -> Client:
    client.force_login(editor)
    return client


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """The jobs that are sent."""
    jobs: list[Job] = []
    monkeypatch.setattr("workspace.views.projects.pipelines.send", jobs.append)
    return jobs


def post(client: Client, source: str = FILE, **more: Any) -> Any:
    return client.post(PAGE, {"source": source, **more})


def test_a_file_that_is_offered_is_a_good_one(client: Client, sent: list[Job]) -> None:
    offered = client.get(PAGE).context["source"]
    assert "images:" not in offered
    assert client.post(PAGE, {"source": offered}).status_code == 302
    assert Pipeline.objects.get().name == "word-swaps"


def test_the_file_that_is_offered_has_the_roles_of_the_project(client: Client, project: Project) -> None:
    project.instances.all().delete()
    make_instance(project, "first", candidates=2, captions={"title": "A dog is on a table."})
    offered = client.get(PAGE).context["source"]
    assert "  role: title\n" in offered
    assert "  images:\n    candidate: candidate\n" in offered
    assert client.post(PAGE, {"source": offered}).status_code == 302


def test_a_pipeline_runs_and_its_page_tells_what_it_kept_and_why_not(client: Client, sent: list[Job]) -> None:
    answer = post(client)
    pipeline = Pipeline.objects.get()
    assert answer["Location"] == f"/pipelines/{pipeline.pk}/"
    waits = client.get(answer["Location"]).content.decode()
    assert "Waiting for the worker" in waits
    assert f'action="/pipelines/{pipeline.pk}/cancel/"' in waits
    run_now(sent[0], now=NOON)
    page = client.get(answer["Location"])
    assert page.context["instances"] == 1
    text = page.content.decode()
    assert "2: It has the same words as another text of the project." in text
    assert "A <mark>box</mark> is in a <mark>cup.</mark>" in text
    assert f'href="/projects/birds/instances/?tag={pipeline.name}"' in text
    assert client.get("/projects/birds/instances/?tag=swaps").content.decode().count("second-swaps-1") >= 1
    assert "Done" in client.get(PAGE).content.decode()


def test_a_trial_is_looked_at_and_then_run(client: Client, sent: list[Job]) -> None:
    answer = post(client, trial="1")
    run_now(sent[0], now=NOON)
    trial = Pipeline.objects.get()
    assert trial.is_trial
    text = client.get(answer["Location"]).content.decode()
    assert "Trial of swaps" in text
    assert "All candidates of the trial" in text
    assert client.get(f"{PAGE}?from={trial.pk}").context["source"] == FILE
    there = client.post(f"/pipelines/{trial.pk}/go-on/")
    whole = Pipeline.objects.get(is_trial=False)
    assert there["Location"] == f"/pipelines/{whole.pk}/"
    assert run_now(sent[1], now=NOON).state == JobState.DONE


def test_an_uploaded_file_replaces_the_text(client: Client, sent: list[Job]) -> None:
    file = SimpleUploadedFile("mine.yaml", FILE.replace("name: swaps", "name: mine").encode())
    post(client, source="nothing", file=file)
    assert Pipeline.objects.get().name == "mine"


def test_problems_are_listed_and_what_was_typed_stays(client: Client, sent: list[Job]) -> None:
    typed = FILE.replace("words:swap-nouns", "words:swap-colours")
    answer = post(client, source=typed)
    assert answer.status_code == 409
    text = answer.content.decode()
    assert "Line 5: <code>words:swap-colours</code> is not a maker." in text
    assert answer.context["source"] == typed
    latin = SimpleUploadedFile("latin.yaml", b"name: caf\xe9")
    assert "The file is not UTF-8 text." in post(client, source="", file=latin).content.decode()
    assert post(client, source="").context["problems"] == ["The pipeline file is empty."]
    assert (Pipeline.objects.count(), sent) == (0, [])


def test_sent_twice_it_runs_once_and_another_content_under_its_name_is_refused(client: Client, sent: list[Job]) -> None:
    post(client)
    post(client)
    assert {job.pk for job in sent} == {Job.objects.get().pk}
    run_now(sent[0], now=NOON)
    post(client)
    assert len({job.pk for job in sent}) == 1
    assert post(client, source=FILE.replace("at_most: 8", "at_most: 9")).status_code == 409
    assert Candidate.objects.count() == 10


def test_a_pipeline_is_cancelled_and_goes_on(client: Client, sent: list[Job]) -> None:
    page = post(client)["Location"]
    client.post(f"{page}cancel/")
    assert "The pipeline was cancelled. Its candidates so far are below." in client.get(page).content.decode()
    assert client.get(page, HTTP_HX_REQUEST="true")["HX-Refresh"] == "true"
    client.post(f"{page}cancel/")
    assert "has already ended" in client.get(page).content.decode()
    client.post(f"{page}go-on/")
    assert run_now(sent[1], now=NOON).state == JobState.DONE


def test_a_failure_says_what_to_do(client: Client, sent: list[Job]) -> None:
    page = post(client, source=FILE.replace("nouns\n", "nouns\n    options: {tagger: 'spacy:none'}\n"))["Location"]
    run_now(sent[0], now=NOON)
    assert "The tagger spacy:none cannot be loaded here." in client.get(page).content.decode()
    assert "Failed" in client.get(PAGE).content.decode()


def test_a_gate_that_stops_says_what_it_counted_and_candidates_wait(client: Client, sent: list[Job]) -> None:
    gate = "- {filter: length, at_most: 8}\n      - {filter: blind-solvability, at_most: 0.5}"
    page = post(client, source=FILE.replace("- {filter: length, at_most: 8}", gate))["Location"]
    with pytest.MonkeyPatch.context() as found:
        # Of so few captions nothing can be said for certain.
        certain = BlindAccuracy(share=1, low=0.9, high=1, chance=0.5, n=3, groups=3)
        found.setattr("making.filters.blind_solvability.accuracy_of", lambda cases: certain)
        run_now(sent[0], now=NOON)
    text = client.get(page).content.decode()
    counted = "A blind classifier tells the made text in 100.0 % of 3 pairs, 95 % CI 90.0–100.0; guessing gives 50 %."
    assert f"{counted} The interval is above the bound of 50 %, so no instances were made." in text
    assert f"<li>blind-solvability: {counted}</li>" in text
    assert "<p>3 waiting for filters</p>" in text
    assert "Waiting for its filters" in text
    assert client.get(page).context["instances"] == 0


def test_its_progress_is_a_fragment_that_asks_for_itself(client: Client, sent: list[Job]) -> None:
    page = post(client)["Location"]
    fragment = client.get(page, HTTP_HX_REQUEST="true").content.decode()
    assert fragment.lstrip().startswith("<p")
    assert f'hx-get="{page}"' in fragment
    assert "Pipeline swaps" in client.get("/jobs/").content.decode()


def test_a_viewer_sees_it_and_changes_nothing(client: Client, project: Project, sent: list[Job]) -> None:
    page = post(client)["Location"]
    client.force_login(make_member(project, "viewer", name="victor"))
    assert "New pipeline" not in client.get(PAGE).content.decode()
    assert "Cancel" not in client.get(page).content.decode()
    assert client.get("/pipelines/999/").status_code == 404


def test_a_trial_shows_what_a_language_model_was_told_and_what_it_said(client: Client, project: Project) -> None:
    stage = "{name: replaced, make: 'llm:some', options: {template: swap-object}}"
    source = f"name: model\nstart: {{role: caption}}\nstages: [{stage}]\n"
    trial = Pipeline.objects.create(
        project=project, name="model", source=source, is_trial=True, by_name="anna", requested_at=NOON, finished_at=NOON
    )
    started = Candidate.objects.create(
        pipeline=trial, stage="start", start_key="first", text="A dog.", state="kept", made_at=NOON
    )
    Candidate.objects.create(
        pipeline=trial,
        stage="replaced",
        parent=started,
        start_key="first",
        state="not_made",
        reason="The language model declined to answer.",
        prompt="Swap two things: A dog.",
        answer="I <cannot> do this.",
        prompt_tokens=1_200,
        completion_tokens=7,
        made_at=NOON,
    )
    text = client.get(f"/pipelines/{trial.pk}/").content.decode()
    assert "1,200 tokens read, 7 written<" in text
    assert "Swap two things: A dog.</code>" in text
    assert "Answer: I &lt;cannot&gt; do this." in text


def test_an_image_stands_beside_the_one_that_it_was_made_from(client: Client, project: Project) -> None:
    draw_instance(project, 1, candidates=0)
    draw_instance(project, 2, candidates=0)
    file = "name: mixed\nstart: {role: caption, images: image}\nstages:\n  - {name: mixed, make: 'mix:random'}\n"
    post(client, file)
    run_now(Job.objects.get(), now=NOON)
    page = client.get(f"/pipelines/{Pipeline.objects.get().pk}/")
    pictures = re.findall(r'<img src="([^"]+)" alt="([^"]+)"', page.content.decode())
    texts = ["A bird on 1 roofs.", "A bird on 2 roofs."]
    assert [alt for _, alt in pictures] == [f"{what}: {text}" for text in texts for what in ("Image of", "Made from")]
    assert len({address for address, _ in pictures}) == 4
    assert {client.get(address).status_code for address, _ in pictures} == {200}


def test_the_cost_of_a_pipeline_is_that_of_language_models_and_people_per_accepted_instance(project: Project) -> None:
    pipeline = Pipeline.objects.create(
        project=project, name="loop", source=ASKED, by_name="anna", requested_at=NOON, finished_at=NOON
    )
    project.instances.all().delete()
    for number in range(2):
        make_instance(project, f"asked-{number}", candidates=2)
    study = launch_study(
        project, instances=0, study="loop-chosen", pay={"currency": "EUR", "per_session": "3.00"}, surveys={"size": 20}
    )
    session = arrive_at_work(study, "ann")
    while open_slots(session=session, limit=1):
        send(session, next_slot(session), "1")
    told = Cost(Decimal("0.50"), "EUR")
    chosen = StageYield("chosen", "loop-chosen", 4, is_study=True, kept=2)
    made = StageYield("written", "llm:some", 4, kept=4, cost=told)
    # 0.50 euros for the model and 3.00 for one finished survey, for two accepted instances.
    assert pipeline_costs(pipeline, [made, chosen]) == [PipelineCost("EUR", Decimal("3.50"), Decimal("1.75"))]
    assert pipeline_costs(pipeline, [made]) == [PipelineCost("EUR", Decimal("0.50"), None)]
    assert pipeline_costs(pipeline, [StageYield("written", "words:swap", 4)]) == []
