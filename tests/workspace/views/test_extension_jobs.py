"""The extension of a large study from its page: a job with a bar, all or nothing except for new instances."""

from collections.abc import Callable, Sequence
from datetime import timedelta
from functools import partial
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.test import Client

from annotation.actions.launching import complete_study, extend_study, study_jobs
from annotation.actions.launching.extend_study import ExtensionKind
from annotation.models import Seat, Slot
from background.models import Job, JobState
from studies.actions.questions import About, build_questions
from studies.actions.studies import change_state
from studies.errors import StudyError
from studies.models import Event, Membership, Study, StudyState
from studies.survey_plan import plan_surveys
from tests.annotation.test_pipeline import answer_all
from tests.factories import NOON, TESTS, arrive_at_work, launch_study, make_instance, make_person
from tests.jobs import run_now
from tests.pages import signed_in, words_of

pytestmark = pytest.mark.django_db

PAGE = "/studies/vases/best-vase/"
MORE = {"what": "answers", "number": "2", "beyond": "1"}


@pytest.fixture
def study() -> Study:
    study = launch_study(instances=4, rule="majority-v1", pay={"per_session": "8.00", "per_answer": "0.05"})
    answer_all(arrive_at_work(study, "ann"), "candidate-0")
    return study


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """Every extension is large; return the jobs that were sent to a worker."""
    sent: list[Job] = []
    monkeypatch.setattr(study_jobs, "DONE_AT_ONCE", 0)
    monkeypatch.setattr("workspace.views.studies.extend_study.send", sent.append)
    return sent


def confirm(client: Client, **wanted: str) -> Any:
    return client.post(f"{PAGE}more/", wanted or MORE, follow=True)


def test_a_large_study_is_extended_by_a_job_that_the_page_follows(editor: Client, sent: list[Job]) -> None:
    page = confirm(editor)
    assert page.redirect_chain == [(PAGE, 302)]
    assert "<strong>The study is being extended.</strong>" in words_of(page)
    assert "Waiting for the worker" in words_of(page)
    assert (Seat.objects.count(), Study.objects.get().answers) == (1, 1)
    assert f"Extension of {Study.objects.get().title}" in words_of(editor.get("/jobs/"))
    assert 'hx-trigger="every 2s"' in editor.get(f"{PAGE}job/").content.decode()
    assert run_now(sent[0]).state == JobState.DONE
    assert (Seat.objects.count(), Study.objects.get().answers) == (3, 3)
    assert [event.by_name for event in Event.objects.filter(what="more answers wanted")] == ["editor"]
    assert editor.get(f"{PAGE}job/")["HX-Refresh"] == "true"
    assert "The study is being extended." not in words_of(editor.get(PAGE))
    assert f"Extension of {Study.objects.get().title}" in words_of(editor.get("/jobs/"))


