"""A training run from its request to a model of the project, with messages that come twice, late or not at all."""

import json
from dataclasses import replace
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.core.files.base import ContentFile
from django.core.files.storage import default_storage
from django.core.management import call_command
from django.core.management.base import CommandError
from django.test import Client

from background.models import Job, JobState
from predictions.models import Model, TrainedWeights
from predictions.scorers import ModelIdentity
from studies.actions.events import What, record
from studies.models import Event, Project, Purpose, Study
from tests.factories import NOON, make_model, make_person, make_project, make_study
from tests.jobs import run_now
from tests.training.site import PLAN, WEIGHTS, accept_vases, progress, result, sent_orders, waiting_run, worker_here
from training import tasks
from training.actions import orders
from training.actions.examples import count_events, discard_old, somebody_withdrew
from training.actions.orders import LOST_AFTER, MOST_FRUITLESS, send_due, silent_runs
from training.actions.runs import (
    LOST,
    READ_AGAIN,
    ExamplesFile,
    cancel_run,
    note_prepared,
    note_unprepared,
    read_again,
    request_run,
    resume_run,
)
from training.errors import CannotTrain
from training.messages import Outcome, Report, to_plain
from training.models import DiscardedFolder, TrainingRun
from training.plan import CurvePoint

pytestmark = pytest.mark.django_db


@pytest.fixture
def trained_folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("LINEUP_TRAINED", str(tmp_path))
    return tmp_path


