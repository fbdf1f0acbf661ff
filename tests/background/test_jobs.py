"""What happens to a job, from the moment somebody asks for it to its end."""

from dataclasses import replace
from datetime import datetime, timedelta
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.conf import settings
from django.db import IntegrityError, OperationalError, connection, transaction
from django.utils import timezone
from pytest_django import DjangoCaptureOnCommitCallbacks

from background import jobs
from background.errors import Cancelled, Superseded, UnknownWork
from background.job_runner import Attempt
from background.models import UNFINISHED, Job, JobState
from background.tasks import resume_jobs, run_job, send
from background.work import RunningJob, Work, get_work
from tests.background import NAME, work
from tests.background.work import counted, ended
from tests.factories import NOON, make_person
from tests.jobs import run_now

pytestmark = pytest.mark.django_db
SECOND = timedelta(seconds=1)


def asked(key: str = "", **arguments: int) -> Job:
    job, _ = jobs.request_job(kind=NAME, arguments=arguments, by=None, now=NOON, key=key)
    return job


def begun(message: str = "", *, now: datetime = NOON, job: Job | None = None) -> Job:
    found = jobs.claim(job_id=(job or asked()).pk, message=message, now=now)
    assert found
    return found


def does(monkeypatch: pytest.MonkeyPatch, run: Any, **more: Any) -> None:
    monkeypatch.setattr(work, "COUNT", replace(work.COUNT, run=run, **more))


def test_every_registered_piece_of_work_is_there() -> None:
    assert len(settings.JOBS) > 2
    for kind in settings.JOBS:
        found = get_work(kind)
        assert isinstance(found, Work), kind
        assert found.trouble.endswith("."), kind
        assert len(kind) <= 50, kind
        # A message that is not acknowledged for two hours is given to another worker (background.broker).
        assert found.minutes < 120, kind


def test_a_job_counts_as_lost_after_the_minutes_that_the_guide_of_operators_names() -> None:
    minutes = {
        "results.chart": 3,
        "workspace.delete_project": 5,
        "predictions.near_duplicates": 10,
        "workspace.hub_download": 10,
        "results.export": 11,
        "results.numbers": 11,
        "studies.import": 15,
        "simulation.demo_project": 16,
        "workspace.model_card": 21,
        "annotation.extension": 31,
        "annotation.launch": 31,
        "annotation.money_check": 61,
        "making.pipeline": 61,
        "results.training_data": 61,
        "workspace.hub": 111,
    }
    found = {kind: get_work(kind).lost_after for kind in settings.JOBS if kind != NAME}
    assert found == {kind: timedelta(minutes=silence) for kind, silence in minutes.items()}


def test_work_that_is_not_registered_cannot_be_asked_for() -> None:
    with pytest.raises(UnknownWork, match=r"No work is called tests\.sum\. Known: annotation\.extension, "):
        jobs.request_job(kind="tests.sum", arguments={}, by=None, now=NOON)
    assert not Job.objects.exists()


def test_a_job_is_done_and_says_so() -> None:
    anna = make_person("anna")
    job, is_new = jobs.request_job(kind=NAME, arguments={"numbers": 3}, by=anna, now=NOON)
    assert (job.state, job.unit, job.requested_by, is_new) == (JobState.WAITING, "numbers", anna, True)
    done = run_now(job, now=NOON + SECOND)
    assert (done.state, done.done, done.total, done.attempts) == (JobState.DONE, 3, 3, 1)
    assert (done.started_at, done.finished_at) == (NOON + SECOND, NOON + SECOND)
    assert counted() == [0, 1, 2]
    assert ended() == ""


def test_the_same_work_asked_twice_while_it_waits_or_runs_is_one_job_unless_it_has_no_key() -> None:
    assert asked().pk != asked().pk
    first = asked("one")
    assert jobs.request_job(kind=NAME, arguments={}, by=None, now=NOON, key="one") == (first, False)
    begun(job=first)
    assert jobs.request_job(kind=NAME, arguments={}, by=None, now=NOON, key="one") == (first, False)
    jobs.finish(job=Job.objects.get(pk=first.pk), now=NOON)
    again, is_new = jobs.request_job(kind=NAME, arguments={}, by=None, now=NOON, key="one")
    assert (again.pk != first.pk, is_new) == (True, True)


