"""Gold questions from another study, and sentences about those that cannot be."""

from typing import Any

import pytest

from annotation.actions.deciding.adjudication import settle
from annotation.actions.launching.launch import launch, launch_warnings, plan
from annotation.actions.removing.retire_questions import put_back_instances, take_out, take_out_instances
from annotation.models import Response
from results.queries.people.checks import check_questions
from studies.errors import StudyError
from studies.models import Project, Question, Study
from tests.annotation.checking.test_checks_of_seats import open_slots, value_of
from tests.annotation.test_pipeline import launch_file, make_pipeline_project
from tests.annotation.test_responses import send
from tests.factories import NOON, TESTS, arrive_at_work, create_draft, launch_study, make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def pilot(project: Project) -> Study:
    """A study with three questions accepted with "candidate-2", and one that somebody has settled with "none"."""
    study = launch_study(project, study="pilot", surveys={"size": 34})
    session = arrive_at_work(study)
    for slot in open_slots(session)[:3]:
        send(session, slot, value_of(session, slot, "candidate-2"))
    other = study.questions.exclude(responses__in=Response.objects.all()).first()
    assert other is not None
    settle(question=other, choice="none", by=make_person("olga"), note="", now=NOON)
    return study


def test_gold_are_accepted_and_settled_questions_with_their_decision_as_right_answer(pilot: Study) -> None:
    draft = create_draft(pilot.project, study="main", checks={"gold": {"per_survey": 4, "from": "pilot"}})
    assert plan(draft, now=NOON).questions == 30
    launch(study=draft, by=TESTS, now=NOON)
    gold = Question.with_checks.filter(study=draft, check_type="gold")
    assert sorted(gold.values_list("right", flat=True)) == ["candidate-2", "candidate-2", "candidate-2", "none"]
    assert draft.questions.count() == 30
    assert not draft.questions.filter(instance__in=gold.values("instance")).exists()
    sources = Question.objects.in_bulk(list(gold.values_list("source_id", flat=True)))
    assert {each.content == sources[each.source_id].content for each in gold} == {True}


def test_gold_from_a_study_with_more_kinds_takes_only_questions_of_its_own_kind(db: None) -> None:
    project, olga = make_pipeline_project(6), make_person("olga")
    parts = [{"kind": "best_of_n"}, {"kind": "image_to_text", "ask": {"images": ["image"]}}]
    pilot = launch_file(project, {"study": "pilot", "parts": parts, "purpose": "filter", "rule": "majority-v1"})
    decided = [
        ("vase-0", "image_to_text", "caption"),
        ("vase-1", "image_to_text", "caption"),
        ("vase-1", "best_of_n", "candidate-1"),
        ("vase-2", "best_of_n", "candidate-2"),
    ]
    for key, kind, choice in decided:
        question = pilot.questions.get(instance__key=key, kind=kind)
        settle(question=question, choice=choice, by=olga, note="", now=NOON)
    main = launch_study(project, study="main", instances=6, checks={"gold": {"per_survey": 2, "from": "pilot"}})
    gold = Question.with_checks.filter(study=main, check_type="gold").order_by("instance")
    assert list(gold.values_list("instance__key", "kind", "right")) == [
        ("vase-1", "best_of_n", "candidate-1"),
        ("vase-2", "best_of_n", "candidate-2"),
    ]
    assert main.questions.count() == 4


@pytest.mark.parametrize(
    ("gold", "design", "sentence"),
    [
        (
            {"per_survey": 5, "from": "pilot"},
            {},
            "needs 5 instances with settled or accepted questions in study pilot, and it has 4",
        ),
        ({"per_survey": 1, "from": "nothing"}, {}, "names nothing, but project vases has no such study."),
        (
            {"per_survey": 1, "from": "pilot"},
            {"kind": "rating", "ask": {"images": ["candidate"]}},
            "which asks no questions of rating.",
        ),
        (
            {"per_survey": 1, "from": "pilot"},
            {"ask": {"caption": "caption"}},
            "whose questions of best_of_n have another `ask`.",
        ),
        (
            {"per_survey": 1, "questions": [{"instance": "vase-99", "right": "none"}]},
            {},
            "`checks.gold` names the instance vase-99, which project vases does not have.",
        ),
        (
            {"per_survey": 1, "questions": [{"instance": "vase-1", "right": "candidate-9"}]},
            {},
            "`checks.gold` says candidate-9 is right about vase-1; its options are candidate-0,",
        ),
    ],
)
def test_gold_that_cannot_be_is_refused_with_a_sentence_and_nothing_is_launched(
    pilot: Study, gold: dict[str, Any], design: dict[str, Any], sentence: str
) -> None:
    draft = create_draft(pilot.project, study="main", checks={"gold": gold}, **design)
    with pytest.raises(StudyError, match=sentence.replace("(", r"\(")):
        launch(study=draft, by=TESTS, now=NOON)
    draft.refresh_from_db()
    assert draft.state == "draft"


