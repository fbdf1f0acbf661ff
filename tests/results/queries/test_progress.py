from datetime import timedelta
from typing import Any

import pytest

from annotation.actions.removing.retire_questions import put_back, take_out
from annotation.models import Response, Session, SessionState
from results.actions.pseudonyms import name_annotators
from results.queries.studies.overview import (
    WaitingImages,
    count_categories,
    project_counts,
    study_lines,
    waiting_images,
)
from results.queries.studies.progress import (
    Answers,
    Questions,
    Rate,
    Seats,
    Seconds,
    paid_sessions,
    study_progress,
)
from results.queries.studies.sessions import session_lines
from studies.actions.projects.members import permitted_projects
from studies.models import InstanceImage, Project, Question, Study
from studies.permissions import Verb
from tests.factories import (
    NOON,
    TESTS,
    answer,
    draw_instance,
    make_launched,
    make_person,
    make_project,
    make_study,
    questions,
    sit_down,
)
from tests.removing import REMOVED, exclude, include, withdraw


@pytest.mark.parametrize(
    ("given", "wanted", "percent"),
    [(0, 0, 0), (0, 8, 0), (1, 1000, 1), (4, 7, 57), (2, 3, 67), (999, 1000, 99), (8, 8, 100), (9, 8, 100)],
)
def test_only_a_complete_study_is_at_100_percent_and_only_an_unanswered_one_at_0(
    given: int, wanted: int, percent: int
) -> None:
    assert Answers(given, wanted).percent == percent


def test_a_fresh_study_has_everything_still_to_come(study: Study) -> None:
    progress = study_progress(study)
    assert progress.answers == Answers(0, 4, to_come=4)
    assert progress.seats == Seats(free=1, taken=0, filled=0)
    nothing = {"none yet": 4, "conflicting": 0, "accepted": 0, "rejected": 0}
    assert progress.questions == Questions(4, {"unanswered": 4, "open": 0, "complete": 0}, nothing, settled=0)
    assert list(progress.rates) == [Rate("None of these", 0, 0)]
    assert progress.rates[0].percent is None
    assert progress.seconds == Seconds(0)


def test_progress_counts_answers_seats_and_decisions_per_survey(draft: Study) -> None:
    study = make_launched(draft, size=2, seats=2)
    first = sit_down(study, "one")
    answer(first, questions(study)[0], "candidate-1")
    answer(first, questions(study)[1], "none")
    second = sit_down(study, "two")
    answer(second, questions(study)[0], "candidate-1")
    sit_down(study, "three", now=NOON + timedelta(hours=1))
    progress = study_progress(study)
    assert progress.answers == Answers(3, 8, to_come=5)
    # 37.5, halves up.
    assert progress.answers.percent == 38
    assert [(row.number, row.answers, row.seats) for row in progress.surveys] == [
        (1, Answers(3, 4, to_come=1), Seats(free=0, taken=1, filled=1)),
        (2, Answers(0, 4, to_come=4), Seats(free=1, taken=1, filled=0)),
    ]
    assert progress.seats == Seats(free=1, taken=2, filled=1)
    # Of two answers wanted each: two alike, one None, and none to the questions of the other survey.
    outcomes = {"none yet": 3, "conflicting": 0, "accepted": 1, "rejected": 0}
    assert progress.questions == Questions(4, {"unanswered": 2, "open": 1, "complete": 1}, outcomes, settled=0)
    assert list(progress.rates) == [Rate("None of these", 1, 3)]


def test_questions_that_were_taken_out_leave_no_place_free_and_no_answer_wanted(draft: Study) -> None:
    study = make_launched(draft, size=2)
    answered, _, *second_survey = questions(study)
    answer(sit_down(study, "one"), answered, "candidate-1")
    for question in (answered, *second_survey):
        take_out(question=question, reason="Broken.", by=TESTS, now=NOON)
    progress = study_progress(study)
    assert [(row.answers, row.seats) for row in progress.surveys] == [
        (Answers(0, 1, to_come=1), Seats(free=0, taken=1, filled=0)),
        (Answers(0, 0), Seats(free=0, taken=0, filled=0)),
    ]
    assert [line.answers for line in study_lines(study.project, now=NOON)] == [Answers(0, 1, to_come=1)]


def test_older_versions_late_answers_and_those_without_times_count_nowhere(study: Study) -> None:
    session = sit_down(study, "one")
    answer(session, questions(study)[0], "none", send_ms=1000)
    answer(session, questions(study)[0], "candidate-1", send_ms=3000)
    answer(session, questions(study)[1], "none", send_ms=9000)
    Response.objects.filter(question=questions(study)[1]).update(slot=None)
    progress = study_progress(study)
    assert list(progress.rates) == [Rate("None of these", 0, 1)]
    # The change has a time of its own, which is not how long the question takes.
    assert progress.seconds == Seconds(1, 1.0, 1.0, 1.0)
    # An answer without a time, two to questions whose right option is known, and one of these right.
    Question.objects.filter(pk__in=[question.pk for question in questions(study)[1:3]]).update(right="none")
    answer(session, questions(study)[2], "none")
    progress = study_progress(study)
    assert list(progress.rates) == [Rate("None of these", 1, 2), Rate("Right", 1, 1)]
    assert progress.seconds.n == 1


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        # Four values 1, 2, 4, 8 s: the quartiles lie at places 0.75, 1.5 and 2.25 (from 0).
        ([(1000, 0), (2000, None), (9000, 5000), (8000, 0)], (1.75, 3.0, 5.0)),
        ([(1000, 0), (3000, 0)], (1.5, 2.0, 2.5)),
        ([(5000, 0)], (5.0, 5.0, 5.0)),
        # A browser that says it was hidden for longer than it was shown is not believed below zero.
        ([(1000, 4000)], (0.0, 0.0, 0.0)),
    ],
)
def test_time_a_question_is_what_was_spent_in_view(
    study: Study, measured: list[tuple[int, int | None]], expected: tuple[float, float, float]
) -> None:
    session = sit_down(study, "one")
    for question, (send, hidden) in zip(questions(study), measured, strict=False):
        answer(session, question, "none", send_ms=send, hidden_ms=hidden)
    seconds = study_progress(study).seconds
    assert seconds.n == len(measured)
    assert (seconds.lower, seconds.median, seconds.upper) == pytest.approx(expected)


