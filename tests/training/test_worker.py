"""The worker that trains: what it answers where training stops, and what it reads from the site."""

import errno
import fcntl
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from threading import Event
from time import monotonic
from types import SimpleNamespace
from typing import Any

import pytest
import urllib3
from django.test import Client

from predictions.pictures import SourceUnavailable
from predictions.scorers import CannotLoad, OutOfMemory
from predictions.trained_models import path_of
from tests.factories import NOON, make_project
from tests.training.site import result, sent_orders, train_four_steps, waiting_run, worker_here
from tests.waiting import wait_until
from training.actions.orders import send_due
from training.actions.runs import cancel_run, resume_run
from training.errors import CannotTrain, TrainingCancelled
from training.examples import Example
from training.loop import train
from training.messages import Order
from training.models import TrainingRun
from training.plan import Plan

ROOT = Path(__file__).resolve().parents[2]
pytestmark = pytest.mark.once(
    on="sqlite",
    because="what the worker says has no database in it; what is stored of it is tried on both in test_site",
)


@pytest.fixture
def trained_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LINEUP_TRAINED", str(tmp_path))
    monkeypatch.setattr("training.worker.PAUSES_SECONDS", (0, 0))
    # The files of examples are not what these tests are about.
    monkeypatch.setattr("training.worker.fetch_examples", lambda order, part, file: file.write_bytes(b"{}\n"))
    return tmp_path


def stopping(error: BaseException) -> Callable[..., Any]:
    def train(*_: Any) -> Any:
        raise error

    return train


def trained(client: Client, train: Callable[..., Any]) -> TrainingRun:
    """Return a run after a worker has trained it in this way."""
    run = waiting_run(make_project())
    with sent_orders() as sent:
        send_due(run_id=run.pk, now=NOON)
    with worker_here(client, train) as worker:
        worker.train(order=sent[0])
    run.refresh_from_db()
    return run


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("error", "sentence"),
    [
        (CannotTrain("The loss is not a number."), "The loss is not a number."),
        (CannotLoad("OpenCLIP has no such tag."), "OpenCLIP has no such tag."),
        (OutOfMemory(), "The device is out of memory, even for the smallest part of a batch."),
        (MemoryError(), "The device is out of memory, even for the smallest part of a batch."),
        (OSError(errno.ENOSPC, "No space left on device"), "The disk of the worker is full (No space left on device)."),
        (SourceUnavailable("The bucket is down."), "The bucket is down. Then resume."),
        (RuntimeError("secret"), "The worker failed. Its log says why: look for the reference "),
    ],
)
def test_training_that_stops_says_why_on_the_page_and_can_go_on(
    client: Client, trained_folder: Path, error: Exception, sentence: str
) -> None:
    run = trained(client, stopping(error))
    assert run.state == "failed"
    assert run.error.startswith(sentence)
    assert run.can_resume


