"""The pages of training: a model is requested by a form, followed, cancelled, resumed, and then asked."""

from typing import Any

import pytest
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from background.models import Job
from predictions.models import TrainedWeights
from results.models import StoredChart
from studies.models import Project
from tests.factories import NOON, make_member, make_person, make_project
from tests.pages import signed_in, words_of
from tests.training.site import BASE_WEIGHTS, WEIGHTS, accept_vases, accepted_row, finish, progress, waiting_run
from training.actions import orders
from training.messages import Report, to_plain
from training.models import TrainingRun

pytestmark = pytest.mark.django_db
PAGE = "/projects/vases/training/"
FORM = {
    "recipe": "negclip",
    "name": "small-clip",
    "base": "open_clip:ViT-B-32/openai",
    "release": "",
    "option-epochs": "2",
    "option-precision": "float32",
    "seed": "7",
    "hour_price": "3.60",
    "currency": "EUR",
}


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """The jobs that are sent."""
    jobs: list[Job] = []
    monkeypatch.setattr("workspace.views.projects.training.send", jobs.append)
    return jobs


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def editor(project: Project) -> Client:
    return signed_in(make_member(project, "editor"))


def test_an_editor_starts_a_training_with_options_of_its_recipe(sent: list[Job]) -> None:
    person = make_person("researcher")
    accept_vases(person)
    browser = signed_in(person)
    answer = browser.post(PAGE, FORM)
    run = TrainingRun.objects.get()
    assert answer["Location"] == f"/training/{run.pk}/"
    assert [job.arguments for job in sent] == [{"run": run.pk}]
    assert (run.seed, str(run.hour_price), run.currency, run.by_name) == (7, "3.60", "EUR", "researcher")
    # What was not changed is the paper's.
    assert (run.options["epochs"], run.options["precision"], run.options["learning_rate"]) == (2, "float32", 1e-6)
    assert 'href="/training/' in browser.get(PAGE).content.decode()
    again = browser.post(PAGE, FORM)
    assert again.status_code == 409
    assert "already has a training run called small-clip" in words_of(again)
    assert 'value="small-clip"' in words_of(again)


@pytest.mark.parametrize(
    ("changes", "problem"),
    [
        ({"name": "Small CLIP"}, "cannot name a model"),
        ({"base": "open_clip:ViT-B-32//etc/passwd"}, "This site does not offer the model"),
        ({"base": "text-only:ngrams"}, "This site does not offer the model"),
        ({"recipe": "own"}, "The recipe &#x27;own&#x27; is unknown"),
        ({"option-epochs": "many"}, "epochs: Input should be a valid integer"),
        ({"seed": "-1"}, "The seed is &#x27;-1&#x27;. Write a whole number."),
        # More digits than Python reads, and more brackets.
        ({"seed": "9" * 5000}, f"The seed is &#x27;{'9' * 40}&#x27;. Write a whole number."),
        ({"option-epochs": "[" * 100_000}, "epochs: Input should be a valid integer"),
        (
            {"hour_price": "much"},
            "The price of an hour is &#x27;much&#x27;. Write an amount up to 1000000, such as 2.50.",
        ),
        ({"hour_price": "Infinity"}, "The price of an hour is &#x27;Infinity&#x27;."),
        ({"hour_price": "-1"}, "The price of an hour is &#x27;-1&#x27;."),
        ({"currency": "dollars"}, "The currency is &#x27;dollars&#x27;. Write three capital letters, such as USD."),
        ({"option-weight_decay": "Infinity"}, "weight_decay: Input should be a finite number"),
        ({"release": "v1"}, "vases has no release called &#x27;v1&#x27;. Its releases: none."),
    ],
)
def test_what_cannot_be_trained_is_refused_with_a_sentence_and_what_was_typed_stays(
    editor: Client, project: Project, monkeypatch: pytest.MonkeyPatch, changes: dict[str, str], problem: str
) -> None:
    if "release" not in changes:
        monkeypatch.setattr("results.actions.training_data.dataset_studies", lambda _: [None])
        monkeypatch.setattr("results.actions.training_data.instances_of_studies", lambda _: iter([accepted_row("ant")]))
    answer = editor.post(PAGE, FORM | {"hour_price": "7.77"} | changes)
    assert answer.status_code == 409
    assert problem in words_of(answer)
    assert f'value="{(FORM | {"hour_price": "7.77"} | changes)["hour_price"]}"' in words_of(answer)
    assert not TrainingRun.objects.exists()


