from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command

from predictions.models import Run
from studies.models import Event, Project
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


@pytest.mark.usefixtures("project")
def test_it_asks_a_worker_and_says_where_to_look(sent: list[Run]) -> None:
    said = predict("--study", "birds-step-3")
    assert said == (
        "open_clip:ViT-B-32/openai is asked about birds-step-3. http://127.0.0.1:8000/projects/birds/models/ shows how "
        "far it is.\n"
    )
    run = Run.objects.get()
    assert sent == [run]
    assert (run.spec, run.by_name, run.state) == (SPEC, "command line", Run.State.LOADING)
    predict("--kind", "image_to_text", "--variant", "image")
    assert [(run.kind, run.variant, run.study) for run in Run.objects.exclude(pk=run.pk)] == [
        ("image_to_text", "image", None)
    ]


def test_who_asks_is_told_in_the_event(project: Project) -> None:
    make_member(project, "editor", name="anna")
    predict("--study", "birds-step-3", by="anna")
    assert Event.objects.get(what="predictions requested").by_name == "anna"


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
@pytest.mark.parametrize(
    ("state", "error", "said"),
    [
        ("done", "", "3 scored, 4 were there already, 1 could not be scored, 2 left out."),
        ("failed", "It is broken.", ""),
    ],
)
def test_it_can_wait_and_say_what_came_of_it(
    monkeypatch: pytest.MonkeyPatch, state: str, error: str, said: str
) -> None:
    counts = {"stored": 3, "already_there": 4, "wrong": 1, "left_out": 2}

    def work(seconds: float) -> None:
        run = Run.objects.get()
        Run.objects.filter(pk=run.pk).update(state=state, error=error, finished_at=run.requested_at, **counts)

    monkeypatch.setattr("predictions.management.commands.predict.time.sleep", work)
    if error:
        with pytest.raises(CommandError, match=error):
            predict("--study", "birds-step-3", "--wait")
    else:
        assert predict("--study", "birds-step-3", "--wait").splitlines()[1] == said