def test_sessions_are_listed_latest_first_under_pseudonyms(study: Study) -> None:
    sit_down(study, "pid-1", state=SessionState.GIVEN_UP, ended_at=NOON + timedelta(minutes=7), comment="Too long.")
    session = sit_down(study, "pid-2", now=NOON + timedelta(hours=1))
    answer(session, questions(study)[0], "none", now=NOON + timedelta(hours=1, minutes=3))
    Session.objects.filter(pk=session.pk).update(more_time_at=NOON + timedelta(hours=1, minutes=2))
    name_annotators(project=study.project)
    page = session_lines(study, "nonsense")
    lines: list[Any] = list(page.object_list)
    assert page.number == 1
    assert [(line.state, line.is_open, line.answered, line.total, line.minutes) for line in lines] == [
        ("Answering", True, 1, 4, 3),
        ("Stopped early", False, 0, 4, 7),
    ]
    assert lines[1].comment == "Too long."
    assert [line.more_time_at for line in lines] == [NOON + timedelta(hours=1, minutes=2), None]
    assert lines[0].name.startswith("A-")
    assert lines[0].name != lines[1].name
    for number in range(3, 22):
        sit_down(study, f"pid-{number}", state=SessionState.GIVEN_UP)
    assert [len(session_lines(study, page).object_list) for page in (1, 2)] == [20, 1]


def test_only_finished_sessions_are_paid_from_arrival_to_the_way_back(study: Study) -> None:
    times = {"ended_at": NOON + timedelta(minutes=30), "handed_back_at": NOON + timedelta(minutes=40)}
    sit_down(study, "one", state=SessionState.FINISHED, **times)
    sit_down(study, "two", state=SessionState.FINISHED, ended_at=NOON + timedelta(minutes=20))
    sit_down(study, "three", state=SessionState.GIVEN_UP, ended_at=NOON + timedelta(minutes=5))
    sit_down(study, "four", state=SessionState.FINISHED, ended_at=NOON - timedelta(minutes=5))
    assert sorted(each.seconds for each in paid_sessions(study)) == [1200.0, 2400.0]


def test_instances_are_counted_by_type_and_subtype(study: Study) -> None:
    draw_instance(study.project, 5, type="swap", subtype="att")
    draw_instance(study.project, 6, type="", subtype="")
    draw_instance(make_project("others"), 7)
    assert count_categories(study.project) == {("", ""): 1, ("replace", "rel"): 4, ("swap", "att"): 1}


def test_the_answers_of_a_project_are_those_that_count(draft: Study) -> None:
    """Of six answers by three people, ann edits one, ben is excluded, and the second question is taken out."""
    study = make_launched(draft, seats=3)
    first, second = questions(study)[:2]
    for name in ("ann", "ben", "cleo"):
        session = sit_down(study, name)
        for question in (first, second):
            answer(session, question, "none")
        if name == "ann":
            answer(session, first, "candidate-0")

    def counted() -> tuple[int, int]:
        (project,) = project_counts(Project.objects.all())
        return vars(project)["answer_count"], Response.objects.counted().count()

    assert counted() == (6, 6)
    exclude(study.project, "ben")
    assert counted() == (4, 4)
    take_out(question=second, reason="broken", by=TESTS, now=REMOVED)
    assert counted() == (2, 2)
    include(study.project, "ben")
    assert counted() == (3, 3)
    put_back(question=second, by=TESTS, now=REMOVED)
    withdraw(study.project, "cleo")
    assert counted() == (4, 4)


def test_projects_studies_and_waiting_images_are_counted_each_for_itself(study: Study) -> None:
    make_project("empty")
    make_study(study.project, "draft")
    answer(sit_down(study, "one"), questions(study)[0], "none")
    root = make_person("root", superuser=True)
    projects = {project.slug: project for project in project_counts(permitted_projects(root, Verb.VIEW))}
    names = ("instance_count", "study_count", "open_study_count", "answer_count")
    assert set(projects) == {"birds", "empty"}
    assert [getattr(projects["birds"], name) for name in names] == [4, 2, 1, 1]
    assert [getattr(projects["empty"], name) for name in names] == [0, 0, 0, 0]
    lines = study_lines(study.project, now=NOON)
    answers = {line.study.slug: line.answers for line in lines}
    assert answers == {"birds-step-3": Answers(1, 4, to_come=3), "draft": Answers(0, 0)}
    first, second, *_ = study.project.instances.all()
    InstanceImage.objects.filter(instance=first, role="candidate").update(image=None)
    InstanceImage.objects.filter(instance=second, position=3).update(image=None)
    assert waiting_images(study.project) == WaitingImages(images=5, instances=2)
