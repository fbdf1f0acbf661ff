"""Imports done in the background: by a worker, once, all or nothing, with every reason why not."""

import json
import subprocess
import sys
import time
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any
from unittest.mock import Mock

import pytest
from django.core.files.storage import default_storage
from django.db import OperationalError, connection

from background import jobs
from background.models import Job, JobState
from studies.actions.imports import importer
from studies.actions.imports.import_jobs import IMPORT, cancel_import, request_again, request_import
from studies.actions.imports.import_state import ImportRefused
from studies.actions.imports.save_rows import save
from studies.errors import StudyError
from studies.models import Event, Image, Import, Instance, Project
from tests.factories import NOON, make_instance, make_person, make_project
from tests.jobs import run_now
from tests.studies.actions.slow_import import MESSAGE
from tests.studies.actions.test_importer import assert_nothing_imported, stored_files
from tests.studies.source_files import json_lines, picture_bytes
from tests.workers import site_environment

pytestmark = pytest.mark.django_db


def row(number: int, **more: Any) -> dict[str, Any]:
    return {"key": f"row-{number}", "caption": f"Vase {number}.", "images": []} | more


def with_image(number: int) -> dict[str, Any]:
    return row(number, images={"image": f"{number}.png"})


def draw(folder: Path, *numbers: int) -> Path:
    folder.mkdir(exist_ok=True)
    for number in numbers:
        (folder / f"{number}.png").write_bytes(picture_bytes(format="PNG", size=(8 + number, 6)))
    return folder


@pytest.fixture
def file(tmp_path: Path) -> Path:
    file = tmp_path / "vases.jsonl"
    file.write_bytes(json_lines(row(1), row(2)))
    return file


def asked(file: Path, **options: Any) -> Import:
    told: dict[str, Any] = {"files": [file], "format": "jsonl", "by": "tests", "now": NOON} | options
    return request_import(project=told.pop("project", None) or make_project(), **told)


def job_of(wanted: Import) -> Job:
    assert wanted.job is not None
    return wanted.job


def done(wanted: Import, **how: Any) -> Import:
    """Let a worker do an import, and return what has become of it."""
    run_now(job_of(wanted), now=NOON, **how)
    return Import.objects.get(pk=wanted.pk)


def test_a_worker_does_what_was_asked_for_and_the_one_who_asked_is_named(file: Path) -> None:
    anna = make_person("anna")
    wanted = asked(file, by=anna)
    assert not Instance.objects.exists()
    found = done(wanted)
    assert set(Instance.objects.values_list("key", flat=True)) == {"row-1", "row-2"}
    (told,) = found.summaries
    assert (told["added"], told["already_there"]) == (2, 0)
    assert told["sentence"] == "2 records: 2 added, 0 already there."
    assert (found.error, found.finished_at, job_of(found).state) == ("", NOON, JobState.DONE)
    assert [(event.what, event.by) for event in Event.objects.order_by("pk")] == [
        ("import requested", anna),
        ("instances imported", anna),
    ]


def test_a_second_run_of_a_job_and_a_second_import_add_nothing(file: Path) -> None:
    first = done(asked(file))
    Job.objects.update(state=JobState.WAITING, finished_at=None)
    assert done(first).summaries == first.summaries
    assert Event.objects.filter(what="instances imported").count() == 1
    second = done(asked(file))
    assert second.pk != first.pk
    assert [(told["added"], told["already_there"]) for told in second.summaries] == [(0, 2)]
    assert Instance.objects.count() == 2
    assert Event.objects.filter(what="instances imported").count() == 1


def test_what_is_asked_for_twice_is_one_import_in_a_new_project_that_is_there_at_once(file: Path) -> None:
    anna = make_person("anna")
    first = asked(file, project=Project(slug="cups", name="cups"), owner=anna)
    assert Project.objects.get().memberships.get().user == anna
    assert asked(file, project=first.project) == first
    assert asked(file, project=first.project, images_later=True) != first
    assert Event.objects.filter(what="import requested").count() == 2


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"format": "xml"}, "The format 'xml' is unknown"),
        ({"caption_rule": "best"}, "The caption rule 'best' is unknown"),
        ({"images_dir": Path("/nowhere")}, "The image folder /nowhere does not exist"),
        ({"files": [Path("/nowhere/vases.jsonl")]}, r"cannot be opened \(No such file or directory\)"),
    ],
)
def test_what_cannot_be_done_is_not_even_noted(file: Path, options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ImportRefused, match=sentence):
        asked(file, **({"project": Project(slug="cups", name="cups")} | options))
    assert not Import.objects.exists()
    assert not Project.objects.exists()