@pytest.mark.django_db
def test_a_worker_that_may_not_write_says_where(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_bytes(b"")
    monkeypatch.setenv("LINEUP_TRAINED", str(tmp_path / "file"))
    run = trained(client, train_four_steps)
    assert (run.state, run.can_resume) == ("failed", True)
    assert run.error == (
        f"The worker cannot write to {tmp_path / 'file' / run.folder} (Not a directory). Let it write there, or set "
        "its LINEUP_TRAINED to another folder. Then resume."
    )


@pytest.mark.django_db
def test_training_goes_on_by_itself_when_the_images_come_back(client: Client, trained_folder: Path) -> None:
    tries = []

    def train(*given: Any) -> Any:
        tries.append(given)
        if len(tries) < 3:
            raise SourceUnavailable("The bucket is down.")
        return train_four_steps(*given)

    assert trained(client, train).state == "done"
    assert len(tries) == 3


@pytest.mark.django_db
def test_a_worker_that_was_cancelled_says_nothing_more(client: Client, trained_folder: Path) -> None:
    run = trained(client, stopping(TrainingCancelled("A checkpoint was written.")))
    assert (run.state, run.error) == ("training", "")


@pytest.mark.django_db
def test_a_worker_asks_the_site_whether_to_go_on(
    client: Client, trained_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.worker.LOOK_SECONDS", 0)
    said = []

    def train(*given: Any) -> Any:
        is_cancelled = given[-1]
        said.append(is_cancelled())
        cancel_run(run=TrainingRun.objects.get(), by="test", now=NOON)
        said.append(is_cancelled())
        raise TrainingCancelled("A checkpoint was written.")

    assert trained(client, train).state == "cancelled"
    assert said == [False, True]


def test_training_does_not_wait_for_a_site_that_is_slow_to_answer(monkeypatch: pytest.MonkeyPatch) -> None:
    from training import worker

    answers, asked = Event(), []

    def wait(order: Order) -> bool:
        asked.append(order)
        answers.wait(60)
        return False

    monkeypatch.setattr(worker, "LOOK_SECONDS", 0)
    monkeypatch.setattr(worker, "is_wanted", wait)
    order = Order(run=1, attempt=1, plan={}, folder="a", site="", key="", sha256={})
    with closing(worker._Reports(order, monotonic)) as reports:
        assert not any(reports.is_cancelled() for _ in range(1000))
        assert len(asked) == 1
        answers.set()
        wait_until(reports.is_cancelled, seconds=60, why=lambda: "The answer of the site was not read.")


@pytest.mark.django_db
def test_a_worker_that_waits_for_its_images_stops_when_it_is_cancelled(
    client: Client, trained_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.worker.PAUSES_SECONDS", (600,))
    monkeypatch.setattr("training.worker.LOOK_SECONDS", 0)

    def train(*given: Any) -> Any:
        cancel_run(run=TrainingRun.objects.get(), by="test", now=NOON)
        raise SourceUnavailable("The bucket is down.")

    assert trained(client, train).state == "cancelled"


@pytest.mark.django_db
def test_examples_that_the_site_lost(client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINEUP_TRAINED", str(tmp_path))

    def lose(*_: Any, **__: Any) -> Any:
        return SimpleNamespace(status=404, release_conn=lambda: None)

    run = waiting_run(make_project())
    with sent_orders() as sent:
        send_due(run_id=run.pk, now=NOON)
    with worker_here(client) as worker:
        monkeypatch.setattr("training.site_client._get", lose)
        worker.train(order=sent[0])
    run.refresh_from_db()
    assert run.error == "The site has lost the examples of this run. Resume it, and they are prepared again."


@pytest.mark.django_db
def test_examples_that_come_only_half_are_not_kept(
    client: Client, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINEUP_TRAINED", str(tmp_path))

    def break_off(_: int) -> Iterator[bytes]:
        yield b'{"caption": "A vase'
        assert list(tmp_path.rglob("*.unfinished"))
        raise urllib3.exceptions.ProtocolError("The site was restarted.")

    run = waiting_run(make_project())
    with sent_orders() as sent:
        send_due(run_id=run.pk, now=NOON)
    answer = SimpleNamespace(status=200, stream=break_off, release_conn=lambda: None)
    with worker_here(client) as worker:
        monkeypatch.setattr("training.site_client._get", lambda *_, **__: answer)
        worker.train(order=sent[0])
    run.refresh_from_db()
    assert (run.state, "did not answer" in run.error) == ("failed", True)
    assert not list(tmp_path.rglob("training.*"))


@pytest.mark.django_db
@pytest.mark.parametrize("stop", [None, TrainingCancelled("A checkpoint was written.")])
def test_what_people_wrote_does_not_stay_on_the_worker(
    client: Client, trained_folder: Path, stop: Exception | None
) -> None:
    seen = []

    def train(*given: Any) -> Any:
        seen.extend(given[4].glob("*.jsonl"))
        return train_four_steps(*given) if stop is None else stopping(stop)(*given)

    run = trained(client, train)
    assert [file.name for file in seen] == ["training.jsonl"]
    assert not list((trained_folder / run.folder).glob("*.jsonl"))


@pytest.mark.django_db
def test_two_workers_that_share_a_folder_do_not_train_in_it_at_once(
    client: Client, trained_folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("training.worker.WAIT_FOR_OTHER_SECONDS", 0)
    run = waiting_run(make_project())
    folder = trained_folder / run.folder
    folder.mkdir()
    with (folder / "lock").open("w") as other, sent_orders() as sent, worker_here(client) as worker:
        fcntl.flock(other, fcntl.LOCK_EX)
        send_due(run_id=run.pk, now=NOON)
        worker.train(order=sent[0])
        run.refresh_from_db()
        assert run.error == "Another worker has not stopped training this model. End that worker, and resume the run."
        fcntl.flock(other, fcntl.LOCK_UN)
        resume_run(run=run, by="test", now=NOON)
        send_due(run_id=run.pk, now=NOON)
        worker.train(order=sent[1])
    run.refresh_from_db()
    assert run.state == "done"


@pytest.mark.django_db
def test_a_model_whose_file_has_other_weights_is_not_announced(client: Client, trained_folder: Path) -> None:
    def train(*given: Any) -> Any:
        return result(train_four_steps(*given).path, weights="6" * 64)

    run = trained(client, train)
    assert (run.state, run.error) == (
        "failed",
        "The trained model has other weights in its file than in memory. Train it again.",
    )


def test_a_spec_names_nothing_outside_the_folder_of_trained_models(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINEUP_TRAINED", "/trained")
    assert path_of("trained:birds-clip-1a2b/clip.pt") == "/trained/birds-clip-1a2b/clip.pt"
    # What is no trained model is named as it is, by whoever has a shell.
    assert path_of("openai") == "openai"
    for name in ("../secret", "birds/../../etc/passwd", "/etc/passwd", "birds", "birds/", "birds/..", ".birds/clip.pt"):
        with pytest.raises(ValueError, match="cannot name"):
            path_of(f"trained:{name}")


def test_a_worker_started_by_its_documented_command_imports_rooms_later() -> None:
    # As `celery` does: the working directory is on the path only until the application is found.
    code = (
        "from celery.utils.imports import cwd_in_path\n"
        "with cwd_in_path():\n    import predictions.worker\n"
        "import analytics.scores"
    )
    told = subprocess.run([sys.executable, "-P", "-c", code], cwd=ROOT, capture_output=True, text=True, timeout=60)
    assert told.returncode == 0, told.stderr


def test_a_worker_without_torch_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_picture(name: str) -> Any:
        raise AssertionError(name)

    monkeypatch.setitem(sys.modules, "torch", None)
    some = [Example(str(number), (f"{number}.jpg",), ("A dog.", "A cat.")) for number in range(8)]
    with pytest.raises(CannotTrain, match=r"^torch cannot be used on the worker .* Install requirements-gpu\.txt"):
        train(Plan("negclip", "open_clip:tiny/none", "small"), some, [], no_picture, tmp_path, lambda _: None)