@pytest.mark.parametrize(
    "wrong",
    [
        {"state": "paused"},
        {"state": "running"},
        {"state": "done"},
        {"state": "failed", "finished_at": NOON},
        {"finished_at": NOON},
        {"kind": NAME, "key": "taken"},
    ],
)
def test_the_database_keeps_what_a_job_may_be(wrong: dict[str, Any]) -> None:
    asked("taken")
    with pytest.raises(IntegrityError), transaction.atomic():
        Job.objects.create(**{"kind": "another", "asked_at": NOON} | wrong)


def test_run_twice_it_does_what_it_does_once() -> None:
    job = asked(numbers=3)
    once = run_now(job, now=NOON)
    before = Job.objects.values().get()
    assert run_now(once, now=NOON + timedelta(hours=1)).state == JobState.DONE
    assert (Job.objects.values().get(), counted()) == (before, [0, 1, 2])


def test_while_a_worker_has_it_no_other_gets_it_unless_the_broker_gives_its_message_again() -> None:
    job = begun("first")
    assert jobs.claim(job_id=job.pk, message="second", now=NOON + 3 * SECOND) is None
    assert begun("first", job=job).attempts == 2


def test_a_worker_that_was_silent_for_too_long_loses_it_and_is_told_so() -> None:
    job = begun("first")
    taken = jobs.claim(job_id=job.pk, message="second", now=NOON + 4 * SECOND)
    assert taken
    assert taken.attempts == 2
    with pytest.raises(Superseded):
        jobs.progress(job=job, now=NOON, done=1)
    jobs.finish(job=job, now=NOON)
    jobs.fail(job=job, error="Too late.", now=NOON)
    jobs.requeue(job=job)
    assert Job.objects.get().state == JobState.RUNNING
    jobs.finish(job=taken, now=NOON)
    assert Job.objects.get().state == JobState.DONE


def test_it_goes_on_where_the_worker_that_was_lost_has_got() -> None:
    job = begun(job=asked(numbers=4))
    Attempt(job, lambda: NOON).advance(step={"next": 2}, done=2, total=4)
    assert run_now(job, now=NOON + 4 * SECOND).state == JobState.DONE
    assert counted() == [2, 3]


def test_a_batch_and_its_step_are_kept_together_or_not_at_all() -> None:
    turn = Attempt(begun(), lambda: NOON)
    with transaction.atomic():
        turn.advance(step={"next": 2})
        transaction.set_rollback(True)
    assert Job.objects.get().step == {}


def test_progress_is_told_about_once_a_second(django_assert_num_queries: Any) -> None:
    times = iter(NOON + timedelta(milliseconds=each) for each in range(0, 2001))
    turn = Attempt(begun(), lambda: next(times))
    with django_assert_num_queries(3):
        for done in range(1, 2002):
            turn.advance(done=done, total=5000)
    assert (Job.objects.get().done, Job.objects.get().total) == (2001, 5000)


def test_the_last_progress_is_told_whatever_the_time(monkeypatch: pytest.MonkeyPatch) -> None:
    def quickly(job: RunningJob) -> None:
        for done in range(1, 8):
            job.advance(done=done, total=7)

    does(monkeypatch, quickly)
    assert run_now(asked(), now=NOON).done == 7


def test_one_that_waits_is_cancelled_at_once() -> None:
    job = asked()
    jobs.cancel(job=job, now=NOON + SECOND)
    assert (job.state, job.finished_at) == (JobState.CANCELLED, NOON + SECOND)
    assert ended() == "cancelled: "
    assert run_now(job).state == JobState.CANCELLED
    assert counted() == []


def test_one_that_runs_is_cancelled_before_its_next_batch(monkeypatch: pytest.MonkeyPatch) -> None:
    job = asked(numbers=4)

    def and_somebody_cancels(running: RunningJob) -> None:
        jobs.cancel(job=Job.objects.get(), now=NOON)
        assert Job.objects.get().state == JobState.RUNNING
        work.count(running)

    does(monkeypatch, and_somebody_cancels)
    assert run_now(job, now=NOON + SECOND).state == JobState.CANCELLED
    assert counted() == [0]
    assert ended() == "cancelled: "


