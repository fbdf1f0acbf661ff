"""One study feeds the next: BiVLC's step 3, step 4 and baseline in small."""

import io
from typing import Any

import pytest
import yaml
from django.core.management import call_command

from annotation.actions.answering import advance_session, responses
from annotation.actions.deciding import adjudication
from annotation.actions.launching import launch
from annotation.errors import BadAnswer, NothingLeft
from annotation.models import Decision, Response, Session, SessionState, Slot
from studies.actions.studies import create_study
from studies.errors import StudyError
from studies.models import Instance, InstanceImage, Project, Question, Study, Survey
from tests.annotation.test_responses import next_slot, send
from tests.factories import (
    CONTACT,
    NOON,
    TESTS,
    arrive,
    arrive_at_work,
    create_draft,
    fresh,
    launch_study,
    make_image,
    make_instance,
    make_person,
    make_project,
)
from tests.removing import exclude, include

pytestmark = pytest.mark.django_db
SECOND = "candidate-1"
STEP_4: dict[str, Any] = {"study": "step-4", "kind": "ambiguity", "instances": {"from": "best-vase"}}


def make_pipeline_project(instances: int) -> Project:
    """Return a project whose instances have an original image beside their candidates."""
    project = make_project()
    for number in range(instances):
        instance = make_instance(project, f"vase-{number}")
        InstanceImage.objects.create(instance=instance, role="image", filename="o.png", image=make_image(f"o{number}"))
    return project


def answer_all(session: Session, choose: Any) -> None:
    """Answer every question of a session; `choose` is the option's key, or a function of the question."""
    while slots := responses.open_slots(session=session, limit=1):
        question = slots[0].question
        key = choose(question) if callable(choose) else choose
        order = responses.order_for(session=session, question=question)
        if slots[0].part > session.part_begun:
            Session.objects.filter(pk=session.pk).update(part_begun=slots[0].part)
        send(session, slots[0], key if key in {"none", "both"} else str(order.index(key) + 1))


def make_step_4(project: Project, **design: Any) -> Study:
    return launch_file(project, STEP_4 | design)


def launch_file(project: Project, file: dict[str, Any]) -> Study:
    source = yaml.safe_dump({"title": "T", "contact": CONTACT} | file)
    study = create_study(project=project, source=source, by=TESTS, now=NOON)
    launch.launch(study=study, by=TESTS, now=NOON)
    return study


def test_what_step_3_accepts_can_be_asked_about_at_once_and_what_it_rejects_never() -> None:
    project = make_pipeline_project(2)
    step_3 = launch_study(project, instances=2)
    step_4 = make_step_4(project)
    with pytest.raises(NothingLeft):
        arrive(step_4, "ben")
    session = arrive_at_work(step_3, "ann")
    first = next_slot(session)
    send(session, first, "1")
    assert arrive_at_work(step_4, "ben").questions_total == 1
    asked = Question.objects.get(study=step_4)
    assert (asked.instance, asked.drawn_from) == (first.question.instance, first.question)
    chosen = Response.objects.get().choice
    image = next(option["image"] for option in first.question.content["options"] if option["key"] == chosen)
    assert {option["key"]: option["image"] for option in asked.content["options"]}["generated"] == image
    send(session, next_slot(session), "none")
    with pytest.raises(NothingLeft):
        arrive(step_4, "cleo")


@pytest.mark.parametrize("last", ["best_of_n", "image_to_text"])
def test_what_one_of_several_questions_adds_is_handed_on_whichever_is_decided_last(last: str) -> None:
    parts = [{"kind": "best_of_n"}, {"kind": "image_to_text", "ask": {"images": ["image"]}}]
    parts = parts if last == "image_to_text" else parts[::-1]
    file = {"study": "best-vase", "parts": parts, "purpose": "filter", "rule": "majority-v1"}
    project = make_pipeline_project(3)
    first = launch_file(project, file)
    step_4 = make_step_4(project, surveys={"size": 3})
    answer_all(arrive_at_work(first, "ann"), lambda question: SECOND if question.kind == "best_of_n" else "caption")
    drawn = arrive_at_work(step_4, "ben")
    assert drawn.questions_total == 3
    asked = Question.objects.filter(study=step_4).order_by("instance")
    options = [{option["key"]: option["image"] for option in question.content["options"]} for question in asked]
    won = InstanceImage.objects.filter(role="candidate", position=1).order_by("instance")
    assert [each["generated"] for each in options] == [image.image_id for image in won]
    # What ann said is taken out of the counts and back: the questions are undone and stand again.
    for removed in (exclude, include):
        removed(project, "ann")
        assert [question.undone_at is None for question in asked.all()] == [removed is include] * 3


