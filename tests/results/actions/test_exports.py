import csv
import errno
import json
import os
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command

from annotation.models import Decision, Response, Session
from background import jobs
from background.models import Job, JobState
from results.actions import exports
from results.actions.exports import cancel_export, request_export, write_export
from results.actions.row_progress import WrittenFile
from results.errors import CannotExport
from results.exporting import FORMATS
from results.models import Export, Pseudonym
from results.tasks import make_export as make_export_task
from studies.models import Question, Study
from tests.factories import (
    NOON,
    answer,
    draw_image,
    draw_instance,
    make_launched,
    make_person,
    make_project,
    make_study,
    questions,
    sit_down,
)
from tests.jobs import run_now

pytestmark = pytest.mark.django_db


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    return tmp_path / "out"


def no_report(done: int, total: int) -> None:
    pass


@pytest.fixture
def study() -> Study:
    """Four questions, answered by one person: candidate-2, none, candidate-0 changed to candidate-3, unanswered."""
    project = make_project("birds")
    for number in range(1, 5):
        draw_instance(project, number)
    study = make_launched(make_study(project))
    session = sit_down(study, "pid-of-a-person")
    first, second, third, _ = questions(study)
    answer(session, first, "candidate-2", now=NOON + timedelta(seconds=1), send_ms=1500, window_width=1366)
    answer(session, second, "none", now=NOON + timedelta(seconds=2))
    answer(session, third, "candidate-0", now=NOON + timedelta(seconds=3))
    answer(session, third, "candidate-3", now=NOON + timedelta(seconds=4))
    return study


def exported(study: Study, format: str, folder: Path) -> Path:
    return write_export(study=study, format=format, folder=folder, report=no_report).path


def table(study: Study, format: str, folder: Path) -> list[dict[str, str]]:
    with exported(study, format, folder).open(encoding="utf-8", newline="") as lines:
        return list(csv.DictReader(lines))


def accepted(study: Study, folder: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in exported(study, "jsonl", folder).read_text(encoding="utf-8").splitlines()]


def test_jsonl_holds_what_was_accepted_with_the_chosen_image(study: Study, folder: Path) -> None:
    rows = accepted(study, folder)
    assert [path.name for path in folder.iterdir()] == ["birds-step-3-instances.jsonl"]
    assert [(row["key"], row["winner"], row["negative_image"]) for row in rows] == [
        ("row-1", "candidate-2", "1_2.png"),
        ("row-3", "candidate-3", "3_3.png"),
    ]
    assert rows[0]["image"] == "1.png"
    # Row 1 draws pictures 5 (the original) to 9; its third candidate is picture 8.
    assert rows[0]["negative_image_sha256"] == draw_image(8).sha256
    assert rows[0]["caption"] == "A bird on 1 roofs."
    assert rows[0]["original_captions"]["caption"] == "A bird on 1 roofs"
    assert (rows[0]["decision"], rows[0]["rule"], rows[0]["answers"]) == ("accepted", "chosen-v1", 1)
    assert rows[1]["votes"] == {"candidate-3": 1}
    assert len(rows[0]["images"]) == 6
    chosen = rows[0]["images"][0]
    assert (chosen["role"], chosen["licence"], chosen["generator"]) == ("negative_image", "CC0", "Pillow")


def test_csv_has_the_same_rows(study: Study, folder: Path) -> None:
    rows = table(study, "csv", folder)
    assert [(row["key"], row["negative_image"]) for row in rows] == [("row-1", "1_2.png"), ("row-3", "3_3.png")]


def test_responses_hold_every_version_flagged(study: Study, folder: Path) -> None:
    rows = table(study, "responses", folder)
    assert len(rows) == 4
    assert [(row["task"], row["label"], row["version"], row["is_current"], row["counted"]) for row in rows] == [
        ("row-1", "candidate-2", "1", "true", "true"),
        ("row-2", "none", "1", "true", "true"),
        ("row-3", "candidate-0", "1", "false", "false"),
        ("row-3", "candidate-3", "2", "true", "true"),
    ]
    worker = Pseudonym.objects.get().name
    assert {row["worker"] for row in rows} == {worker}
    assert {row["session"] for row in rows} == {f"{worker}-1"}
    assert [rows[0][name] for name in ("survey", "seat", "send_ms", "window_width")] == ["1", "1", "1500", "1366"]
    assert sorted(json.loads(rows[0]["shown_order"])[:4]) == [f"candidate-{number}" for number in range(4)]


