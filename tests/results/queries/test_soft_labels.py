"""Soft labels: shares of answers, and what a model of annotators makes of them."""

import pytest

from annotation.models import Response
from results.exporting.erasure import NO_POSTERIOR
from results.exporting.rows import decision_record
from results.queries.exports import soft_labels as module
from results.queries.exports.export_rows import decided_questions, decisions_after, exported_rows
from results.queries.exports.soft_labels import soft_labels
from studies.models import Study
from tests.factories import answer, draw_instance, make_launched, make_project, make_study, questions, sit_down

pytestmark = pytest.mark.django_db
PEOPLE = ("ann", "ben", "cleo")


@pytest.fixture
def study() -> Study:
    """Ann and Ben agree about three questions, Cleo differs about the third; the fourth has two answers."""
    project = make_project()
    for number in range(1, 5):
        draw_instance(project, number)
    study = make_launched(make_study(project, answers=3), seats=3)
    sessions = {person: sit_down(study, person) for person in PEOPLE}
    said = [("none",) * 3, ("candidate-0",) * 3, ("none", "none", "candidate-0"), ("none", "candidate-0")]
    for question, choices in zip(questions(study), said, strict=True):
        for person, choice in zip(PEOPLE, choices, strict=False):
            answer(sessions[person], question, choice)
    return study


def test_shares_are_those_of_the_counted_answers(study: Study) -> None:
    records = [decision_record(row) for row in decided_questions(study)]
    assert [record["soft_labels"] for record in records] == [
        {"none": 1.0},
        {"candidate-0": 1.0},
        {"candidate-0": 0.333333, "none": 0.666667},
        {"candidate-0": 0.5, "none": 0.5},
    ]


def test_the_posterior_weighs_annotators_and_leaves_out_questions_with_too_few_answers(study: Study) -> None:
    rows = list(decided_questions(study))
    third, fourth = rows[2], rows[3]
    assert third.posterior_method == "glad"
    assert sum(third.posterior.values()) == pytest.approx(1, abs=1e-3)
    # Two who were always with the majority against one who was not once.
    assert third.posterior["none"] > 2 / 3
    assert third.difficulty is not None
    assert rows[0].difficulty is not None
    assert third.difficulty > rows[0].difficulty
    assert (fourth.posterior, fourth.posterior_method, fourth.difficulty) == tuple(NO_POSTERIOR.values())


def test_answers_that_do_not_count_have_no_weight(study: Study) -> None:
    first = questions(study)[2]
    one = Response.objects.filter(question=first).values("pk")[:1]
    Response.objects.filter(pk__in=[row["pk"] for row in one]).update(left_out="excluded")
    assert first.pk not in soft_labels(study)


def test_accepted_items_have_the_posterior_of_their_question(study: Study) -> None:
    of_question = {row.key: row.posterior for row in decided_questions(study)}
    items = list(exported_rows("instances", study))
    assert items
    assert [item.posterior for item in items] == [of_question[item.key] for item in items]


def test_a_study_with_too_many_answers_has_none(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_MODELLED", 10)
    assert soft_labels(study) == {}


def test_a_page_of_the_api_estimates_nothing(study: Study) -> None:
    assert {row.posterior_method for _, row in decisions_after(study, after=None, limit=9)} == {""}