@pytest.fixture
def sent_jobs(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    jobs: list[Job] = []
    monkeypatch.setattr("training.tasks.send", jobs.append)
    return jobs


def train(project: Project, **options: Any) -> None:
    given = {"data": project.slug, "model": "open_clip:ViT-B-32/openai", "name": "small-clip", **options}
    call_command("train", "negclip", **given)


def test_a_command_trains_a_model_of_the_project_on_accepted_items(
    client: Client, trained_folder: Path, django_capture_on_commit_callbacks: Any
) -> None:
    project = accept_vases(make_person("researcher"))
    train(project, option=["epochs=2"])
    job = Job.objects.get(kind="results.training_data")
    with sent_orders() as sent, django_capture_on_commit_callbacks() as callbacks:
        assert run_now(job).state == JobState.DONE
        run = TrainingRun.objects.get()
        assert (run.state, run.options["epochs"], run.options["batch"]) == ("waiting", 2, 256)
        send_due(run_id=run.pk, now=NOON)
    assert callbacks
    (order,) = sent
    with default_storage.open(run.files["training"]["file"]) as file:
        (example,) = map(json.loads, file)
    assert (example["instance"], example["captions"]) == ("vase-0", ["A vase, vase-0.", "A map, vase-0."])
    with worker_here(client) as worker:
        worker.train(order=order)
    run.refresh_from_db()
    assert (run.state, run.step, run.steps, run.best_score, run.peak_memory) == ("done", 4, 4, 0.75, 4000)
    assert list(run.curve.values_list("step", "losses__loss", "score")) == [
        (1, 1.0, None),
        (2, 0.5, 0.5),
        (3, 1 / 3, None),
        (4, 0.25, None),
    ]
    model, kept = Model.objects.get(), TrainedWeights.objects.get()
    assert model.identity == {"name": "OpenCLIP ViT-B-32-quickgelu", "version": "small-clip.pt", "weights": WEIGHTS}
    assert kept.spec == f"open_clip:ViT-B-32-quickgelu/trained:{run.folder}/small-clip.pt"
    assert (kept.weights, kept.details["recipe"], kept.details["seed"]) == (WEIGHTS, "negclip", 0)
    assert (trained_folder / run.folder / "small-clip.pt").read_bytes() == b"weights"
    told = Event.objects.filter(what__in=[What.TRAINING_REQUESTED, What.MODEL_TRAINED]).order_by("pk")
    assert [(event.what, event.by_name) for event in told] == [
        ("training requested", "command line"),
        ("model trained", "command line"),
    ]


def test_a_name_is_trained_once(client: Client) -> None:
    project = make_project()
    request_run(project=project, wanted=PLAN, by="test", now=NOON)
    with pytest.raises(CannotTrain, match="already has a training run called small-clip"):
        request_run(project=project, wanted=PLAN, by="test", now=NOON)
    assert TrainingRun.objects.count() == Job.objects.count() == 1


def test_data_that_nothing_can_be_trained_on_is_refused_with_a_sentence() -> None:
    project = make_project()
    with pytest.raises(CommandError, match="vases has no accepted items"):
        train(project)
    with pytest.raises(CommandError, match=r"vases has no release called 'v1'. Its releases: none\."):
        train(project, data="vases/v1")
    assert not TrainingRun.objects.exists()


def report(step: int, *, seconds: float, **changes: Any) -> dict[str, Any]:
    return to_plain(Report(progress(step, **changes), seconds))


def test_reports_come_twice_and_in_any_order() -> None:
    run = waiting_run(make_project())
    with sent_orders():
        send_due(run_id=run.pk, now=NOON)
    scored = report(3, seconds=5, score=0.5)
    for told in (
        report(2, seconds=2),
        report(1, seconds=1),
        report(2, seconds=2),
        scored,
        report(4, seconds=5, score=0.5),
    ):
        orders.note_progress(run_id=run.pk, attempt=1, report=told, now=NOON)
    run.refresh_from_db()
    assert (run.state, run.step, run.seconds, run.losses["loss"]) == ("training", 4, 5, 1 / 4)
    # A score is repeated by later reports.
    assert list(run.curve.values_list("step", "score")) == [(1, None), (2, None), (3, 0.5), (4, None)]


def test_the_time_of_a_lost_worker_counts_and_another_is_asked() -> None:
    run = waiting_run(make_project())
    later = NOON + LOST_AFTER + timedelta(seconds=1)
    with sent_orders() as sent:
        send_due(run_id=run.pk, now=NOON)
        orders.note_progress(run_id=run.pk, attempt=1, report=report(1, seconds=60), now=NOON)
        send_due(run_id=run.pk, now=NOON + LOST_AFTER)
        assert not silent_runs(now=NOON + LOST_AFTER).exists()
        assert [each.pk for each in silent_runs(now=later)] == [run.pk]
        send_due(run_id=run.pk, now=later)
    assert [order["attempt"] for order in sent] == [1, 2]
    assert orders.run_of_key(sent[0]["key"]) is None
    assert orders.run_of_key(sent[1]["key"]) == run
    assert orders.run_of_key(sent[1]["key"] + "x") is None
    orders.note_progress(run_id=run.pk, attempt=2, report=report(2, seconds=30), now=later)
    # The first worker was not lost after all; the sentence of its failure comes late.
    orders.note_progress(run_id=run.pk, attempt=1, report=report(3, seconds=90), now=later)
    orders.note_trained(run_id=run.pk, attempt=1, answer={"error": "Full."}, now=later)
    run.refresh_from_db()
    assert (run.state, run.step, run.seconds) == ("training", 2, 90)
    assert list(run.curve.values_list("step", flat=True)) == [1, 2, 3]


def test_the_time_left_is_that_of_the_newest_report_also_of_steps_that_are_repeated() -> None:
    run = waiting_run(make_project())
    with sent_orders():
        send_due(run_id=run.pk, now=NOON)
        orders.note_progress(run_id=run.pk, attempt=1, report=report(3, seconds=60), now=NOON)
        send_due(run_id=run.pk, now=NOON + 2 * LOST_AFTER)
    # `progress` says one second for each of the four steps that is left.
    for step, seconds, left in ((1, 20, 3.0), (2, 40, 2.0), (1, 20, 2.0)):
        orders.note_progress(run_id=run.pk, attempt=2, report=report(step, seconds=seconds), now=NOON)
        run.refresh_from_db()
        assert (run.step, run.seconds_left) == (3, left)


def test_a_run_whose_workers_are_lost_again_and_again_fails() -> None:
    run, now = waiting_run(make_project()), NOON
    with sent_orders() as sent:
        for attempt in range(1, MOST_FRUITLESS + 2):
            send_due(run_id=run.pk, now=now)
            orders.note_beat(run_id=run.pk, attempt=attempt, now=now)
            now += LOST_AFTER * 2
    run.refresh_from_db()
    assert (len(sent), run.state) == (MOST_FRUITLESS, "failed")
    assert "lost each time" in run.error


def outcome(run: TrainingRun, **changes: Any) -> dict[str, Any]:
    spec = f"open_clip:ViT-B-32/trained:{run.folder}/b.pt"
    return to_plain(Outcome(result("b.pt", spec=spec, **changes), ModelIdentity("OpenCLIP", "b.pt", WEIGHTS), 8.0))


def test_a_model_that_is_told_twice_is_one_model() -> None:
    run = waiting_run(make_project())
    for _ in range(2):
        orders.note_trained(run_id=run.pk, attempt=0, answer=outcome(run), now=NOON)
    # A report that comes after the end, with a score of another step.
    orders.note_progress(run_id=run.pk, attempt=0, report=report(9, seconds=9, score=0.1), now=NOON)
    assert not run.curve.filter(step=9).exists()
    assert Model.objects.count() == TrainedWeights.objects.count() == 1
    assert Event.objects.filter(what=What.MODEL_TRAINED).count() == 1


def test_an_answer_of_another_version_fails_with_a_sentence() -> None:
    run = waiting_run(make_project())
    answer = outcome(run)
    del answer["identity"]
    # From a worker that was thought to be lost.
    orders.note_trained(run_id=run.pk, attempt=1, answer=answer, now=NOON)
    run.refresh_from_db()
    assert run.state == "waiting"
    orders.note_trained(run_id=run.pk, attempt=0, answer=answer, now=NOON)
    run.refresh_from_db()
    assert (run.state, run.error) == (
        "failed",
        "The answer of a worker that trains cannot be used. Check that the worker runs the same version of Lineup as "
        "the site, and resume.",
    )
    assert not Model.objects.exists()


def test_a_cancelled_run_stops_its_worker_and_goes_on_later(
    client: Client, trained_folder: Path, django_capture_on_commit_callbacks: Any
) -> None:
    run = waiting_run(make_project())
    with sent_orders() as sent:
        send_due(run_id=run.pk, now=NOON)
        address, key = "/worker/training/state", {"authorization": f"Bearer {sent[0]['key']}"}
        assert client.get(address, headers=key).status_code == 200
        cancel_run(run=run, by="test", now=NOON)
        assert client.get(address, headers=key).status_code == 410
        assert client.get("/worker/training/examples/training", headers=key).status_code == 410
        # Its model comes after all.
        orders.note_trained(run_id=run.pk, attempt=1, answer=outcome(run), now=NOON)
        assert not Model.objects.exists()
        with pytest.raises(CannotTrain, match="nothing to cancel"):
            cancel_run(run=run, by="test", now=NOON)
        assert resume_run(run=run, by="test", now=NOON) is None
        send_due(run_id=run.pk, now=NOON)
    assert [order["attempt"] for order in sent] == [1, 2]
    assert sent[0]["folder"] == sent[1]["folder"]
    told = Event.objects.filter(what__startswith="training").order_by("pk")
    assert [event.what for event in told] == ["training requested", "training cancelled", "training resumed"]


def test_examples_are_deleted_once_nobody_needs_them_and_prepared_again_for_who_resumes() -> None:
    project = make_project()
    done, stopped, lately, waiting = (waiting_run(project, name=f"run-{number}") for number in range(4))
    for run in (done, stopped, lately, waiting):
        run.files = {"training": {"file": default_storage.save("training/e.jsonl", ContentFile("{}")), "sha256": "0"}}
        run.save()
    old = {"state": "failed", "error": "It was.", "finished_at": NOON - timedelta(days=8)}
    for run, changes in (
        (done, {"state": "done", "finished_at": NOON}),
        (stopped, old),
        (lately, old | {"finished_at": NOON}),
    ):
        TrainingRun.objects.filter(pk=run.pk).update(**changes)
    discard_old(now=NOON)
    discard_old(now=NOON)
    kept = [run for run in TrainingRun.objects.order_by("pk") if run.has_examples]
    assert kept == [lately, waiting]
    assert [default_storage.exists(run.files["training"]["file"]) for run in (done, stopped, *kept)] == [
        False,
        False,
        True,
        True,
    ]
    stopped.refresh_from_db()
    assert resume_run(run=stopped, by="test", now=NOON) is not None
    assert stopped.state == "preparing"


def test_who_resumes_a_run_whose_files_are_lost_reads_the_examples_again(client: Client) -> None:
    run = waiting_run(make_project())
    with sent_orders() as sent:
        send_due(run_id=run.pk, now=NOON)
    key = {"authorization": f"Bearer {sent[0]['key']}"}
    there = client.get("/worker/training/examples/training", headers=key)
    assert there.status_code == 200
    assert there.getvalue() == b"{}\n" * 4
    default_storage.delete(run.files["training"]["file"])
    assert client.get("/worker/training/examples/training", headers=key).status_code == 404
    cancel_run(run=run, by="test", now=NOON)
    run.refresh_from_db()
    assert resume_run(run=run, by="test", now=NOON) is not None
    assert (run.state, run.sentences) == ("preparing", [LOST])


def test_files_that_no_run_names_are_deleted_unless_one_is_prepared() -> None:
    project = make_project()
    waiting = waiting_run(project)
    preparing, _ = request_run(project=project, wanted=replace(PLAN, name="preparing"), by="test", now=NOON)
    folders = [str(waiting.pk), str(preparing.pk), "99999"]
    orphans = [default_storage.save(f"training/{folder}/orphan.jsonl", ContentFile(b"{}\n")) for folder in folders]
    tasks.discard_examples()
    assert [default_storage.exists(name) for name in orphans] == [False, True, False]
    assert default_storage.exists(waiting.files["training"]["file"])


def test_what_a_worker_does_between_steps_is_shown_and_no_score_is_lost_by_it() -> None:
    run = waiting_run(make_project())
    with sent_orders():
        send_due(run_id=run.pk, now=NOON)
    phase = "validating, 64 of 500 examples"
    orders.note_progress(run_id=run.pk, attempt=1, report=report(2, seconds=2, phase=phase), now=NOON)
    run.refresh_from_db()
    assert (run.phase, run.step) == (phase, 2)
    orders.note_progress(run_id=run.pk, attempt=1, report=report(2, seconds=9, score=0.5), now=NOON)
    run.refresh_from_db()
    assert (run.phase, list(run.curve.values_list("step", "score"))) == ("", [(2, 0.5)])
    # Its score is told again with the next step, of which it is not.
    orders.note_progress(run_id=run.pk, attempt=1, report=report(3, seconds=10, score=0.5), now=NOON)
    run.refresh_from_db()
    assert (run.score, list(run.curve.values_list("step", "score"))) == (0.5, [(2, 0.5), (3, None)])
    orders.note_trained(run_id=run.pk, attempt=1, answer=outcome(run, curve=[CurvePoint(4, score=0.625)]), now=NOON)
    run.refresh_from_db()
    assert run.score == 0.625


def withdraw_somebody(project: Project) -> None:
    record(project=project, what=What.ANNOTATOR_WITHDRAWN, by="test", now=NOON + timedelta(minutes=1))


def test_nothing_is_trained_on_texts_of_people_who_withdraw(client: Client, sent_jobs: list[Job]) -> None:
    project = make_project()
    run = waiting_run(project)
    name = default_storage.save("training/e.jsonl", ContentFile("{}"))
    TrainingRun.objects.update(files={"training": {"file": name, "sha256": "0" * 64, "examples": 4}}, step=3)
    folder, later = run.folder, NOON + timedelta(minutes=2)
    with sent_orders() as sent:
        send_due(run_id=run.pk, now=NOON)
        withdraw_somebody(project)
        key = {"authorization": f"Bearer {sent[0]['key']}"}
        for address in ("state", "examples/training"):
            assert client.get(f"/worker/training/{address}", headers=key).status_code == 410
        orders.note_trained(run_id=run.pk, attempt=1, answer=outcome(run), now=later)
        assert not Model.objects.exists()
        for _ in range(2):
            tasks.send_again()
    run = TrainingRun.objects.get()
    assert (run.state, run.has_examples, len(sent), len(sent_jobs)) == ("preparing", False, 1, 1)
    assert not default_storage.exists(name)
    # They are other examples now, so the worker's checkpoint is of no use.
    again = {"training": ExamplesFile("training/f.jsonl", "1" * 64, 3)}
    note_prepared(run=run, files=again, leaks={}, events=count_events(project), now=NOON)
    run = TrainingRun.objects.get()
    assert (run.state, run.step, run.sentences) == ("waiting", 0, [READ_AGAIN])
    assert run.folder != folder
    assert DiscardedFolder.objects.get().folder == folder
    late = outcome(run)
    late["result"]["spec"] = f"open_clip:ViT-B-32/trained:{folder}/b.pt"
    orders.note_trained(run_id=run.pk, attempt=1, answer=late, now=later)
    assert not Model.objects.exists()


def test_who_resumes_after_somebody_withdrew_reads_the_examples_again() -> None:
    project = make_project()
    stopped, kept = waiting_run(project, name="stopped"), waiting_run(project, name="kept")
    for run in (stopped, kept):
        cancel_run(run=run, by="test", now=NOON)
    withdraw_somebody(project)
    stopped.refresh_from_db()
    assert resume_run(run=stopped, by="test", now=NOON) is not None
    assert stopped.state == "preparing"
    discard_old(now=NOON)
    kept.refresh_from_db()
    assert not kept.has_examples


@pytest.mark.parametrize("what", [What.STUDY_LAUNCHED, What.INSTANCES_IMPORTED, What.RELEASE_FROZEN])
def test_examples_are_checked_again_if_more_is_protected_before_a_worker_begins(what: What) -> None:
    """A baseline may have begun, or a test set may be released, while a run waited or had stopped."""
    project, birds = make_project(), make_project("birds")
    waiting, begun, stopped = (waiting_run(project, name=name) for name in ("waiting", "begun", "stopped"))
    TrainingRun.objects.filter(pk=begun.pk).update(step=1)
    cancel_run(run=stopped, by="test", now=NOON)
    study, baseline = make_study(project), make_study(project, "baseline")
    Study.objects.filter(pk=baseline.pk).update(purpose=Purpose.BASELINE)
    record(project=birds, what=What.INSTANCES_IMPORTED, by="test", now=NOON)
    record(project=project, study=study, what=What.STUDY_LAUNCHED, by="test", now=NOON)
    assert read_again(now=NOON) == []
    # Releases of all projects are protected. The work may have begun before the examples were read.
    about: dict[str, Any] = {"study": baseline} if what == What.STUDY_LAUNCHED else {}
    of = birds if what == What.RELEASE_FROZEN else project
    record(project=of, what=what, by="test", now=NOON - timedelta(hours=1), **about)
    with sent_orders() as sent:
        send_due(run_id=waiting.pk, now=NOON)
    assert sent == []
    assert [job.arguments["run"] for job in read_again(now=NOON)] == [waiting.pk]
    assert resume_run(run=TrainingRun.objects.get(pk=stopped.pk), by="test", now=NOON) is not None
    states = dict(TrainingRun.objects.values_list("name", "state"))
    assert states == {"waiting": "preparing", "begun": "waiting", "stopped": "preparing"}


def test_a_withdrawal_that_had_begun_before_the_examples_were_read_counts() -> None:
    project = make_project()
    run = waiting_run(project)
    assert not somebody_withdrew(run)
    record(project=project, what=What.ANNOTATOR_WITHDRAWN, by="test", now=NOON - timedelta(minutes=1))
    assert somebody_withdrew(run)
    # Of runs whose examples an earlier version read, only times are known.
    TrainingRun.objects.update(withdrawals=None)
    run.refresh_from_db()
    assert not somebody_withdrew(run)
    record(project=project, what=What.ANNOTATOR_WITHDRAWN, by="test", now=NOON + timedelta(minutes=1))
    assert somebody_withdrew(run)


def test_who_resumes_before_a_cancelled_job_has_stopped_gets_another_one() -> None:
    run, first = request_run(project=make_project(), wanted=PLAN, by="test", now=NOON)
    Job.objects.filter(pk=first.pk).update(state="running", started_at=NOON, beat_at=NOON, attempts=1)
    cancel_run(run=TrainingRun.objects.get(), by="test", now=NOON)
    second = resume_run(run=TrainingRun.objects.get(), by="test", now=NOON)
    assert second is not None
    assert second.pk != first.pk
    # The first one notices that it was cancelled.
    note_unprepared(run_id=run.pk, job=first, error="", now=NOON)
    assert TrainingRun.objects.get().state == "preparing"
    note_unprepared(run_id=run.pk, job=second, error="", now=NOON)
    assert TrainingRun.objects.get().state == "cancelled"


def test_nobody_without_a_key_reads_examples(client: Client) -> None:
    waiting_run(make_project())
    assert client.get("/worker/training/examples/training").status_code == 410
    assert (
        client.get("/worker/training/examples/training", headers={"authorization": "Bearer x:y:z"}).status_code == 410
    )


def test_a_model_trained_on_a_project_is_marked_there_also_after_it_was_deleted() -> None:
    project, other = make_project(), make_project("birds")
    run = waiting_run(project)
    before = make_model(project, "From a file", weights=WEIGHTS)
    orders.note_trained(run_id=run.pk, attempt=0, answer=outcome(run), now=NOON)
    marked = "b.pt (555555555555), trained on this project"
    assert str(Model.objects.get(name="OpenCLIP")) == f"OpenCLIP {marked}"
    before.refresh_from_db()
    assert str(before) == "From a file (555555555555), trained on this project"
    Model.objects.all().delete()
    identity = {"name": "OpenCLIP", "version": "b.pt", "weights": WEIGHTS}
    again = Model.objects.get_or_create_computed(project, now=NOON, **identity)
    assert str(again) == f"OpenCLIP {marked}"
    elsewhere = Model.objects.get_or_create_computed(other, now=NOON, **identity)
    assert str(elsewhere) == "OpenCLIP b.pt (555555555555)"


def test_a_model_of_a_model_that_was_trained_on_a_project_is_marked_there() -> None:
    """Those of another project, too: it has learned from both."""
    birds, cats, dogs = (make_project(name) for name in ("birds", "cats", "dogs"))
    first = waiting_run(birds)
    orders.note_trained(run_id=first.pk, attempt=0, answer=outcome(first), now=NOON)
    first.refresh_from_db()
    second = waiting_run(cats, base=first.result["spec"])
    spec, weights = f"open_clip:ViT-B-32/trained:{second.folder}/c.pt", "6" * 64
    answer = to_plain(Outcome(result("c.pt", spec=spec), ModelIdentity("OpenCLIP", "c.pt", weights), 8.0))
    orders.note_trained(run_id=second.pk, attempt=0, answer=answer, now=NOON)
    named = {"name": "OpenCLIP", "version": "c.pt", "weights": weights}
    marked = {
        project.slug: Model.objects.get_or_create_named(project, now=NOON, **named).is_trained_here
        for project in (birds, cats, dogs)
    }
    assert marked == {"birds": True, "cats": True, "dogs": False}
