"""Compare the ledger with what Prolific has paid, session by session, to the cent."""

from collections.abc import Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from analytics.work.ledger import in_cents
from annotation.actions.paying.confirm_payments import settle_session
from annotation.actions.paying.paid_elsewhere import (
    UNKNOWN_AMOUNTS,
    note_screen_outs,
    reward_there,
    unexplained_rewards,
)
from annotation.actions.paying.payment_states import State
from annotation.actions.paying.submission_ids import submission_id, without_ids
from annotation.actions.recruiting.prolific_account import NOT_CONNECTED, connect
from annotation.actions.recruiting.submissions import note_submission
from annotation.models import Payment, ProlificAccount, ProlificStudy, Submission
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import ProlificError
from background.errors import Failed
from background.jobs import request_job
from background.models import Job, JobState
from background.work import RunningJob, Work
from studies.actions.events import Actor, What, person, record
from studies.models import Project

KIND = "annotation.money_check"
BATCH = 20
PAID_THERE = "Paid on Prolific, but not ordered here."
NOT_THERE = "Paid in the ledger, but not on Prolific."
HELD = "Held: Prolific does not show it."
ON_ITS_WAY = "Ordered: Prolific does not show it yet."
OTHER_AMOUNT = "The amounts differ."
MISSING = "Paid in the ledger, but Prolific does not have this submission."
NOT_FOUND = 404


def request_check(*, project: Project, by: Actor, now: datetime) -> tuple[Job, bool]:
    """Return the job that compares a project's ledger with Prolific, and whether it is new and has to be sent."""
    with transaction.atomic():
        job, is_new = request_job(
            kind=KIND, arguments={"project": project.pk}, by=person(by), now=now, key=str(project.pk)
        )
        if is_new:
            record(project=project, what=What.LEDGER_COMPARED, by=by, now=now)
    return job, is_new


def latest_check(project: Project) -> Job | None:
    """Return the latest comparison that was asked for, None without one."""
    return Job.objects.filter(kind=KIND, arguments__project=project.pk).order_by("-pk").first()


def last_result(project: Project) -> Job | None:
    """Return the latest comparison that is done. Its `step` has `compared`, `agreeing` and `differences`."""
    done = Job.objects.filter(kind=KIND, arguments__project=project.pk, state=JobState.DONE)
    return done.order_by("-pk").first()


def _compare(job: RunningJob) -> None:
    project = Project.objects.get(pk=job.arguments["project"])
    account = ProlificAccount.objects.filter(project=project).first()
    if account is None:
        raise Failed(NOT_CONNECTED)
    found = {"after": 0, "compared": 0, "differences": [], **(job.step or {})}
    submissions = _submissions(project)
    total = submissions.count()
    try:
        client = connect(account, attempts=5)
        while batch := list(submissions.filter(pk__gt=found["after"])[:BATCH]):
            found["differences"] += [line for each in batch if (line := _difference(client, each, job.now()))]
            found["compared"] += len(batch)
            found["after"] = batch[-1].pk
            job.advance(step=found, done=found["compared"], total=total)
        _note_unexplained(client, found["differences"])
    except ProlificError as error:
        raise Failed(f"Prolific could not be asked. {without_ids(error)}") from error
    job.advance(step=found, done=total, total=total)


CHECK = Work(run=_compare, trouble="The ledger could not be compared with Prolific.", unit="submissions", minutes=60)


def _submissions(project: Project) -> QuerySet[Submission]:
    found = Submission.objects.filter(prolific_study__study__project=project).exclude(sealed_id="")
    return found.select_related("prolific_study__study", "session").order_by("pk")


def _difference(client: Client, submission: Submission, now: datetime) -> dict[str, Any] | None:
    """Read a submission, note what it is now, and return how the ledger differs from it; None if it does not."""
    try:
        remote = client.read_submission(submission_id(submission))
    except ProlificError as error:
        if error.status != NOT_FOUND:
            raise
        here = _paid_here(_rows(submission))
        return _line(submission, here, 0, MISSING) if here else None
    note_submission(submission=submission, remote=remote, client=client, now=now)
    note_screen_outs(Submission.objects.filter(pk=submission.pk), now)
    extra = list(remote.bonus_payments)
    if submission.session_id is not None:
        extra = settle_session(submission.session_id, remote.bonus_payments, now)
    rows = _rows(submission)
    reward = reward_there(submission, remote.status, rows)
    here = _paid_here(rows)
    there = (reward or 0) + sum(remote.bonus_payments)
    why = UNKNOWN_AMOUNTS.get(remote.status, "") if reward is None else _why(here, there, rows, extra)
    if here == there and reward is not None:
        return None
    return _line(submission, here, there, why, is_unknown=reward is None)


def _rows(submission: Submission) -> list[Payment]:
    return list(Payment.objects.filter(session=submission.session_id)) if submission.session_id else []


def _paid_here(rows: Sequence[Payment]) -> int:
    return sum(in_cents(row.amount) for row in rows if row.state == State.PAID)


def _line(submission: Submission, here: int, there: int, why: str, *, is_unknown: bool = False) -> dict[str, Any]:
    """Return a difference, with amounts in cents. is_unknown: Prolific does not tell the reward."""
    return {
        "submission": submission.pk,
        "prolific_study": submission.prolific_study_id,
        "is_unknown": is_unknown,
        "session": submission.session_id,
        "study": submission.prolific_study.study.slug,
        "annotator": submission.session.annotator_id if submission.session else None,
        "currency": submission.prolific_study.currency,
        "here": here,
        "there": there,
        "why": why,
    }


def _note_unexplained(client: Client, differences: Sequence[dict[str, Any]]) -> None:
    """Write to amounts that Prolific does not tell what its total leaves for all of them, in cents."""
    asking = [line for line in differences if line.get("is_unknown")]
    for row in ProlificStudy.objects.filter(pk__in={line["prolific_study"] for line in asking}):
        left = unexplained_rewards(client, row)
        for line in asking:
            if line["prolific_study"] == row.pk:
                line["left"] = left


def _why(here: int, there: int, rows: Sequence[Payment], extra: Sequence[int]) -> str:
    states = {row.state for row in rows}
    if there > here:
        ordered = here + sum(
            in_cents(row.amount) for row in rows if row.state in (State.REQUESTED, State.UNCERTAIN, State.SENDING)
        )
        return ON_ITS_WAY if ordered == there and not extra else PAID_THERE
    if State.UNCERTAIN in states:
        return HELD
    return NOT_THERE if here else OTHER_AMOUNT