def test_launching_says_how_much_is_asked_and_that_a_study_that_waits_for_another_has_no_place_yet() -> None:
    project = make_pipeline_project(1)
    create_draft(project, instances=1)
    source = yaml.safe_dump({"title": "T", "contact": CONTACT} | STEP_4)
    create_study(project=project, source=source, by=TESTS, now=NOON)
    for slug, told in (
        ("best-vase", "1 question in 1 survey, 1 place, 1 answer wanted"),
        ("step-4", "0 questions in 0 surveys, 0 places, 0 answers wanted"),
    ):
        said = io.StringIO()
        call_command("launch_study", slug, stdout=said)
        assert told in said.getvalue()


def test_nothing_is_drawn_twice() -> None:
    project = make_pipeline_project(4)
    answer_all(arrive_at_work(launch_study(project, instances=4), "ann"), "candidate-0")
    step_4 = make_step_4(project, surveys={"size": 3})
    sizes = [arrive(step_4, person).questions_total for person in ("ben", "cleo")]
    assert sizes == [3, 1]
    assert Question.objects.filter(study=step_4).count() == 4
    with pytest.raises(NothingLeft):
        arrive(step_4, "dora")


def test_the_baseline_asks_four_questions_about_each_sampled_instance_in_two_parts() -> None:
    project = make_pipeline_project(6)
    answer_all(arrive_at_work(launch_study(project, instances=6), "ann"), "candidate-1")
    answer_all(arrive_at_work(make_step_4(project), "ben"), "original")
    baseline = launch_file(
        project,
        {
            "study": "baseline",
            "parts": [{"kind": "image_to_text"}, {"kind": "text_to_image"}],
            "instances": {"from": "step-4", "sample": 4},
            "surveys": {"size": 8},
        },
    )
    assert Survey.objects.filter(study=baseline).count() == 2
    for survey in Survey.objects.filter(study=baseline):
        asked = [index.question for index in survey.survey_questions.all()]
        assert [question.kind for question in asked] == ["image_to_text"] * 4 + ["text_to_image"] * 4
        assert len({question.instance_id for question in asked}) == 2
    rights = set(Question.objects.filter(study=baseline).values_list("kind", "variant", "right"))
    assert rights == {
        ("image_to_text", "image", "caption"),
        ("image_to_text", "negative_image", "negative_caption"),
        ("text_to_image", "caption", "image"),
        ("text_to_image", "negative_caption", "negative_image"),
    }
    session = arrive_at_work(baseline, "cleo")
    answer_all(session, lambda question: question.right)
    assert fresh(session).state == SessionState.FINISHED


def test_a_sample_larger_than_what_there_is_or_a_feed_that_is_not_there_stops_the_launch() -> None:
    project = make_pipeline_project(2)
    with pytest.raises(StudyError, match="has no such study"):
        make_step_4(project)
    answer_all(arrive_at_work(launch_study(project, instances=2), "ann"), "candidate-1")
    with pytest.raises(StudyError, match="A sample of 3 instances cannot be drawn from 2"):
        launch_file(project, {"study": "s", "kind": "ambiguity", "instances": {"from": "best-vase", "sample": 3}})


@pytest.mark.parametrize(
    ("answers", "state", "winner"), [([0, 1, 2, 3], "undecided", ""), ([0, 1, 1], "accepted", "candidate-1")]
)
def test_an_undecided_question_gets_one_more_answer_at_a_time(answers: list[int], state: str, winner: str) -> None:
    study = launch_study(instances=1, answers=2, max_answers=4)
    for number, candidate in enumerate(answers):
        assert Slot.objects.count() == max(number, 2)
        answer_all(arrive_at_work(study, f"person-{number}"), f"candidate-{candidate}")
    decision = Decision.objects.get()
    assert (decision.state, decision.winner, decision.answers) == (state, winner, len(answers))
    with pytest.raises(NothingLeft):
        arrive(study, "emil")