def test_a_file_that_has_changed_or_gone_since_is_refused(file: Path) -> None:
    content = file.read_bytes()
    changed = asked(file)
    # As long as before, and with the old date: only its digest tells.
    file.write_bytes(content.replace(b"Vase 2", b"Vase 3"))
    assert done(changed).error.startswith("vases.jsonl has changed since the import was requested.")
    file.write_bytes(content)
    gone = asked(file)
    file.unlink()
    assert done(gone).error.startswith("vases.jsonl can no longer be read")
    assert_nothing_imported()
    file.write_bytes(content)
    assert done(request_again(wanted=done(gone), by=make_person("anna"), now=NOON)).error == ""
    assert Instance.objects.count() == 2


def test_every_bad_row_is_named_and_the_first_are_shown(tmp_path: Path, file: Path) -> None:
    bad = tmp_path / "more.jsonl"
    bad.write_bytes(json_lines(*(row(1) for _ in range(151))))
    found = done(asked(file, files=[file, bad]))
    # The key row-1 stands in the first file already: all 151 rows of the second are bad.
    assert found.error == "Nothing was imported: 151 problems were found."
    assert (found.problem_count, len(found.first_problems)) == (151, 10)
    assert found.first_problems[0] == (
        "more.jsonl: Record 1, key: record 1 of vases.jsonl also has the key row-1. Keys must differ."
    )
    with default_storage.open(found.problems_file) as stored:
        told = [json.loads(line) for line in stored]
    assert [problem["record"] for problem in told] == list(range(1, 152))
    assert {(problem["file"], problem["field"]) for problem in told} == {("more.jsonl", "key")}
    assert not Instance.objects.exists()
    assert not Event.objects.filter(what="instances imported").exists()


def test_one_that_waits_is_cancelled_at_once_and_can_be_tried_again(file: Path) -> None:
    anna, wanted = make_person("anna"), asked(file)
    cancel_import(wanted=wanted, by=anna, now=NOON)
    found = done(wanted)
    assert (found.error, found.finished_at) == ("It was cancelled. Nothing was imported.", NOON)
    assert not Instance.objects.exists()
    with pytest.raises(StudyError, match="already ended"):
        cancel_import(wanted=found, by=anna, now=NOON)
    again = done(request_again(wanted=found, by=anna, now=NOON))
    assert (again.pk != wanted.pk, again.error, Instance.objects.count()) == (True, "", 2)
    with pytest.raises(StudyError, match="nothing to try again"):
        request_again(wanted=again, by=anna, now=NOON)