def test_what_is_over_stays_what_it_is_when_it_is_cancelled() -> None:
    job = run_now(asked(numbers=1))
    jobs.cancel(job=job, now=NOON)
    assert (job.state, job.cancel_asked_at, ended()) == (JobState.DONE, None, "")


def test_check_finds_a_cancellation_however_early() -> None:
    turn = Attempt(begun(), lambda: NOON)
    turn.advance(done=1)
    jobs.cancel(job=Job.objects.get(), now=NOON)
    turn.advance(done=2)
    with pytest.raises(Cancelled):
        turn.check()


def test_one_that_cannot_be_done_says_why_in_its_own_words() -> None:
    job = run_now(asked(fails_at=1), now=NOON)
    assert (job.state, job.error) == (JobState.FAILED, "The number 1 cannot be counted. Choose another.")
    assert ended() == "failed: The number 1 cannot be counted. Choose another."


def test_what_nobody_foresaw_is_one_sentence_and_a_reference_to_the_trace_in_the_log(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def broken(job: RunningJob) -> None:
        raise ZeroDivisionError("of a secret kind")

    does(monkeypatch, broken)
    job = run_now(asked())
    words, _, reference = job.error.rstrip(".").partition(" reference ")
    assert words == "The numbers could not be counted. If it happens again, tell your administrator:"
    assert "secret" not in job.error
    (logged,) = [each for each in caplog.records if each.levelname == "ERROR"]
    assert reference
    assert reference in logged.getMessage()
    assert logged.exc_info


def test_while_the_database_was_away_nothing_has_failed(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(job: RunningJob) -> None:
        raise OperationalError("server closed the connection unexpectedly\nand more")

    with monkeypatch.context() as patch:
        does(patch, away)
        job = run_now(asked(numbers=2), now=NOON)
    assert (job.state, job.error) == (JobState.WAITING, "")
    assert run_now(job, now=NOON).state == JobState.DONE
    assert counted() == [0, 1]


@pytest.mark.django_db(transaction=True)
@pytest.mark.skipif(connection.vendor != "postgresql", reason="SQLite has no server that could end a connection.")
@pytest.mark.parametrize("moment", ["in its work", "when it has ended"])
def test_one_whose_connection_is_lost_is_tried_again(monkeypatch: pytest.MonkeyPatch, moment: str) -> None:
    def lose_connection(job: RunningJob) -> None:
        with connection.cursor() as cursor:
            if moment == "in its work":
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        assert connection.connection
        connection.connection.close()

    with monkeypatch.context() as patch:
        does(patch, lose_connection)
        job = run_now(asked(numbers=2), now=NOON)
    assert (job.state, job.attempts) == (JobState.WAITING, 1)
    assert run_now(job, now=NOON).state == JobState.DONE
    assert counted() == [0, 1]


def test_one_whose_end_was_not_committed_is_tried_again(monkeypatch: pytest.MonkeyPatch) -> None:
    def lose(job: Job) -> None:
        raise OperationalError("the connection is lost at the commit")

    with monkeypatch.context() as patch:
        # Called in the transaction that ends the job.
        patch.setattr(work, "COUNT", replace(work.COUNT, ended=lose))
        job = run_now(asked(fails_at=0), now=NOON)
    assert (job.state, job.error) == (JobState.WAITING, "")


def test_while_the_database_is_away_its_worker_waits_a_minute_to_requeue_it(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def away(*_: Any, **__: Any) -> None:
        raise OperationalError("connection refused")

    waits = list[int]()
    monkeypatch.setattr("time.sleep", waits.append)
    does(monkeypatch, away)
    with monkeypatch.context() as patch:
        patch.setattr(jobs, "requeue", away)
        assert run_now(asked(), now=NOON).state == JobState.RUNNING
    assert waits == [0, 1, 2, 4, 8, 15, 30]
    assert sum(waits) == 60
    assert "waits until it counts as lost: the database is still away" in caplog.text


def test_one_that_runs_out_of_time_says_so_unless_it_can_go_on(monkeypatch: pytest.MonkeyPatch) -> None:
    def slow(job: RunningJob) -> None:
        raise SoftTimeLimitExceeded

    def slow_after_a_step(job: RunningJob) -> None:
        job.advance(step={"next": 1})
        raise SoftTimeLimitExceeded

    does(monkeypatch, slow, minutes=5)
    assert run_now(asked()).error == "The numbers could not be counted. It took more than 5 minutes."
    does(monkeypatch, slow_after_a_step)
    assert run_now(asked()).state == JobState.WAITING


def test_one_whose_workers_are_always_lost_is_given_up() -> None:
    job, now = asked(), NOON
    for _ in range(jobs.MOST_FRUITLESS):
        begun(job=job, now=now)
        now += 4 * SECOND
    assert run_now(job, now=now).state == JobState.FAILED
    assert "It was started 5 times and never made progress." in job.error
    assert counted() == []


def test_one_that_gets_on_may_lose_any_number_of_workers() -> None:
    job, now = asked(numbers=9), NOON
    for number in range(8):
        Attempt(begun(job=job, now=now), lambda now=now: now).advance(step={"next": number + 1})  # type: ignore[misc]
        now += 4 * SECOND
    assert run_now(job, now=now).state == JobState.DONE
    assert counted() == [8]


@pytest.mark.parametrize(
    ("state", "age", "is_stalled"),
    [
        (JobState.WAITING, timedelta(minutes=2), False),
        (JobState.WAITING, timedelta(minutes=2, seconds=1), True),
        (JobState.RUNNING, timedelta(seconds=3), False),
        (JobState.RUNNING, timedelta(seconds=4), True),
        (JobState.DONE, timedelta(days=20), False),
        (JobState.FAILED, timedelta(days=20), False),
        (JobState.CANCELLED, timedelta(days=20), False),
    ],
)
def test_a_job_is_stalled_when_its_message_or_its_worker_must_have_been_lost(
    state: JobState, age: timedelta, is_stalled: bool
) -> None:
    job = asked()
    over = {} if state in UNFINISHED else {"finished_at": NOON, "error": "Why not."}
    Job.objects.update(state=state, attempts=1, started_at=NOON, beat_at=NOON, **over)
    assert jobs.stalled_jobs(now=NOON + age) == ([job] if is_stalled else [])


def test_one_that_was_to_be_cancelled_when_its_worker_was_lost_is_cancelled() -> None:
    begun()
    jobs.cancel(job=Job.objects.get(), now=NOON)
    assert jobs.stalled_jobs(now=NOON + 4 * SECOND) == []
    assert Job.objects.get().state == JobState.CANCELLED
    assert ended() == "cancelled: "


def test_jobs_of_another_version_are_left_alone() -> None:
    Job.objects.create(kind="of.tomorrow", asked_at=NOON)
    assert jobs.stalled_jobs(now=NOON + timedelta(days=1)) == []
    with pytest.raises(UnknownWork):
        run_job.apply(args=(Job.objects.get().pk,), throw=True)
    assert Job.objects.get().state == JobState.WAITING


def test_jobs_that_ended_long_ago_are_deleted() -> None:
    run_now(asked(numbers=0), now=NOON)
    waiting = asked()
    assert jobs.delete_old(now=NOON + timedelta(days=30)) == 0
    assert jobs.delete_old(now=NOON + timedelta(days=30) + SECOND) == 1
    assert Job.objects.get() == waiting


@pytest.fixture
def sent(monkeypatch: pytest.MonkeyPatch) -> list[tuple[int, int]]:
    """Return the jobs that are sent, each with the seconds that its process has."""
    found: list[tuple[int, int]] = []
    monkeypatch.setattr(
        run_job, "apply_async", lambda args, kwargs, **options: found.append((*args, options["time_limit"]))
    )
    return found


def test_a_job_is_sent_with_the_time_that_its_work_has_once_the_transaction_is_through(
    sent: list[tuple[int, int]], django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks
) -> None:
    job = asked()
    with django_capture_on_commit_callbacks(execute=True):
        send(job)
        assert sent == []
    assert sent == [(job.pk, 5 * 60)]


def test_the_clock_sends_what_is_stalled_again(sent: list[tuple[int, int]]) -> None:
    job = asked()
    asked()
    Job.objects.exclude(pk=job.pk).update(asked_at=timezone.now())
    resume_jobs()
    assert sent == [(job.pk, 5 * 60)]