def test_whoever_cannot_answer_again_what_is_undecided_is_asked_about_what_was_accepted() -> None:
    project = make_pipeline_project(2)
    step_3 = launch_study(project, instances=2)
    one_by_one = {"answers": 2, "max_answers": 3, "surveys": {"size": 1}}
    step_4 = make_step_4(project, recruitment={"sessions_per_annotator": 0}, **one_by_one)
    feeder = arrive_at_work(step_3, "feeder")
    send(feeder, next_slot(feeder))
    for person, choice in (("ann", "original"), ("ben", "generated")):
        answer_all(arrive_at_work(step_4, person), choice)
    with pytest.raises(NothingLeft):
        arrive(step_4, "ann", session="too early")
    send(feeder, next_slot(feeder))
    assert arrive(step_4, "ann", session="again").questions_total == 1
    assert step_4.questions.count() == 2


def settle(question: Question, choice: str, by: Any = TESTS, note: str = "") -> Decision:
    return adjudication.settle(question=question, choice=choice, by=by, note=note, now=NOON)


def test_a_researcher_settles_an_undecided_question_and_it_is_recorded_as_that() -> None:
    study, rita = launch_study(instances=1, answers=2), make_person("rita")
    for person, choice in (("ann", "candidate-0"), ("ben", "none")):
        answer_all(arrive_at_work(study, person), choice)
    question = Question.objects.get()
    with pytest.raises(adjudication.CannotSettle, match="is not an option"):
        settle(question, "candidate-7")
    settled = settle(question, "candidate-0", rita, "Clear.")
    assert (settled.state, settled.winner) == ("accepted", "candidate-0")
    assert (settled.settled_by, settled.settled_note) == (rita, "Clear.")
    assert settled.votes == {"candidate-0": 1, "none": 1}
    back = adjudication.unsettle(question=question, by=rita, now=NOON)
    assert (back.state, back.winner, back.settled_by) == ("undecided", "", None)


def test_an_answer_after_a_settlement_is_counted_and_changes_nothing_and_a_decided_question_cannot_be_settled() -> None:
    study = launch_study(instances=2, answers=2)
    settled, decided = study.questions.order_by("pk")
    answer_all(arrive_at_work(study, "ann"), "none")
    settle(settled, "candidate-0")
    answer_all(arrive_at_work(study, "ben"), "none")
    decision = Decision.objects.get(question=settled)
    assert (decision.votes, decision.answers) == ({"none": 2}, 2)
    assert (decision.state, decision.winner, decision.decided_at) == ("accepted", "candidate-0", NOON)
    with pytest.raises(adjudication.CannotSettle, match="already decided"):
        settle(decided, "candidate-0")


def test_instances_of_a_pipeline_know_where_they_come_from() -> None:
    project = make_pipeline_project(1)
    answer_all(arrive_at_work(launch_study(project, instances=1), "ann"), "candidate-3")
    answer_all(arrive_at_work(make_step_4(project), "ben"), "original")
    history = Question.objects.filter(instance=Instance.objects.get()).order_by("id")
    assert list(history.values_list("kind", "decision__state")) == [
        ("best_of_n", "accepted"),
        ("ambiguity", "accepted"),
    ]
    assert history[1].won["negative_image"]["key"] == "candidate-3"


def two_parts() -> Session:
    """Return a session at the first of four questions, two in each of two parts."""
    project = make_project()
    instance = make_instance(project, "pair", candidates=0)
    for role in ("image", "negative_image"):
        InstanceImage.objects.create(instance=instance, role=role, filename=f"{role}.png", image=make_image(role))
    parts = [{"kind": "image_to_text"}, {"kind": "text_to_image"}]
    return arrive_at_work(launch_file(project, {"study": "parts", "parts": parts}))


def test_the_second_part_does_not_begin_while_something_is_left_of_the_first() -> None:
    session = two_parts()
    slots = responses.open_slots(session=session, limit=4)
    assert [slot.part for slot in slots] == [0, 0, 1, 1]
    with pytest.raises(BadAnswer, match="a part that you have not started"):
        send(session, slots[2])
    assert (fresh(session).questions_answered, Response.objects.count()) == (0, 0)
    for number, slot in enumerate(slots[:2]):
        send(session, slot)
        advance_session.begin(session=session, part=1, now=NOON)
        assert session.part_begun == number
    for slot in slots[2:]:
        send(session, slot)
    assert fresh(session).state == SessionState.FINISHED