def test_the_preview_counts_what_is_added_without_adding_it(
    editor: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    make_instance(study.project, "came-later")
    monkeypatch.delattr(extend_study, "extend")
    shown = words_of(editor.get(f"{PAGE}more/", MORE))
    for told in ("<dt>New places</dt><dd>2</dd>", "<dt>More answers</dt><dd>8</dd>", "USD 16.40", "in the background"):
        assert told in shown
    assert "Decided questions open again until the new answers are in" in shown
    shown = words_of(editor.get(f"{PAGE}more/", {"what": "instances"}))
    assert "<dt>New questions</dt><dd>1</dd>" in shown
    assert "an image is missing) are left out" in shown
    assert "up to 5" in words_of(editor.get(f"{PAGE}more/", {"what": "undecided", "number": "5"}))


@pytest.mark.parametrize(
    ("way", "number"), [(ExtensionKind.ANSWERS, 2), (ExtensionKind.UNDECIDED, 5), (ExtensionKind.INSTANCES, 0)]
)
def test_the_plan_is_what_an_extension_adds(way: ExtensionKind, number: int, study: Study) -> None:
    for key in ("came-later", "came-last"):
        make_instance(study.project, key)
    planned = extend_study.plan(study, way, number).added
    added = extend_study.extend(study=study, way=way, number=number, by=TESTS, now=NOON)
    assert (planned.seats, planned.answers, planned.questions) == (added.seats, added.answers, added.questions)


@pytest.mark.usefixtures("study")
@pytest.mark.parametrize("limit", [12, 11])
def test_only_a_large_extension_is_a_job(
    limit: int, editor: Client, sent: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    # 4 questions are decided again and get 8 answers.
    monkeypatch.setattr(study_jobs, "DONE_AT_ONCE", limit)
    confirm(editor)
    assert (Study.objects.get().answers, len(sent)) == ((3, 0) if limit == 12 else (1, 1))


def test_the_other_ways_to_extend_are_jobs_too(editor: Client, study: Study, sent: list[Job]) -> None:
    make_instance(study.project, "came-later")
    confirm(editor, what="instances")
    run_now(sent[0])
    confirm(editor, what="undecided", number="5")
    run_now(sent[1])
    assert (study.questions.count(), Study.objects.get().most_answers) == (5, 5)


def test_pressed_twice_it_is_one_job(editor: Client, sent: list[Job]) -> None:
    confirm(editor)
    for page in (confirm(editor), editor.get(f"{PAGE}more/", follow=True)):
        assert "The study is being extended." in words_of(page)
    assert Job.objects.filter(kind=extend_study.EXTENSION_JOB).count() == len(sent) == 1
    run_now(sent[0])
    # The first reply was lost, and it is sent again after the job.
    assert "each question now gets 3 answers, not 1" in words_of(confirm(editor))
    assert len(sent) == 1


def test_a_doubled_message_and_a_lost_worker_extend_it_once(editor: Client, sent: list[Job]) -> None:
    confirm(editor)
    run_now(sent[0])
    # As if its worker had been lost after the extension, before it could say so.
    Job.objects.update(state=JobState.WAITING, finished_at=None)
    assert run_now(sent[0]).state == JobState.DONE
    assert (Seat.objects.count(), Study.objects.get().answers) == (3, 3)


def test_more_that_was_asked_for_meanwhile_is_not_added_to(editor: Client, study: Study, sent: list[Job]) -> None:
    confirm(editor)
    extend_study.add_answers(study=study, more=1, by=TESTS, now=NOON)
    assert run_now(sent[0]).state == JobState.FAILED
    assert Study.objects.get().answers == 2
    page = words_of(editor.get(PAGE))
    assert "The last extension failed. Somebody else has added answers: each question now gets 2 answers" in page
    # The page forgets it when the study is extended after all.
    extend_study.add_answers(study=study, more=1, by=TESTS, now=NOON + timedelta(days=9999))
    assert "The last extension failed." not in words_of(editor.get(PAGE))


def test_a_closed_study_is_not_extended(editor: Client, study: Study, sent: list[Job]) -> None:
    confirm(editor)
    change_state(study=study, to=StudyState.CLOSED, by=TESTS, now=NOON)
    failed = run_now(sent[0])
    assert (failed.state, Seat.objects.count()) == (JobState.FAILED, 1)
    assert failed.error == "Study best-vase is closed: only an open or paused study can be extended."


def test_somebody_who_may_no_longer_extend_does_not(editor: Client, sent: list[Job]) -> None:
    confirm(editor)
    Membership.objects.update(role="viewer")
    assert run_now(sent[0]).error == "editor may no longer extend studies in this project."
    assert Study.objects.get().answers == 1


@pytest.mark.parametrize("number", ["0", "101"])
@pytest.mark.usefixtures("study")
def test_a_problem_that_is_there_already_is_said_at_once(number: str, editor: Client, sent: list[Job]) -> None:
    page = editor.post(f"{PAGE}more/", MORE | {"number": number})
    assert (page.status_code, sent) == (409, [])


def test_new_instances_that_cannot_be_asked_about_are_said_by_the_job(
    editor: Client, study: Study, sent: list[Job]
) -> None:
    make_instance(study.project, "lacking").images.update(image=None)
    confirm(editor, what="instances")
    assert run_now(sent[0]).error.startswith("The study cannot ask about any of 1 new instance yet")
    assert study.questions.count() == 4


def test_a_waiting_extension_can_be_cancelled(editor: Client, sent: list[Job]) -> None:
    assert "Cancel the extension</button>" in words_of(confirm(editor))
    editor.post(f"{PAGE}job/cancel/")
    assert (run_now(sent[0]).state, Study.objects.get().answers) == (JobState.CANCELLED, 1)
    assert Event.objects.get(what="extension cancelled").by_name == "editor"
    confirm(editor)
    run_now(sent[1])
    assert Study.objects.get().answers == 3


def test_an_extension_that_is_cancelled_while_it_runs_changes_nothing(
    editor: Client, sent: list[Job], monkeypatch: pytest.MonkeyPatch
) -> None:
    confirm(editor)
    real = extend_study.extend

    def extend_and_be_cancelled(**wanted: Any) -> Any:
        Job.objects.update(cancel_asked_at=NOON)
        return real(**wanted)

    monkeypatch.setattr("annotation.actions.launching.study_jobs.extend", extend_and_be_cancelled)
    assert run_now(sent[0]).state != JobState.DONE
    assert (Seat.objects.count(), Study.objects.get().answers) == (1, 1)


@pytest.fixture
def stop_after_one(study: Study, monkeypatch: pytest.MonkeyPatch) -> Callable[[Callable[[], None]], None]:
    """Add three instances, each a batch; return what has something done once, between the first and the second."""
    for number in range(3):
        make_instance(study.project, f"new-{number}")
    monkeypatch.setattr(extend_study, "CREATED_TOGETHER", 1)
    one_each = partial(plan_surveys, size=1, double_seats=0)
    monkeypatch.setattr(
        extend_study, "plan_surveys", lambda new, *, answers, seed, **_: one_each(new, answers=answers, seed=seed)
    )
    todo = list[Callable[[], None]]()

    def build(study: Study, asked: Sequence[About]) -> Any:
        # Four questions are from the launch.
        if todo and study.questions.count() == 5:
            todo.pop()()
        return build_questions(study, asked)

    monkeypatch.setattr(extend_study, "build_questions", build)
    return todo.append


def taken_up() -> list[tuple[int, int]]:
    """Return the numbers of questions and places of each event of new instances."""
    events = Event.objects.filter(what="instances taken up").order_by("pk")
    return [(event.details["questions"], event.details["seats"]) for event in events]


def test_new_instances_of_a_lost_worker_are_completed_by_the_next_and_each_is_asked_about_once(
    editor: Client, study: Study, sent: list[Job], stop_after_one: Callable[[Callable[[], None]], None]
) -> None:
    def die() -> None:
        raise KeyboardInterrupt

    stop_after_one(die)
    confirm(editor, what="instances")
    with pytest.raises(KeyboardInterrupt):
        run_now(sent[0], message="first")
    sent[0].refresh_from_db()
    assert (sent[0].state, sent[0].done, sent[0].total, taken_up()) == (JobState.RUNNING, 1, 3, [])
    assert "1 of 3 questions" in words_of(editor.get(PAGE))
    assert run_now(sent[0], message="first").state == JobState.DONE
    assert taken_up() == [(3, 3)]
    assert sorted(study.questions.values_list("instance__key", flat=True))[:3] == ["new-0", "new-1", "new-2"]
    assert (study.questions.count(), Seat.objects.filter(survey__number__gt=1).count()) == (7, 3)


def test_new_instances_that_are_cancelled_on_the_way_stay_and_the_rest_can_be_added(
    editor: Client, study: Study, sent: list[Job], stop_after_one: Callable[[Callable[[], None]], None]
) -> None:
    stop_after_one(lambda: study_jobs.cancel_study_job(study=study, by=User.objects.get(username="editor"), now=NOON))
    confirm(editor, what="instances")
    assert run_now(sent[0]).state == JobState.CANCELLED
    assert (study.questions.count(), taken_up()) == (5, [(1, 1)])
    cancelled = "The last extension was cancelled after it had added 1 new question. Extend the study again"
    assert cancelled in words_of(editor.get(PAGE))
    confirm(editor, what="instances")
    assert run_now(sent[1]).state == JobState.DONE
    assert (study.questions.count(), taken_up()) == (7, [(1, 1), (2, 2)])
    assert cancelled not in words_of(editor.get(PAGE))


def test_new_instances_that_fail_on_the_way_stay_and_the_page_says_so(
    editor: Client, study: Study, sent: list[Job], stop_after_one: Callable[[Callable[[], None]], None]
) -> None:
    def fail() -> None:
        raise StudyError("Instance new-1 has no image.")

    stop_after_one(fail)
    confirm(editor, what="instances")
    assert run_now(sent[0]).state == JobState.FAILED
    assert (study.questions.count(), taken_up()) == (5, [(1, 1)])
    said = "The last extension failed. Instance new-1 has no image. It added 1 new question before that; extend"
    assert said in words_of(editor.get(PAGE))


def test_what_a_script_adds_on_the_way_is_asked_about_once_and_gets_as_many_answers(
    editor: Client, study: Study, sent: list[Job], stop_after_one: Callable[[Callable[[], None]], None]
) -> None:
    def extend_by_script() -> None:
        extend_study.add_answers(study=study, more=1, by=TESTS, now=NOON)
        extend_study.add_instances(study=Study.objects.get(), by=TESTS, now=NOON)
        make_instance(study.project, "newest")

    stop_after_one(extend_by_script)
    confirm(editor, what="instances")
    assert run_now(sent[0]).state == JobState.DONE
    assert (study.questions.count(), set(study.questions.values_list("answers_wanted", flat=True))) == (7, {2})
    assert Slot.objects.filter(question__in=study.questions.all()).count() == 14


def test_a_study_is_not_complete_while_its_extension_waits_or_runs(editor: Client, study: Study) -> None:
    make_instance(study.project, "came-later")
    Study.objects.update(closes_itself=True)
    confirm(editor, what="instances")
    assert complete_study.note_completed(by=TESTS, now=NOON) == []
    editor.post(f"{PAGE}job/cancel/")
    assert [each.is_closed for each in complete_study.note_completed(by=TESTS, now=NOON)] == [True]


@pytest.mark.usefixtures("study")
def test_without_a_worker_the_page_says_whom_to_ask(editor: Client) -> None:
    assert "No worker has started it yet" not in words_of(confirm(editor))
    Job.objects.update(asked_at=NOON - timedelta(days=999))
    assert "No worker has started it yet" in words_of(editor.get(PAGE))


@pytest.mark.usefixtures("study")
def test_a_stranger_sees_no_progress_and_extends_nothing(editor: Client, sent: list[Job]) -> None:
    confirm(editor)
    stranger = signed_in(make_person("stranger"))
    for address in ("job/", "job/cancel/", "more/"):
        assert stranger.post(f"{PAGE}{address}", MORE).status_code in {404, 405}
    sent[0].refresh_from_db()
    assert (len(sent), sent[0].state) == (1, JobState.WAITING)
    assert "Extension of" not in words_of(stranger.get("/jobs/"))