def test_an_answer_that_came_too_late_is_kept_and_not_counted(study: Study, folder: Path) -> None:
    late = Response.objects.get(choice="candidate-2")
    Response.objects.filter(pk=late.pk).update(slot=None)
    rows = table(study, "responses", folder)
    assert len(rows) == 4
    assert (rows[0]["is_current"], rows[0]["counted"], rows[0]["survey"], rows[0]["seat"]) == ("true", "false", "", "")


def test_several_questions_about_an_instance_have_names_of_their_own(study: Study, folder: Path) -> None:
    Question.objects.filter(study=study).update(variant="image", right="none")
    rows = table(study, "responses", folder)
    assert [row["task"] for row in rows] == [f"row-{number}/best_of_n/image" for number in (1, 2, 3, 3)]
    assert {row["right"] for row in rows} == {"none"}
    assert [row["task"] for row in accepted(study, folder)] == ["row-1/best_of_n/image", "row-3/best_of_n/image"]


def test_what_earlier_studies_added_leaves_with_the_instance(study: Study, folder: Path) -> None:
    won = {"negative_image": {"image": draw_image(9).sha256, "width": 8, "height": 6}}
    Question.objects.filter(study=study).update(kind="ambiguity", won=won)
    Decision.objects.filter(study=study, question__instance__key="row-1").update(settled_choice="original")
    rows = accepted(study, folder)
    # Picture 9 is the last candidate of row 1 and nothing of row 3.
    assert [(row["key"], row["negative_image"], row["settled"]) for row in rows] == [
        ("row-1", "1_3.png", True),
        ("row-3", "", False),
    ]
    assert {row["negative_image_sha256"] for row in rows} == {draw_image(9).sha256}


@pytest.mark.parametrize("format", ["jsonl", "csv", "responses"])
def test_a_second_export_has_the_same_bytes_and_none_has_an_id_of_a_provider(
    study: Study, folder: Path, format: str
) -> None:
    first = exported(study, format, folder / "first").read_bytes()
    assert first == exported(study, format, folder / "second").read_bytes()
    assert first.count(b"\n") > 1
    session = Session.objects.get()
    for secret in (session.annotator.provider_id, session.provider_session_id, "prolific", session.token):
        assert secret.encode() not in first


def test_rows_are_streamed_with_a_constant_number_of_reads_per_chunk(
    study: Study, folder: Path, django_assert_num_queries: Any
) -> None:
    exported(study, "responses", folder)
    # Who is still nameless, the count, the names, the sittings, their consents (2), who found descriptions, the rows.
    with django_assert_num_queries(8):
        exported(study, "responses", folder)


