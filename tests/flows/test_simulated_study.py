"""A study filled by simulated annotators: their skill shows in the answers, and there are exactly those wanted."""

import re
from io import StringIO

import pytest
from django.core.management import call_command
from django.db.models import Count
from pytest_django.live_server_helper import LiveServer

from annotation.models import Decision, Response, Seat
from studies.models import Study
from tests.factories import launch_study, make_instance, make_project

on_postgresql = pytest.mark.once(
    on="postgresql", because="who chooses what is the simulation's; on SQLite the demo and the README's walk simulate"
)
OPTIONS = ("candidate-0", "candidate-1", "candidate-2", "candidate-3", "none")


def _study(*, questions: int, size: int, double_seats: int) -> Study:
    project = make_project()
    for number in range(questions):
        make_instance(project, f"vase-{number}", reference={"right": OPTIONS[number % 5]})
    return launch_study(project, surveys={"size": size, "double_seats": double_seats})


@pytest.mark.django_db
@on_postgresql
def test_a_crowd_of_stated_skill_gives_exactly_the_answers_wanted() -> None:
    # 120 questions: 3 surveys of 20 with two seats, 3 with one: 9 seats, 180 answers.
    study = _study(questions=120, size=20, double_seats=3)

    said = StringIO()
    call_command("simulate", study.slug, annotators=12, accuracy=0.8, seed="crowd", stdout=said)

    assert Response.objects.filter(study=study).count() == 180
    assert not Seat.objects.filter(study=study, filled_at=None).exists()
    per_question = Response.objects.values("question").annotate(answers=Count("pk"), people=Count("annotator"))
    assert sorted(row["answers"] for row in per_question) == [1] * 60 + [2] * 60
    assert all(row["people"] == row["answers"] for row in per_question)
    right = sum(
        response.choice == response.question.instance.reference["right"]
        for response in Response.objects.select_related("question__instance")
    )
    # A binomial share of 180 at 0.8 has a standard deviation of sqrt(0.8 * 0.2 / 180) = 0.030; four of them to each
    # side hold 99.99 % of all seeds.
    assert 0.681 < right / 180 < 0.919
    assert f"Right answers: {right} of 180" in said.getvalue()
    # Whoever came tenth found nothing left, and nobody came after that.
    assert "Turned away: 1 (" in said.getvalue()


@pytest.mark.django_db
@on_postgresql
def test_answers_that_are_not_right_go_to_every_other_option() -> None:
    study = _study(questions=60, size=60, double_seats=0)

    call_command("simulate", study.slug, annotators=1, accuracy=0.0, stdout=StringIO())

    chosen = Response.objects.values("choice").annotate(times=Count("pk"))
    # Each of five options is wrong for 48 of 60 questions and then taken once in four: 12 times, s.d. 3.
    assert {row["choice"] for row in chosen} == set(OPTIONS)
    assert all(1 <= row["times"] <= 24 for row in chosen)


@pytest.mark.django_db(transaction=True)
def test_annotators_over_http_do_the_same(live_server: LiveServer) -> None:
    study = _study(questions=10, size=10, double_seats=1)

    said = StringIO()
    call_command("simulate", study.slug, annotators=2, accuracy=1.0, url=live_server.url, stdout=said)

    assert Response.objects.filter(study=study).count() == 20
    assert re.search(r"Right answers: 20 of 20 ", said.getvalue())
    for decision in Decision.objects.select_related("question__instance"):
        right = decision.question.instance.reference["right"]
        assert decision.winner == ("" if right == "none" else right)