def test_an_instance_that_is_taken_out_is_not_asked_as_gold_either_until_it_is_put_back(pilot: Study) -> None:
    draft = create_draft(pilot.project, study="main", answers=3, checks={"gold": {"per_survey": 4, "from": "pilot"}})
    launch(study=draft, by=TESTS, now=NOON)
    gold = Question.with_checks.filter(study=draft, check_type="gold").order_by("pk")
    session = arrive_at_work(draft, "dora")
    about: dict[str, Any] = {"project": pilot.project, "instances": [gold[0].instance_id], "by": TESTS, "now": NOON}
    assert gold[0].pk in {slot.question_id for slot in open_slots(session)}
    take_out_instances(**about, reason="Somebody objects to the photo.")
    assert gold[0].pk not in {slot.question_id for slot in open_slots(session)}
    assert gold[0].pk not in {slot.question_id for slot in open_slots(arrive_at_work(draft, "ben"))}
    put_back_instances(**about)
    assert gold[0].pk in {slot.question_id for slot in open_slots(arrive_at_work(draft, "cora"))}


def test_who_had_a_question_in_the_pilot_does_not_get_it_as_gold(pilot: Study) -> None:
    draft = create_draft(pilot.project, study="main", answers=2, checks={"gold": {"per_survey": 4, "from": "pilot"}})
    launch(study=draft, by=TESTS, now=NOON)
    # The person of the pilot had all of its questions.
    again = arrive_at_work(draft, "ann")
    other = arrive_at_work(draft, "somebody else")
    gold = [sum(slot.is_check for slot in open_slots(session)) for session in (again, other)]
    assert gold == [0, 4]


def test_a_decision_that_changes_after_the_launch_is_shown_beside_the_right_answer(pilot: Study) -> None:
    main = launch_study(pilot.project, study="main", checks={"gold": {"per_survey": 4, "from": "pilot"}})
    assert {line.decided for line in check_questions(main)} == {None}
    settled = pilot.questions.get(decision__settled_choice="none")
    accepted = pilot.questions.filter(decision__winner="candidate-2").first()
    assert accepted is not None
    settle(question=settled, choice="candidate-3", by=make_person("pia"), note="", now=NOON)
    take_out(question=accepted, reason="The photo shows a face.", by=TESTS, now=NOON)
    changed = [line for line in check_questions(main) if line.decided is not None]
    found = {line.question.source_id: (line.right, line.decided) for line in changed}
    assert found == {
        settled.pk: ("None of these", "Image 4"),
        accepted.pk: ("Image 3", ""),
    }


@pytest.mark.parametrize(
    ("per_survey", "size", "people"),
    [
        # Four gold instances and 30 others in one survey with two places: 2 people each.
        (4, 34, None),
        # 30 in surveys of 5: 6 surveys with 2 gold questions, for 2 people each: 24 places for 4 instances.
        (2, 5, 6),
    ],
)
def test_gold_questions_that_far_more_people_get_than_others_are_warned_about(
    pilot: Study, per_survey: int, size: int, people: int | None
) -> None:
    gold = {"per_survey": per_survey, "from": "pilot"}
    told = launch_warnings(
        create_draft(pilot.project, study="main", answers=2, surveys={"size": size}, checks={"gold": gold})
    )
    sentence = f"Each gold question will be asked of about {people} people, and other questions of 2."
    assert [each.startswith(sentence) for each in told] == ([] if people is None else [True])
