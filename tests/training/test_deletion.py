"""A training run is deleted with its model, and its folder by a worker, whatever message is lost."""

from datetime import timedelta
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command
from django.core.management.base import CommandError
from kombu.exceptions import OperationalError

from predictions.actions.runs import models_offered, request_run
from predictions.models import Model, TrainedWeights
from studies.models import Event, Project
from tests.factories import NOON, make_instance, make_prediction, make_project
from tests.training.site import finish, waiting_run
from training import worker
from training.actions.deletion import ask_to_discard, delete_run, note_discarded
from training.actions.runs import cancel_run
from training.errors import CannotTrain
from training.messages import DISCARD, DISCARDED
from training.models import DiscardedFolder, TrainingRun

pytestmark = pytest.mark.django_db
HOUR = timedelta(hours=1)


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[str, str]]:
    """The messages to workers, with the folder that each names."""
    found: list[tuple[str, str]] = []

    def send(name: str, *, kwargs: dict[str, Any], **_: Any) -> None:
        found.append((name, kwargs["folder"]))

    monkeypatch.setattr("training.actions.deletion.current_app", SimpleNamespace(send_task=send))
    return found


def trained(project: Project, **changes: Any) -> TrainingRun:
    run = waiting_run(project, **changes)
    TrainingRun.objects.filter(pk=run.pk).update(attempt=1)
    run.refresh_from_db()
    finish(run)
    return run


def test_a_run_goes_with_its_model_and_its_mark_stays(project: Project) -> None:
    run = trained(project)
    spec, folder = run.result["spec"], run.folder
    assert spec in models_offered(project)
    delete_run(run=run, by="ana", now=NOON)
    assert not TrainingRun.objects.exists()
    assert not Model.objects.exists()
    assert spec not in models_offered(project)
    assert DiscardedFolder.objects.get().folder == folder
    told = Event.objects.get(what="training deleted")
    assert (told.by_name, told.details["model"], told.details["recipe"]) == ("ana", "small-clip", "negclip")
    # Predictions of the same weights that come later, from a file.
    weights = TrainedWeights.objects.get().weights
    again = Model.objects.get_or_create_named(project, now=NOON, name="mine", version="", weights=weights)
    assert again.is_trained_here


def test_a_run_in_training_stays(project: Project) -> None:
    run = waiting_run(project)
    with pytest.raises(CannotTrain, match=r"small-clip is still in training\. Cancel it first\."):
        delete_run(run=run, by="ana", now=NOON)
    cancel_run(run=run, by="ana", now=NOON)
    delete_run(run=run, by="ana", now=NOON)
    # No worker was ever asked, so there is no folder.
    assert not DiscardedFolder.objects.exists()


def test_a_model_that_somebody_needs_stays(project: Project) -> None:
    run = trained(project)
    make_prediction(Model.objects.get(), make_instance(project, "one"))
    with pytest.raises(
        CannotTrain,
        match=r"has 1 prediction about 1 instance under the name .*\. Delete that model first, under Models\.",
    ):
        delete_run(run=run, by="ana", now=NOON)
    Model.objects.all().delete()
    child = waiting_run(project, name="child", base=run.result["spec"])
    with pytest.raises(CannotTrain, match="child is trained from this model now"):
        delete_run(run=run, by="ana", now=NOON)
    cancel_run(run=child, by="ana", now=NOON)
    request_run(project=project, spec=run.result["spec"], kind="image_to_text", by="ana", now=NOON)
    with pytest.raises(CannotTrain, match="answers questions now"):
        delete_run(run=run, by="ana", now=NOON)
    assert TrainingRun.objects.count() == 2


@pytest.mark.parametrize("spec", ["text-only:detector:trained:folder/d.pt", "imagecode:trained:folder/m.pt"])
def test_a_tower_on_which_a_model_stands_stays(project: Project, spec: str) -> None:
    run = trained(project)
    other = make_project("birds")
    for place, name in ((project, "child"), (other, "secret")):
        child = waiting_run(place, name=name, base=run.result["spec"])
        TrainingRun.objects.filter(pk=child.pk).update(state="done", result={"spec": spec}, finished_at=NOON)
    with pytest.raises(CannotTrain, match="needs this model to answer questions") as refused:
        delete_run(run=run, by="ana", now=NOON)
    assert "secret" not in str(refused.value)
    # Weights of its own need no other ones.
    TrainingRun.objects.filter(base=run.result["spec"]).update(result={"spec": "open_clip:ViT-B-32/trained:f/c.pt"})
    delete_run(run=run, by="ana", now=NOON)