def test_a_page_follows_a_training(editor: Client, project: Project) -> None:
    run = waiting_run(project, hour_price=36, currency="USD")
    address = f"/training/{run.pk}/"
    assert "Waiting for a worker with models" in words_of(editor.get(address))
    TrainingRun.objects.update(attempt=1)
    for step in (1, 2, 3):
        told = Report(
            progress(step, score=0.5 if step == 2 else None, best=0.5, sentences=("Few examples.",)), 100 * step
        )
        orders.note_progress(run_id=run.pk, attempt=1, report=to_plain(told), now=NOON)
    text = words_of(editor.get(address))
    # 301 seconds at 36 dollars an hour.
    for words in (
        "step 3 of 4",
        "loss 0.3333",
        "best validation score 50.0 %",
        "estimated cost 3.01 USD",
        "Few examples.",
    ):
        assert words in text
    assert sorted(StoredChart.objects.values_list("values__title", flat=True)) == [
        "Score on the validation set",
        "Training loss",
    ]
    fragment = editor.get(address, headers={"HX-Request": "true"})
    assert words_of(fragment).startswith('<p class="how-far"')


def test_a_page_says_what_a_worker_does_between_steps(editor: Client, project: Project) -> None:
    run = waiting_run(project)
    TrainingRun.objects.update(attempt=1)
    phase = "validating, 64 of 500 examples"
    for told, is_shown in ((progress(2, phase=phase), True), (progress(3), False)):
        orders.note_progress(run_id=run.pk, attempt=1, report=to_plain(Report(told, 100 * told.step)), now=NOON)
        assert (phase in words_of(editor.get(f"/training/{run.pk}/"))) == is_shown


def test_a_page_has_the_weights_of_a_trained_model_and_of_its_base(editor: Client, project: Project) -> None:
    run = waiting_run(project)
    address = f"/training/{run.pk}/"
    assert "SHA-256 of its weights" not in words_of(editor.get(address))
    finish(run)
    page = editor.get(address).content.decode()
    assert f"<dt>SHA-256 of its weights</dt><dd><code>{BASE_WEIGHTS}</code></dd>" in page
    assert f"<dt>SHA-256 of the weights</dt><dd><code>{WEIGHTS}</code></dd>" in page


def test_a_training_is_cancelled_and_resumed(
    editor: Client, project: Project, django_capture_on_commit_callbacks: Any
) -> None:
    run = waiting_run(project)
    address = f"/training/{run.pk}/"
    editor.post(f"{address}cancel/")
    assert "The training was cancelled." in words_of(editor.get(address))
    assert editor.get(address, headers={"HX-Request": "true"})["HX-Refresh"] == "true"
    with django_capture_on_commit_callbacks() as callbacks:
        editor.post(f"{address}resume/")
    assert len(callbacks) == 1
    run.refresh_from_db()
    assert run.state == "waiting"


def test_a_viewer_looks_and_a_stranger_finds_nothing(project: Project) -> None:
    run = waiting_run(project)
    address = f"/training/{run.pk}/"
    viewer, stranger = signed_in(make_member(project, "viewer")), signed_in(make_person("stranger"))
    assert "Cancel" not in words_of(viewer.get(address))
    assert "Train a model" not in words_of(viewer.get(PAGE))
    for path in (f"{address}cancel/", f"{address}resume/", PAGE):
        assert viewer.post(path, FORM).status_code == 403
        assert stranger.post(path, FORM).status_code == 404
    assert stranger.get(address).status_code == stranger.get(PAGE).status_code == 404
    run.refresh_from_db()
    assert run.state == "waiting"


