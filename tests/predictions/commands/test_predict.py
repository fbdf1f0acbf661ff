from contextlib import nullcontext
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from predictions.models import Run
from studies.models import Project
from tests.factories import draw_instance, make_launched, make_member, make_project, make_study

pytestmark = pytest.mark.django_db
SPEC = "open_clip:ViT-B-32/openai"


@pytest.fixture
def project() -> Project:
    project = make_project("birds")
    draw_instance(project, 1)
    make_launched(make_study(project))
    return project


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Run]:
    """The runs that a worker was to be told of."""
    found: list[Run] = []
    monkeypatch.setattr("predictions.management.commands.predict.send_to_worker", found.append)
    return found


def predict(*arguments: str, **options: Any) -> str:
    out = StringIO()
    call_command("predict", "birds", "--model", SPEC, *arguments, stdout=out, **options)
    return out.getvalue()


def test_it_asks_a_worker_and_says_where_to_look(project: Project, sent: list[Run]) -> None:
    make_member(project, "editor", name="anna")
    said = predict("--study", "birds-step-3", by="anna")
    assert said == (
        "Model run requested: open_clip:ViT-B-32/openai on birds-step-3. http://127.0.0.1:8000/projects/birds/models/ "
        "shows its progress.\n"
    )
    run = Run.objects.get()
    assert sent == [run]
    assert (run.spec, run.by_name, run.state) == (SPEC, "anna", Run.State.LOADING)
    predict("--kind", "image_to_text", "--variant", "image")
    (other,) = Run.objects.exclude(pk=run.pk)
    assert (other.kind, other.variant, other.study, other.by_name) == ("image_to_text", "image", None, "command line")


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("arguments", "sentence"),
    [
        (["--study", "no-such-study"], "The project birds has no study called no-such-study."),
        (["--kind", "guess"], "The kind 'guess' is unknown."),
        (["--kind", "best_of_n", "--study", "birds-step-3"], "not allowed with argument"),
        ([], "one of the arguments --study --kind is required"),
    ],
)
def test_what_cannot_be_meant_is_told_in_a_sentence(arguments: list[str], sentence: str) -> None:
    with pytest.raises(CommandError, match=sentence):
        predict(*arguments)
    assert not Run.objects.exists()


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize("error", ["", "It is broken."])
def test_it_can_wait_and_say_what_came_of_it(monkeypatch: pytest.MonkeyPatch, error: str) -> None:
    outcome: dict[str, Any] = {"state": "failed" if error else "done", "error": error}
    outcome |= {"stored": 3, "already_there": 4, "wrong": 1, "left_out": 2}

    def work(seconds: float) -> None:
        run = Run.objects.get()
        Run.objects.filter(pk=run.pk).update(finished_at=run.requested_at, **outcome)

    monkeypatch.setattr("predictions.management.commands.predict.time.sleep", work)
    with pytest.raises(CommandError, match=error) if error else nullcontext():
        said = predict("--study", "birds-step-3", "--wait").splitlines()[1]
        assert said == "3 newly scored, 4 already scored, 1 could not be scored, 2 left out."
