"""Models are trained by script, as they are on their pages."""

import pytest
from pytest_django import Settings

from background.models import Job
from predictions.models import Model
from studies.models import Project
from tests.factories import NOON, make_instance, make_member, make_person, make_prediction, make_project
from tests.training.site import accepted_row, finish, progress, waiting_run
from tests.workspace.api.asking import BIRDS, Script, script_of
from training.actions.orders import note_progress
from training.messages import Report, to_plain
from training.models import TrainingRun
from workspace.models import KeptAnswer, ModelPush

pytestmark = pytest.mark.django_db
TRAININGS = f"{BIRDS}trainings/"
SPEC = "open_clip:ViT-B-32/openai"
WANTED = {"name": "my-clip", "recipe": "negclip", "base": SPEC, "options": {"epochs": 2}, "hour_price": "3.60"}


@pytest.fixture
def project() -> Project:
    return make_project("birds")


@pytest.fixture
def script(project: Project) -> Script:
    return script_of(make_member(project, "editor"))


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> list[Job]:
    """The jobs that are sent."""
    settings.MODELS_OFFERED = [SPEC]
    monkeypatch.setattr("results.actions.training_data.dataset_studies", lambda _: [None])
    monkeypatch.setattr("results.actions.training_data.instances_of_studies", lambda _: iter([accepted_row("ant")]))
    jobs: list[Job] = []
    monkeypatch.setattr("workspace.api.training.send", jobs.append)
    return jobs


def test_a_training_is_started_once_watched_cancelled_and_resumed(script: Script, sent: list[Job]) -> None:
    first = script.post(TRAININGS, WANTED, Idempotency_Key="one")
    again = script.post(TRAININGS, WANTED, Idempotency_Key="one")
    run = TrainingRun.objects.get()
    assert (first.status_code, again.status_code, again.json()) == (202, 202, first.json())
    assert first["Location"].endswith(f"{TRAININGS}{run.pk}/")
    told = script.get(f"{TRAININGS}{run.pk}/").json()
    assert {name: told[name] for name in ("id", "name", "recipe", "base", "state", "seed", "release", "currency")} == {
        **{"id": run.pk, "name": "my-clip", "recipe": "negclip", "base": SPEC},
        **{"state": "preparing", "seed": 0, "release": "", "currency": "USD"},
    }
    assert (told["options"]["epochs"], told["cost"], told["model"], told["training_examples"]) == (2, None, None, 0)
    assert script.get(TRAININGS).json()["results"] == [told]
    assert script.post(f"{TRAININGS}{run.pk}/cancel/").json()["state"] == "cancelled"
    assert script.post(f"{TRAININGS}{run.pk}/cancel/").status_code == 409
    assert script.post(f"{TRAININGS}{run.pk}/resume/").json()["state"] == "preparing"
    assert [job.arguments for job in sent] == [{"run": run.pk}] * 2


def test_the_numbers_of_a_training_have_their_units(script: Script, project: Project) -> None:
    run = waiting_run(project, hour_price="3.60", currency="EUR")
    TrainingRun.objects.update(attempt=1)
    told = progress(2, seconds_left=100.0, peak_memory=5000, score=0.5, best=0.5)
    note_progress(run_id=run.pk, attempt=1, report=to_plain(Report(told, 500.0)), now=NOON)
    found = script.get(f"{TRAININGS}{run.pk}/").json()
    # 3.60 an hour are 0.001 a second.
    names = ("seconds", "seconds_left", "cost", "expected_cost", "currency", "peak_memory", "best_score", "step")
    assert [found[name] for name in names] == [500.0, 100.0, "0.50", "0.60", "EUR", 5000, 0.5, 2]
    assert (found["training_examples"], found["validation_examples"]) == (4, 0)


def test_a_trained_model_is_named_its_card_is_read_and_it_is_deleted(script: Script, project: Project) -> None:
    run = waiting_run(project)
    address = f"{TRAININGS}{run.pk}/"
    refused = script.get(f"{address}card/")
    assert (refused.status_code, "is not trained yet" in refused.json()["detail"]) == (409, True)
    assert "still in training" in script.ask("DELETE", address).json()["detail"]
    finish(run)
    assert script.get(address).json()["model"] == f"open_clip:ViT-B-32-quickgelu/trained:{run.folder}/small-clip.pt"
    assert "# small-clip" in script.get(f"{address}card/").json()["text"]
    prediction = make_prediction(Model.objects.get(), make_instance(project, "one"))
    assert "has 1 prediction about 1 instance" in script.ask("DELETE", address).json()["detail"]
    prediction.delete()
    assert script.ask("DELETE", address).status_code == 204
    assert script.get(address).status_code == 404
    assert not Model.objects.exists()


PUSH = {"repository": "lab/clip", "token": "hf_secret", "licence": "MIT"}