def test_the_card_of_a_trained_model_is_shown_and_downloaded(editor: Client, project: Project) -> None:
    run = waiting_run(project)
    address = f"/training/{run.pk}/card/"
    for each in (address, f"{address}README.md"):
        assert "is not trained yet" in words_of(editor.get(each, follow=True))
    finish(run)
    assert address in editor.get(f"/training/{run.pk}/").content.decode()
    page = editor.get(address).content.decode()
    assert "<h1>Model card of small-clip</h1>" in page
    # The text is HTML, and the metadata are not in it.
    assert "<td>NegCLIP, version 1</td>" in page
    assert "library_name: open_clip" in page.partition("Metadata for the Hub")[2]
    assert "library_name" not in page.partition("Metadata for the Hub")[0]
    answer = editor.get(f"{address}README.md")
    assert answer["Content-Disposition"] == 'attachment; filename="small-clip-README.md"'
    assert answer.content.decode().startswith("---\n")
    assert "# small-clip" in answer.content.decode()
    stranger = signed_in(make_person("stranger"))
    for each in (address, f"{address}README.md"):
        assert stranger.get(each).status_code == 404


def test_a_trained_model_is_offered_in_its_project_alone(editor: Client, project: Project) -> None:
    spec = "open_clip:ViT-B-32-quickgelu/trained:vases-small-clip/small-clip.pt"
    TrainedWeights.objects.create(project=project, spec=spec, weights="5" * 64, trained_at=NOON)
    assert spec in words_of(editor.get("/projects/vases/models/"))
    assert spec in words_of(editor.get(PAGE))
    other = make_project("birds")
    browser = signed_in(make_member(other, "editor", name="other"))
    assert spec not in words_of(browser.get("/projects/birds/models/"))
    refused = browser.post("/projects/birds/models/ask/", {"model": spec, "about": "kind:image_to_text"})
    assert refused.status_code == 409


def test_a_long_list_needs_no_more_queries(editor: Client, project: Project) -> None:
    counts = []
    for number in (1, 2, 3, 4):
        waiting_run(project, name=f"clip-{number}")
        with CaptureQueriesContext(connection) as asked:
            editor.get(PAGE)
        counts.append(len(asked))
    assert counts[1] == counts[3]


def test_a_run_is_deleted_after_its_page_said_what_goes(
    editor: Client, project: Project, django_capture_on_commit_callbacks: Any
) -> None:
    run = waiting_run(project)
    page, address = f"/training/{run.pk}/", f"/training/{run.pk}/delete/"
    assert address not in editor.get(page).content.decode()
    assert "small-clip is still in training. Cancel it first." in words_of(editor.get(address))
    refused = editor.post(address)
    assert refused.status_code == 409
    assert "small-clip is still in training. Cancel it first." in words_of(refused)
    TrainingRun.objects.update(attempt=1)
    run.refresh_from_db()
    finish(run)
    assert address in editor.get(page).content.decode()
    viewer, stranger = signed_in(make_member(project, "viewer")), signed_in(make_person("stranger"))
    assert address not in viewer.get(page).content.decode()
    assert (viewer.post(address).status_code, stranger.post(address).status_code) == (403, 404)
    asked = words_of(editor.get(address))
    assert "The run, the trained model and its weights will be deleted." in asked
    assert f"A worker deletes the files in <code>{run.folder}</code>." in asked
    with django_capture_on_commit_callbacks() as callbacks:
        answer = editor.post(address, follow=True)
    assert len(callbacks) == 1
    assert "The training of small-clip was deleted. Its worker deletes the weights." in words_of(answer)
    assert "No model has been trained here yet." in words_of(answer)