def test_a_model_that_another_run_trained_too_stays(project: Project) -> None:
    """The same seed gives the same weights."""
    first, second = trained(project), trained(project, name="twin")
    make_prediction(Model.objects.get(), make_instance(project, "one"))
    delete_run(run=first, by="ana", now=NOON)
    assert Model.objects.exists()
    with pytest.raises(CannotTrain, match="twin has 1 prediction"):
        delete_run(run=second, by="ana", now=NOON)


def test_workers_are_asked_once_an_hour_until_one_has_deleted_the_folder(
    project: Project, sent: list[tuple[str, str]]
) -> None:
    run = trained(project)
    folder = run.folder
    delete_run(run=run, by="ana", now=NOON)
    for minutes in (0, 1, 59, 61):
        ask_to_discard(now=NOON + timedelta(minutes=minutes))
    assert sent == [(DISCARD, folder)] * 2
    note_discarded(folder=folder)
    note_discarded(folder=folder)
    ask_to_discard(now=NOON + 9 * HOUR)
    assert len(sent) == 2


def test_workers_are_not_asked_for_ever(project: Project, sent: list[tuple[str, str]]) -> None:
    delete_run(run=trained(project), by="ana", now=NOON)
    ask_to_discard(now=NOON + timedelta(days=8))
    assert (sent, DiscardedFolder.objects.count()) == ([], 0)


def test_a_broker_that_is_down_is_asked_later(project: Project, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: Any, **__: Any) -> None:
        raise OperationalError

    delete_run(run=trained(project), by="ana", now=NOON)
    monkeypatch.setattr("training.actions.deletion.current_app", SimpleNamespace(send_task=refuse))
    ask_to_discard(now=NOON)
    assert DiscardedFolder.objects.get().asked_at is None


def test_a_worker_deletes_the_folder_and_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINEUP_TRAINED", str(tmp_path))
    told: list[tuple[str, str]] = []
    monkeypatch.setattr(worker.app, "send_task", lambda name, kwargs, **_: told.append((name, kwargs["folder"])))
    for folder in ("old", "other"):
        (tmp_path / folder / "best").mkdir(parents=True)
        (tmp_path / folder / "checkpoint").write_bytes(b"half")
    # Another worker still writes its last checkpoint.
    with worker._alone_in(tmp_path / "old", {}):  # type: ignore[typeddict-item]
        worker.discard(folder="old")
    assert ((tmp_path / "old").exists(), told) == (True, [])
    worker.discard(folder="old")
    worker.discard(folder="old")
    worker.discard(folder="not-here")
    assert [path.name for path in tmp_path.iterdir()] == ["other"]
    assert told == [(DISCARDED, "old")]
    with pytest.raises(ValueError, match="cannot name a folder"):
        worker.discard(folder="../other")


def test_the_command_says_what_it_would_do_first(project: Project, capsys: pytest.CaptureFixture[str]) -> None:
    run = waiting_run(project)
    call_command("delete_training", "vases", "small-clip", dry_run=True)
    with pytest.raises(CommandError, match="still in training"):
        call_command("delete_training", "vases", "small-clip")
    cancel_run(run=run, by="ana", now=NOON)
    call_command("delete_training", "vases", "small-clip", dry_run=True)
    assert TrainingRun.objects.exists()
    call_command("delete_training", "vases", "small-clip")
    assert capsys.readouterr().out.splitlines() == [
        "small-clip is still in training. Cancel it first.",
        "The training of small-clip would be deleted.",
        "The training of small-clip was deleted. Its worker deletes the weights.",
    ]
    with pytest.raises(CommandError, match=r"vases has no training called 'small-clip'\. Its trainings: none\."):
        call_command("delete_training", "vases", "small-clip")