def test_a_trained_model_is_pushed_watched_and_the_push_is_cancelled(script: Script, project: Project) -> None:
    run = waiting_run(project)
    pushes = f"{TRAININGS}{run.pk}/hub-pushes/"
    assert script.post(pushes, PUSH).json()["detail"].startswith("small-clip is not trained yet.")
    finish(run)
    first, again = (script.post(pushes, PUSH, Idempotency_Key="one") for _ in range(2))
    push = ModelPush.objects.get()
    assert (first.status_code, again.status_code, again.json()) == (202, 202, first.json())
    assert (push.private, push.with_weights, push.licence) == (True, True, "MIT")
    told = first.json()
    assert (told["training"], told["repository"], told["state"]) == (run.pk, "lab/clip", "waiting")
    assert (told["card_url"], told["url"]) == (None, None)
    assert "hf_secret" not in f"{first.content!r} {list(KeptAnswer.objects.values())}"
    assert "already being pushed to lab/clip" in script.post(pushes, PUSH).json()["detail"]
    assert script.post(f"{first['Location']}cancel/").json()["error"] == "It was cancelled."
    assert script.post(f"{first['Location']}cancel/").status_code == 409
    assert script.get(pushes).json()["results"] == [script.get(first["Location"]).json()]
    assert script.get(first["Location"]).json()["state"] == "failed"
    card_alone = script.post(pushes, PUSH | {"with_weights": False, "private": False})
    assert card_alone.json()["with_weights"] is False
    assert not ModelPush.objects.get(with_weights=False).private
    done = {
        "finished_at": NOON,
        "sealed_token": "",
        "card_url": "https://hub.example/1",
        "url": "https://hub.example/1",
    }
    ModelPush.objects.filter(with_weights=False).update(**done)
    told = script.get(card_alone["Location"]).json()
    assert (told["state"], told["card_url"], told["url"]) == ("pushed", done["url"], done["url"])


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({"repository": "clip"}, 409, "Write the repository as OWNER/NAME"),
        ({"token": "two words"}, 409, "Give a token of the Hub"),
        ({"token": None}, 400, "What you sent cannot be used."),
        ({"licence": "M" * 101}, 400, "What you sent cannot be used."),
    ],
)
def test_what_cannot_be_pushed_is_a_problem(
    script: Script, project: Project, changes: dict[str, object], status: int, said: str
) -> None:
    run = waiting_run(project)
    finish(run)
    refused = script.post(f"{TRAININGS}{run.pk}/hub-pushes/", PUSH | changes)
    assert (refused.status_code, said in refused.json()["detail"]) == (status, True)
    assert not ModelPush.objects.exists()


def test_pushes_of_another_project_are_not_there(script: Script) -> None:
    other = waiting_run(make_project("vases"))
    finish(other)
    push = ModelPush.objects.create(project=other.project, run=other, repository="lab/clip", requested_at=NOON)
    assert script.get(f"{TRAININGS}{other.pk}/hub-pushes/").status_code == 404
    assert script.post(f"{TRAININGS}{other.pk}/hub-pushes/", PUSH).status_code == 404
    assert script.get(f"{BIRDS}model-pushes/{push.pk}/").status_code == 404
    assert script.post(f"{BIRDS}model-pushes/{push.pk}/cancel/").status_code == 404
    stranger = script_of(make_person("stranger"))
    for address in (f"/api/v1/projects/vases/trainings/{other.pk}/hub-pushes/", "/api/v1/projects/vases/trainings/"):
        assert (stranger.get(address).status_code, stranger.post(address, PUSH).status_code) == (404, 404)
    assert ModelPush.objects.get().finished_at is None


@pytest.mark.parametrize(
    ("changes", "status", "said"),
    [
        ({"base": "onnx:/srv/ours.onnx"}, 409, "does not offer the model 'onnx:/srv/ours.onnx'"),
        ({"name": "My CLIP"}, 409, "cannot name a model"),
        ({"recipe": "own"}, 400, "What you sent cannot be used."),
        ({"options": {"epochs": "many"}}, 409, "epochs"),
        ({"release": "v1"}, 409, "birds has no release called 'v1'"),
        ({"hour_price": "much"}, 409, "The price of an hour is 'much'."),
        ({"seed": -1}, 400, "What you sent cannot be used."),
    ],
)
def test_what_cannot_be_trained_is_a_problem_in_the_words_of_the_page(
    script: Script, changes: dict[str, object], status: int, said: str
) -> None:
    refused = script.post(TRAININGS, WANTED | changes)
    assert refused.status_code == status
    assert said in refused.json()["detail"]
    assert not TrainingRun.objects.exists()


def test_a_training_of_another_project_is_not_there(script: Script) -> None:
    other = waiting_run(make_project("vases"))
    assert script.get(f"{TRAININGS}{other.pk}/").status_code == 404
    assert script.post(f"{TRAININGS}{other.pk}/cancel/").status_code == 404
    assert script.ask("DELETE", f"{TRAININGS}{other.pk}/").status_code == 404
