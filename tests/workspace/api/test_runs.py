"""Models are asked by script, as they are on their page."""

import pytest
from pytest_django import Settings

from predictions.models import Run
from studies.models import Project
from tests.factories import make_launched, make_member, make_project, make_study
from tests.workspace.api.asking import BIRDS, Script, script_of

pytestmark = pytest.mark.django_db
RUNS = f"{BIRDS}runs/"
SPEC = "open_clip:ViT-B-32/openai"


@pytest.fixture
def project() -> Project:
    project = make_project("birds")
    make_launched(make_study(project, slug="pick"))
    return project


@pytest.fixture
def script(project: Project) -> Script:
    return script_of(make_member(project, "editor"))


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch, settings: Settings) -> list[int]:
    """The runs of which messages were to be sent."""
    settings.MODELS_OFFERED = [SPEC]
    found: list[int] = []
    monkeypatch.setattr("workspace.api.runs.send_to_worker", lambda run: found.append(run.pk))
    return found


def test_a_model_is_asked_once_watched_given_up_and_asked_to_go_on(script: Script, sent: list[int]) -> None:
    wanted = {"model": SPEC, "study": "pick"}
    first = script.post(RUNS, wanted, Idempotency_Key="one")
    again = script.post(RUNS, wanted, Idempotency_Key="one")
    run = Run.objects.get()
    assert (first.status_code, again.status_code, again.json()) == (202, 202, first.json())
    assert first["Location"].endswith(f"{RUNS}{run.pk}/")
    told = script.get(f"{RUNS}{run.pk}/").json()
    assert {name: told[name] for name in ("id", "model", "study", "kind", "state", "total")} == {
        **{"id": run.pk, "model": SPEC, "study": "pick"},
        **{"kind": "", "state": "loading", "total": 0},
    }
    assert script.get(RUNS).json()["results"] == [told]
    assert script.post(f"{RUNS}{run.pk}/cancel/").json()["state"] == "cancelled"
    assert script.post(f"{RUNS}{run.pk}/cancel/").status_code == 409
    assert script.post(f"{RUNS}{run.pk}/go-on/").json()["state"] == "loading"
    assert sent == [run.pk, run.pk]


@pytest.mark.parametrize(
    ("wanted", "status", "said"),
    [
        ({"model": "onnx:/srv/ours.onnx", "study": "pick"}, 409, "does not offer the model 'onnx:/srv/ours.onnx'"),
        ({"model": SPEC, "study": "nowhere"}, 409, "has no study called nowhere"),
        ({"model": SPEC}, 409, "Name either a study or a kind of question."),
        ({"model": SPEC, "study": "pick", "kind": "image_to_text"}, 409, "Name either"),
        ({"model": SPEC, "kind": "image_to_text", "variant": "odd"}, 409, "has no variant 'odd'"),
        ({"study": "pick"}, 400, "What you sent cannot be used."),
    ],
)
def test_what_cannot_be_asked_is_a_problem_in_the_words_of_the_page(
    script: Script, wanted: dict[str, str], status: int, said: str
) -> None:
    refused = script.post(RUNS, wanted)
    assert refused.status_code == status
    assert said in refused.json()["detail"]
    assert not Run.objects.exists()


def test_a_run_of_another_project_is_not_there(script: Script) -> None:
    other = Run.objects.create(
        project=make_project("vases"), spec=SPEC, kind="image_to_text", by_name="x", requested_at="2026-01-01T00:00Z"
    )
    assert script.get(f"{RUNS}{other.pk}/").status_code == 404
    assert script.post(f"{RUNS}{other.pk}/cancel/").status_code == 404