def test_a_full_disk_leaves_nothing_and_says_so(study: Study, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(CannotExport, match=r"The disk is full, so birds-step-3-instances\.jsonl was not written\."):
        exported(study, "jsonl", folder)
    assert list(folder.iterdir()) == []


def test_a_failing_export_leaves_the_older_file_whole(
    study: Study, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    before = exported(study, "jsonl", folder).read_bytes()

    def broken(*args: object) -> None:
        raise ValueError("a writer that breaks off")

    monkeypatch.setattr("results.exporting.formats.jsonl.Jsonl.write", broken)
    with pytest.raises(ValueError, match="breaks off"):
        exported(study, "jsonl", folder)
    assert [path.name for path in folder.iterdir()] == ["birds-step-3-instances.jsonl"]
    assert (folder / "birds-step-3-instances.jsonl").read_bytes() == before


def test_the_command_writes_a_file_per_launched_study(
    study: Study, folder: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    make_study(study.project, "still-a-draft")
    call_command("export", "birds", format="responses", out=folder)
    assert sorted(path.name for path in folder.iterdir()) == ["birds-step-3-responses.csv", "croissant.json"]
    assert "birds-step-3-responses.csv: 4 rows" in capsys.readouterr().out


@pytest.mark.parametrize(
    ("project", "chosen", "sentence"),
    [
        ("bords", "", "There is no project called bords. The projects are: birds."),
        ("birds", "step-9", "The project birds has no study called step-9. Its studies are: birds-step-3, draft."),
        ("birds", "draft", "There is nothing to export: draft has not been launched yet."),
    ],
)
def test_the_command_says_what_is_wrong(study: Study, folder: Path, project: str, chosen: str, sentence: str) -> None:
    make_study(study.project, "draft")
    with pytest.raises(CommandError) as caught:
        call_command("export", project, format="jsonl", out=folder, study=chosen)
    assert str(caught.value) == sentence


def test_the_command_says_that_it_may_not_write(study: Study, folder: Path) -> None:
    folder.touch()
    with pytest.raises(CommandError, match=r"cannot be written: Not a directory\. Choose a folder"):
        call_command("export", "birds", format="jsonl", out=folder / "folder")


def asked(study: Study, format: str = "jsonl") -> Export:
    return request_export(study=study, format=format, by=make_person("researcher"), now=NOON)


def job(export: Export) -> Job:
    assert export.job
    return export.job


def test_a_requested_export_is_made_and_stored(study: Study) -> None:
    export = asked(study)
    done = run_now(job(export), now=NOON + timedelta(seconds=9))
    assert (done.state, done.done, done.total, done.unit) == (JobState.DONE, 2, 2, "rows")
    export.refresh_from_db()
    assert (export.is_ready, export.rows_done, export.finished_at) == (True, 2, NOON + timedelta(seconds=9))
    with default_storage.open(export.file) as stored:
        assert len(stored.read().splitlines()) == 2


def test_the_job_run_twice_does_what_it_does_once(study: Study) -> None:
    export = asked(study)
    run_now(job(export))
    once = Export.objects.filter(pk=export.pk).values().get()
    for state in (JobState.DONE, JobState.WAITING):
        # Over; and as a worker leaves it that is lost between the file and the last word about it.
        Job.objects.update(state=state, finished_at=NOON if state == JobState.DONE else None)
        run_now(job(export))
        assert Export.objects.filter(pk=export.pk).values().get() == once
        assert len(default_storage.listdir(f"exports/{export.pk}")[1]) == 1
        assert Job.objects.get().state == JobState.DONE


def test_an_export_whose_worker_was_lost_is_made_by_the_next_one(study: Study) -> None:
    export = asked(study)
    Job.objects.update(state=JobState.RUNNING, attempts=1, started_at=NOON, beat_at=NOON, done=1)
    assert run_now(job(export), now=NOON + timedelta(minutes=11)).state == JobState.RUNNING
    assert run_now(job(export), now=NOON + timedelta(minutes=11, seconds=1)).state == JobState.DONE
    export.refresh_from_db()
    assert (export.is_ready, export.rows_done) == (True, 2)


def test_of_two_runs_at_the_same_time_one_file_is_kept(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """The first was silent for so long that it was taken for lost, and then writes on."""
    export = asked(study)
    written = exports.write_export

    def and_another_worker_is_faster(**about: Any) -> WrittenFile:
        monkeypatch.setattr(exports, "write_export", written)
        assert run_now(job(export), now=NOON + timedelta(hours=1)).state == JobState.DONE
        return written(**about | {"report": no_report})

    monkeypatch.setattr(exports, "write_export", and_another_worker_is_faster)
    run_now(job(export), now=NOON)
    export.refresh_from_db()
    assert export.is_ready
    assert default_storage.listdir(f"exports/{export.pk}")[1] == [Path(export.file).name]


def test_an_export_that_fails_says_why(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    def full(**about: Any) -> WrittenFile:
        raise CannotExport("The disk is full.")

    monkeypatch.setattr(exports, "write_export", full)
    export = asked(study)
    assert run_now(job(export), now=NOON).error == "The disk is full."
    export.refresh_from_db()
    assert (export.is_ready, export.error, export.file, export.finished_at) == (False, "The disk is full.", "", NOON)


def test_an_error_nobody_foresaw_is_told_in_words_with_a_reference_to_its_trace(
    study: Study, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(**about: Any) -> WrittenFile:
        raise ZeroDivisionError

    monkeypatch.setattr(exports, "write_export", broken)
    export = asked(study)
    assert run_now(job(export)).state == JobState.FAILED
    export.refresh_from_db()
    told, _, reference = export.error.rstrip(".").partition(": reference ")
    assert told.startswith("The server could not write this export. Try again.")
    (logged,) = [record for record in caplog.records if record.levelname == "ERROR"]
    assert reference in logged.getMessage()
    assert logged.exc_info


@pytest.mark.parametrize("at", ["the first row", "the last word"])
def test_an_export_that_is_cancelled_while_it_is_made_leaves_no_file(
    study: Study, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, at: str
) -> None:
    export, name = asked(study), "write_export" if at == "the first row" else "_store"
    before = getattr(exports, name)

    def and_somebody_cancels(*args: Any, **about: Any) -> Any:
        cancel_export(export=Export.objects.get(pk=export.pk), by=make_person("another"), now=NOON)
        return before(*args, **about)

    monkeypatch.setattr(exports, name, and_somebody_cancels)
    assert run_now(job(export)).state == JobState.CANCELLED
    export.refresh_from_db()
    assert (export.error, export.file, export.is_ready) == ("It was cancelled.", "", False)
    assert (
        not default_storage.exists(f"exports/{export.pk}") or default_storage.listdir(f"exports/{export.pk}")[1] == []
    )


def test_what_the_version_before_reads_is_still_written(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    """So that the way back is open: it knows no jobs."""
    ready = asked(study)
    given_up = request_export(study=study, format="csv", by=make_person("colleague"), now=NOON)
    run_now(job(ready))
    cancel_export(export=given_up, by=make_person("another"), now=NOON)
    states = [Export.objects.values_list("state", "rows_total", "error").get(pk=each.pk) for each in (ready, given_up)]
    assert states == [("ready", 2, ""), ("failed", 0, "It was cancelled.")]


@pytest.mark.parametrize(
    ("format", "launched", "sentence"),
    [
        ("xml", True, f"There is no export format called xml. Choose one of {', '.join(FORMATS)}."),
        ("jsonl", False, "There is nothing to export yet: the study has not been launched."),
    ],
)
def test_an_impossible_export_is_refused(study: Study, format: str, launched: bool, sentence: str) -> None:
    wanted = study if launched else make_study(study.project, "draft")
    with pytest.raises(CannotExport) as caught:
        asked(wanted, format)
    assert str(caught.value) == sentence
    assert not Export.objects.exists()


@pytest.mark.parametrize(
    ("state", "minutes", "adopted"),
    [
        ("waiting", 2, False),
        ("waiting", 3, True),
        ("running", 15, False),
        ("running", 16, True),
        ("ready", 1000, False),
        ("failed", 1000, False),
    ],
)
def test_what_the_version_before_was_asked_for_and_lost_gets_a_job(
    study: Study, state: str, minutes: int, adopted: bool
) -> None:
    """It keeps what it knows in columns of the export, and sends its own message, which is still understood."""
    over = {"finished_at": NOON} if state in {"ready", "failed"} else {}
    error = "The disk is full." if state == "failed" else ""
    export = Export.objects.create(
        project=study.project, study=study, format="jsonl", state=state, requested_at=NOON, error=error, **over
    )
    now = NOON + timedelta(minutes=minutes)
    assert exports.adopt_exports(now=now) == adopted
    assert [each.arguments for each in jobs.stalled_jobs(now=now)] == ([{"export": export.pk}] if adopted else [])
    assert exports.adopt_exports(now=now) == 0
    make_export_task.apply(args=(export.pk,), throw=True)
    export.refresh_from_db()
    assert (export.is_ready, export.error) == (state != "failed", error)
