"""What happens to jobs at the same moment."""

from datetime import timedelta

import pytest

from background import jobs
from background.errors import Superseded
from background.models import Job, JobState
from tests.background import NAME
from tests.factories import NOON
from tests.together import at_once

pytestmark = pytest.mark.django_db(transaction=True)
LATER = NOON + timedelta(minutes=1)


def ask(key: str = "") -> Job:
    return jobs.request_job(kind=NAME, arguments={}, by=None, now=NOON, key=key)[0]


def test_the_same_work_asked_for_at_once_is_one_job() -> None:
    found = at_once(*[lambda: jobs.request_job(kind=NAME, arguments={}, by=None, now=NOON, key="one")] * 12)
    assert len({job.pk for job, _ in found}) == 1
    assert sum(is_new for _, is_new in found) == 1


@pytest.mark.parametrize("lost", [False, True], ids=["waits", "its worker was lost"])
@pytest.mark.parametrize("attempt", range(3))
def test_of_many_workers_one_gets_a_job_that_waits_or_whose_worker_was_lost(attempt: int, lost: bool) -> None:
    job = ask()
    before = jobs.claim(job_id=job.pk, message="lost", now=NOON) if lost else None
    taken = at_once(*[lambda name=name: jobs.claim(job_id=job.pk, message=name, now=LATER) for name in "abcdefgh"])
    assert sum(each is not None for each in taken) == 1
    assert Job.objects.get().attempts == (2 if lost else 1)
    if before is not None:
        with pytest.raises(Superseded):
            jobs.progress(job=before, now=LATER)


@pytest.mark.parametrize("attempt", range(5))
def test_a_worker_that_begins_and_somebody_who_cancels_agree_on_what_came_first(attempt: int) -> None:
    job = ask()
    taken, _ = at_once(
        lambda: jobs.claim(job_id=job.pk, message="first", now=NOON),
        lambda: jobs.cancel(job=Job.objects.get(pk=job.pk), now=NOON),
    )
    found = Job.objects.get()
    if taken is None:
        assert found.state == JobState.CANCELLED
    else:
        assert (found.state, found.cancel_asked_at) == (JobState.RUNNING, NOON)