@pytest.mark.parametrize("at", ["rows", "images", "saving"])
def test_one_that_a_worker_is_at_is_cancelled_and_leaves_nothing(
    at: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_bytes(json_lines(*(with_image(number) for number in range(30))))
    wanted = asked(file, images_dir=draw(tmp_path / "pictures", *range(30)))
    step = {"rows": "_check_rows", "images": "_store_images", "saving": "save"}[at]
    real = getattr(importer, step)

    def cancelling(*arguments: Any) -> None:
        jobs.cancel(job=Job.objects.get(), now=NOON)
        real(*arguments)

    monkeypatch.setattr(importer, step, cancelling)
    assert done(wanted).error == "It was cancelled. Nothing was imported."
    assert Job.objects.get().state == JobState.CANCELLED
    assert_nothing_imported()


class Worker:
    """A worker that notes what it is told, and whether in a transaction."""

    step: Mapping[str, Any] = {}

    def __init__(self, wanted: Import) -> None:
        self.arguments = {"import": wanted.pk}
        self.depth = len(connection.savepoint_ids)
        self.told: list[tuple[str, int | None, int | None]] = []

    def now(self) -> datetime:
        return NOON

    def advance(self, *, step: object = None, done: int | None = None, total: int | None = None) -> None:
        assert len(connection.savepoint_ids) == self.depth
        self.told.append((Import.objects.get().stage, done, total))

    def show(self, stage: str, done: int, total: int) -> None:
        raise AssertionError("an import shows its progress by advance")

    def check(self) -> None:
        pass


def test_progress_is_told_while_it_checks_and_not_while_it_saves(file: Path, tmp_path: Path) -> None:
    """In the transaction that saves, a word would hold the row of the job, and so whoever wants to cancel it."""
    file.write_bytes(json_lines(*(with_image(number) for number in range(30)), *(row(n) for n in range(30, 1100))))
    wanted = asked(file, images_dir=draw(tmp_path / "pictures", *range(30)))
    worker = Worker(wanted)
    IMPORT.run(worker)
    assert worker.told[:3] == [("", 500, 0), ("rows", 1000, 0), ("rows", 1100, 0)]
    images = [(done, total) for _, done, total in worker.told[3:-1]]
    assert images == [(done, 1100) for done in range(25, 1101, 25)]
    assert worker.told[-1] == ("images", 0, 1100)
    assert Instance.objects.count() == 1100


def killed_after_images(wanted: Import, monkeypatch: pytest.MonkeyPatch) -> None:
    """Let a worker take its pictures in and vanish: what it would still do as it goes is left undone."""

    class Killed(BaseException):
        pass

    with monkeypatch.context() as patch:
        patch.setattr(importer, "save", Mock(side_effect=Killed))
        patch.setattr(importer, "remove_unused", lambda names: None)
        with pytest.raises(Killed):
            run_now(job_of(wanted), now=NOON, message="one")
    Job.objects.update(beat_at=NOON)


def test_the_next_worker_does_it_from_the_beginning_and_what_is_refused_then_leaves_no_picture(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_bytes(json_lines(with_image(1), with_image(2)))
    folder = draw(tmp_path / "pictures", 1, 2)
    wanted = asked(file, images_dir=folder)
    killed_after_images(wanted, monkeypatch)
    assert len(stored_files()) == 4
    assert not Image.objects.exists()
    assert job_of(done(wanted, message="one")).attempts == 2
    assert (Instance.objects.count(), Image.objects.count(), len(stored_files())) == (2, 2, 4)

    file.write_bytes(json_lines(with_image(3), with_image(4)))
    wanted = asked(file, images_dir=draw(folder, 3, 4))
    killed_after_images(wanted, monkeypatch)
    assert len(stored_files()) == 8
    make_instance(wanted.project, "row-4")
    assert done(wanted, message="one").error == "Nothing was imported: 1 problem was found."
    pictures = [name for name in stored_files() if not name.startswith("imports/")]
    assert (Instance.objects.count(), len(pictures)) == (3, 4)


def test_a_worker_that_was_taken_for_lost_leaves_the_pictures_to_the_one_that_has_the_import_now(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file.write_bytes(json_lines(with_image(1)))
    wanted = asked(file, images_dir=draw(tmp_path / "pictures", 1))

    def overtaken(*arguments: Any) -> None:
        Job.objects.update(attempts=2)
        save(*arguments)

    monkeypatch.setattr(importer, "save", overtaken)
    assert done(wanted).is_unfinished
    assert not Instance.objects.exists()
    assert len(stored_files()) == 2


def test_while_the_database_is_away_it_waits_and_a_full_disk_is_told(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    wanted = asked(file)
    monkeypatch.setattr(importer, "save", Mock(side_effect=OperationalError("server closed the connection")))
    assert done(wanted).is_unfinished
    assert Job.objects.get().state == JobState.WAITING
    monkeypatch.setattr(importer, "save", Mock(side_effect=OperationalError("database or disk is full")))
    assert done(wanted).error == "The disk is full. Nothing was imported; free some space and import again."


def test_problems_are_told_even_when_there_is_no_room_to_store_them_all(
    file: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(default_storage, "save", Mock(side_effect=OSError(28, "No space left on device")))
    file.write_bytes(json_lines(row(1), row(1)))
    found = done(asked(file))
    assert (found.problem_count, found.problems_file, len(found.first_problems)) == (1, "", 1)


def ended_at(stage: str, wanted: Import, folder: Path) -> None:
    """Let a process of a worker do an import until it is at `stage`, and kill it there."""
    command = [sys.executable, "-m", "tests.studies.actions.slow_import", str(wanted.job_id)]
    worker = subprocess.Popen(command, env=site_environment(folder))
    try:
        while worker.poll() is None and not Import.objects.filter(stage=stage).exists():
            time.sleep(0.02)
        assert worker.poll() is None
    finally:
        worker.kill()
        worker.wait()


@pytest.mark.django_db(transaction=True)
def test_one_whose_process_is_killed_twice_is_whole_in_the_end_and_never_half(file: Path, tmp_path: Path) -> None:
    """Once while it takes pictures in, and once in the transaction that saves."""
    file.write_bytes(json_lines(*(with_image(number) for number in range(40))))
    wanted = asked(file, images_dir=draw(tmp_path / "pictures", *range(40)))
    for stage, pictures in (("images", range(25, 40)), ("saving", range(40, 41))):
        ended_at(stage, wanted, tmp_path)
        assert (Instance.objects.count(), Image.objects.count()) == (0, 0)
        assert sum(name.startswith("images/") for name in stored_files()) in pictures
    found = done(wanted, message=MESSAGE)
    assert job_of(found).attempts == 3
    assert (Instance.objects.count(), Image.objects.count(), found.error) == (40, 40, "")
    assert [(told["added"], told["already_there"]) for told in found.summaries] == [(40, 0)]
    assert Event.objects.filter(what="instances imported").count() == 1
