"""Finding the image that a description is about: imported descriptions, and those that a study has just collected.

How descriptions are written in the feeding study is made up here.
"""

import random
import uuid
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from types import MappingProxyType
from typing import Any, ClassVar

import pytest

from annotation.actions import leading_on, responses, sessions
from annotation.actions.adjudication import settle, unsettle
from annotation.actions.fates import fates_of
from annotation.actions.skipping import leave_out
from annotation.errors import AnnotationError, NothingLeft
from annotation.models import Decision, Response, Session, SessionState, Slot
from results.actions.pseudonyms import name_annotators
from results.queries.annotators import persons_answers
from results.queries.answers import answer_details
from results.queries.kinds import answerable_in
from results.queries.pipeline import funnel
from results.queries.reporting import study_facts
from results.reports.agreement import reliabilities
from studies import rules
from studies.actions.questions import practice_questions, sample_questions
from studies.descriptions import TARGETS, role_of
from studies.errors import StudyError
from studies.kinds import KINDS, Answer, Built, InstanceFacts, NotAnAnswer, Roles, Shown, get_kind
from studies.kinds.base import Kind, image_option, picture_of
from studies.models import Instance, InstanceImage, Project, Question, Study
from tests.factories import (
    NOON,
    arrive,
    arrive_at_work,
    launch_study,
    make_image,
    make_instance,
    make_project,
    redesign,
)
from tests.results.describing import launched
from tests.together import at_once

TEN = {"images": "candidate"}


class Write(Kind):
    """A free text about one of the images of a set: always its third."""

    name = "write_about"
    title = "Write"
    instructions = "Write it down."
    rule = "described-v1"
    collects = True
    ask_schema: ClassVar[Mapping[str, Any]] = {"type": "object", "additionalProperties": False, "properties": {}}
    has_one_label = False
    TARGET = 2

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles(images=["candidate"])

    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[Built]:
        target = instance.images["candidate"][self.TARGET]
        return [Built("", {"image": image_option("target", target, instance=instance.key)})]

    def shown(self, content: Mapping[str, Any]) -> Shown:
        return Shown(pictures=[picture_of(content["image"])])

    def parse(self, content: Mapping[str, Any], order: Sequence[str], posted: Mapping[str, str]) -> Answer:
        if not posted.get("text"):
            raise NotAnAnswer("Write something.")
        return Answer({"text": posted["text"]})

    def posted(self, content: Mapping[str, Any], order: Sequence[str], value: Any) -> Mapping[str, str]:
        return {"text": value["text"]}

    def hands_on(self, content: Mapping[str, Any], answer: Any) -> Mapping[str, Any] | None:
        return None if answer["text"] == "not possible" else {"text": answer["text"], "target": self.TARGET}

    def made_up(
        self, content: Mapping[str, Any], order: Sequence[str], *, dice: random.Random, label: str = ""
    ) -> Mapping[str, str]:
        return {"text": f"number {dice.randint(1, 9)}"}


@pytest.fixture(autouse=True)
def _made_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(KINDS, Write.name, f"{__name__}.{Write.__name__}")
    yield
    get_kind.cache_clear()
    rules.get_rule.cache_clear()


def make_set(
    project: Project, key: str, descriptions: Mapping[str, int | None] = MappingProxyType({}), *, type: str = "static"
) -> Instance:
    """Make a set of ten images with imported descriptions: text -> the place of its image, None where it is unknown."""
    captions = {role_of(number): text for number, text in enumerate(descriptions, start=1)}
    targets = [target for target in descriptions.values() if target is not None]
    reference = {TARGETS: targets} if targets else {}
    return make_instance(
        project, key, candidates=10, type=type, captions=captions, original_captions=captions, reference=reference
    )


def find_study(project: Project, **design: Any) -> Study:
    asked = {"study": "find", "kind": "retrieve", "ask": TEN, "surveys": {"size": 1}}
    return launch_study(project, instances=0, **asked | design)


def write_study(project: Project, **design: Any) -> Study:
    return launch_study(project, instances=0, **{"study": "write", "kind": "write_about"} | design)


def send(session: Session, **posted: str) -> responses.Receipt:
    (slot,) = responses.open_slots(session=session, limit=1)
    sent = responses.Sent(slot=slot.pk, submission=uuid.uuid4(), posted=posted)
    return responses.submit(token=session.token, sent=sent, now=NOON)


def choose(session: Session, *, place: int) -> responses.Receipt:
    """Choose the image at `place` of the set, from 0."""
    (slot,) = responses.open_slots(session=session, limit=1)
    order = responses.order_for(session=session, question=slot.question)
    return send(session, choice=str(order.index(f"image_{place + 1}") + 1))


def states_of(study: Study) -> list[str]:
    """Return what has been decided about each question, in the order in which they were made."""
    decisions = Decision.objects.filter(study=study).order_by("question__source_id", "question")
    return [decision.state for decision in decisions]


@pytest.mark.django_db
def test_every_imported_description_whose_image_is_known_is_a_question() -> None:
    project = make_project()
    make_set(project, "kitchen", {"The full one.": 4, "The empty one.": 9})
    make_set(project, "street", {"Nobody tells which one.": None}, type="video")
    find = find_study(project)
    asked = Question.objects.filter(study=find)
    assert [(each.source_type, each.source_id, each.source, each.right) for each in asked] == [
        ("description", 1, {"text": "The full one.", "target": 4}, "image_5"),
        ("description", 2, {"text": "The empty one.", "target": 9}, "image_10"),
    ]
    assert [each.content["caption"] for each in asked] == ["The full one.", "The empty one."]
    session = arrive_at_work(find, "ann")
    choose(session, place=4 if session.seat.slots.get().question == asked[0] else 9)
    assert Response.objects.get().choice == Response.objects.get().question.right


@pytest.mark.django_db
def test_a_study_of_sets_without_a_description_cannot_be_launched() -> None:
    project = make_project()
    make_set(project, "kitchen")
    with pytest.raises(StudyError, match="has a description whose image is known"):
        find_study(project)


@pytest.mark.django_db
def test_its_preview_and_its_practice_ask_about_imported_descriptions() -> None:
    project = make_project()
    for key in ("kitchen", "street"):
        make_set(project, key, {f"The first of {key}.": 0, f"The last of {key}.": 9})
    practice = {"pass": 1, "questions": [{"instance": "street", "right": "image_1"}]}
    find = find_study(project, practice=practice)
    assert [each["content"]["caption"] for each in sample_questions(find, per_part=3)] == [
        "The first of kitchen.",
        "The last of kitchen.",
    ]
    (tried,) = practice_questions(find)
    assert tried["content"]["caption"] == "The first of street."


@pytest.mark.django_db
def test_what_somebody_writes_is_found_by_somebody_else_and_never_by_its_author() -> None:
    project = make_project()
    make_set(project, "kitchen", type="video")
    write = write_study(project)
    find = find_study(project, selection={"from": "write"})
    send(arrive_at_work(write, "ann"), text="The one that is half open.")
    with pytest.raises(NothingLeft):
        arrive_at_work(find, "ann")
    session = arrive_at_work(find, "ben")
    question = Question.objects.get(study=find)
    assert (question.source, question.right) == ({"text": "The one that is half open.", "target": 2}, "image_3")
    assert responses.order_for(session=session, question=question) == [f"image_{place}" for place in range(1, 11)]
    choose(session, place=2)
    assert Decision.objects.get(question=question).state == "accepted"
    assert Decision.objects.get(question__study=write).state == "accepted"


@pytest.mark.django_db
def test_two_of_three_asks_two_first_and_a_third_only_where_one_of_them_found_it() -> None:
    project = make_project()
    make_set(project, "kitchen", {"Both find it.": 1, "Nobody finds it.": 2, "One of two finds it.": 3})
    find = find_study(project, rule="retrieved-2-of-3-v1", answers=2, max_answers=3, surveys={"size": 100})
    found = {1: (1, 1), 2: (5, 6), 3: (3, 7)}
    for turn, person in enumerate(("ann", "ben")):
        session = arrive_at_work(find, person)
        for _ in range(3):
            (slot,) = responses.open_slots(session=session, limit=1)
            choose(session, place=found[slot.question.source_id][turn])
    assert states_of(find) == ["accepted", "rejected", "undecided"]
    session = arrive_at_work(find, "cleo")
    assert [slot.question.source_id for slot in responses.open_slots(session=session, limit=9)] == [3]
    choose(session, place=3)
    assert states_of(find) == ["accepted", "rejected", "accepted"]
    for person in ("ann", "dora"):
        with pytest.raises(AnnotationError):
            arrive_at_work(find, person, session=f"again-{person}")


@pytest.mark.django_db
def test_what_two_people_left_open_a_researcher_settles_and_the_description_follows() -> None:
    project = make_project()
    make_set(project, "kitchen")
    write = write_study(project)
    find = find_study(project, selection={"from": "write"}, rule="retrieved-2-of-3-v1", answers=2, max_answers=2)
    send(arrive_at_work(write, "ann"), text="The one that is half open.")
    for person, place in (("ben", 2), ("cleo", 7)):
        choose(arrive_at_work(find, person), place=place)
    assert (states_of(find), states_of(write)) == (["undecided"], ["undecided"])
    question = Question.objects.get(study=find)
    # The third image is the one that was described.
    for choice, outcome in (("image_3", "accepted"), ("image_8", "rejected")):
        settle(question=question, choice=choice, by="test", note="", now=NOON)
        assert (states_of(find), states_of(write)) == ([outcome], [outcome])
        unsettle(question=question, by="test", now=NOON)
        assert (states_of(find), states_of(write)) == (["undecided"], ["undecided"])


@pytest.mark.django_db
def test_a_description_that_nobody_found_is_written_anew_by_somebody_else_until_there_were_enough() -> None:
    project = make_project()
    make_set(project, "kitchen")
    write = write_study(project, max_answers=3)
    find = find_study(project, selection={"from": "write"})
    for author, finder in (("ann", "ben"), ("cleo", "dora"), ("eve", "finn")):
        send(arrive_at_work(write, author), text=f"What {author} wrote.")
        assert states_of(write) == ["undecided"]
        with pytest.raises(NothingLeft):
            arrive_at_work(write, "gil", session=f"gil-after-{author}")
        choose(arrive_at_work(find, finder), place=7)
        with pytest.raises(AnnotationError):
            arrive_at_work(write, author, session=f"{author}-again")
    assert states_of(write) == ["rejected"]
    assert states_of(find) == ["rejected"] * 3
    with pytest.raises(NothingLeft):
        arrive_at_work(write, "gil")


@pytest.mark.django_db
def test_where_somebody_cannot_describe_it_somebody_else_is_asked_at_once() -> None:
    project = make_project()
    make_set(project, "kitchen")
    write = write_study(project, max_answers=2)
    send(arrive_at_work(write, "ann"), text="not possible")
    assert Decision.objects.get(study=write).asks_more
    send(arrive_at_work(write, "ben"), text="not possible")
    assert states_of(write) == ["rejected"]


@pytest.mark.django_db
def test_a_place_that_was_opened_for_others_or_given_back_by_them_is_not_the_authors() -> None:
    project = make_project()
    for key in ("kitchen", "street"):
        make_set(project, key)
    write = write_study(project, surveys={"size": 1})
    find = find_study(project, selection={"from": "write"}, answers=2, surveys={"size": 100})
    for author in ("ann", "ben"):
        send(arrive_at_work(write, author), text=f"What {author} wrote.")
    # Two seats are drawn, with both descriptions each.
    first = arrive_at_work(find, "cleo")
    assert first.questions_total == 2
    sessions.leave(session=first, to=SessionState.GIVEN_UP, now=NOON)
    for author, other in (("ann", "ben"), ("ben", "ann")):
        (slot,) = responses.open_slots(session=arrive_at_work(find, author), limit=9)
        assert slot.question.source == {"text": f"What {other} wrote.", "target": 2}
    # What they left is together in one seat, and nobody has to wait for them.
    assert arrive_at_work(find, "dora").questions_total == 2
    assert Slot.objects.filter(question__study=find).count() == 4


def keys_of(session: Session) -> list[str]:
    """Return the keys of the sets that `session` is asked about, in alphabetical order."""
    return sorted(slot.question.instance.key for slot in responses.open_slots(session=session, limit=99))


def write_everything(study: Study, person: str) -> None:
    session = arrive_at_work(study, person)
    for number in range(session.questions_total):
        send(session, text=f"What {person} wrote, {number}.")


@pytest.mark.django_db
def test_nobody_finds_an_image_in_a_set_that_they_described_though_the_study_file_does_not_say_so() -> None:
    project = make_project()
    for key in ("kitchen", "street"):
        make_set(project, key)
    write = write_study(project, surveys={"size": 1}, answers=2)
    find = find_study(project, selection={"from": "write"}, surveys={"size": 100})
    first = arrive_at_work(write, "ann")
    (described,) = keys_of(first)
    send(first, text="What ann wrote.")
    for turn in range(3):
        send(arrive_at_work(write, f"person-{turn}"), text=f"What person {turn} wrote.")
    assert described not in keys_of(arrive_at_work(find, "ann"))
    assert Question.objects.filter(study=find, instance__key=described).count() == 0


@pytest.mark.django_db
def test_who_looked_at_what_is_described_and_gave_up_does_not_look_for_it() -> None:
    project = make_project()
    for key in ("kitchen", "street"):
        make_set(project, key)
    write = write_study(project, recruitment={"sessions_per_annotator": 0})
    find = find_study(project, selection={"from": "write"}, answers=2, surveys={"size": 100})
    sessions.leave(session=arrive_at_work(write, "eve"), to=SessionState.GIVEN_UP, now=NOON)
    # Who has read the consent page and the instructions has seen nothing yet.
    unseen = arrive(write, "dora")
    sessions.leave(session=unseen, to=SessionState.GIVEN_UP, now=NOON)
    write_everything(write, "ann")
    with pytest.raises(NothingLeft) as error:
        arrive_at_work(find, "eve")
    assert error.value.rule == "not_same_instance"
    assert keys_of(arrive_at_work(find, "dora")) == ["kitchen", "street"]


@pytest.mark.django_db
def test_who_went_on_without_a_question_does_not_look_for_its_image() -> None:
    project = make_project()
    for key in ("kitchen", "street"):
        make_set(project, key)
    write = write_study(project)
    find = find_study(project, selection={"from": "write"}, surveys={"size": 100})
    eve = arrive_at_work(write, "eve")
    slot = responses.open_slots(session=eve, limit=1)[0]
    leave_out(session=eve, slot=slot, images=[], now=NOON)
    send(eve, text="What eve wrote.")
    write_everything(write, "ann")
    with pytest.raises(NothingLeft):
        arrive_at_work(find, "eve")


@pytest.mark.django_db
def test_who_has_a_description_before_them_is_not_shown_its_image_as_somebody_who_describes() -> None:
    project = make_project()
    for key in ("kitchen", "street"):
        make_set(project, key)
    write = write_study(project, surveys={"size": 1}, answers=2)
    find = find_study(project, selection={"from": "write"}, surveys={"size": 1})
    send(arrive_at_work(write, "ann"), text="What ann wrote.")
    finding = arrive_at_work(find, "eve")
    (key,) = keys_of(finding)
    writing = arrive_at_work(write, "eve")
    assert keys_of(writing) == [{"kitchen": "street", "street": "kitchen"}[key]]
    # Once she has found it she may describe the set herself.
    choose(finding, place=2)
    send(writing, text="What eve wrote.")
    redesign(write, recruitment=replace(write.design.recruitment, sessions_per_annotator=0))
    assert keys_of(arrive_at_work(write, "eve", session="again")) == [key]


@pytest.mark.both
@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("finders", [0, 1, 2])
def test_sixteen_who_come_at_once_give_no_answer_too_many_and_the_author_gives_none(finders: int) -> None:
    """finders: 0 where nobody finds the image, 1 where every other person does, 2 where everybody does."""
    project = make_project()
    make_set(project, "kitchen", type="video")
    write = write_study(project)
    find = find_study(project, selection={"from": "write"}, rule="retrieved-2-of-3-v1", answers=2, max_answers=3)
    send(arrive_at_work(write, "author"), text="The one that is half open.")

    def come(number: int) -> str:
        person = "author" if number == 0 else f"person-{number}"
        try:
            session = arrive_at_work(find, person, session=f"{person}-{uuid.uuid4()}")
        except AnnotationError:
            return ""
        choose(session, place=2 if number % 2 < finders else 8)
        return person

    for _ in range(3):
        at_once(*[lambda number=number: come(number) for number in range(16)])
    question = Question.objects.get(study=find)
    answers = list(Response.objects.counted_in(find).values_list("annotator__provider_id", "choice"))
    right = sum(choice == "image_3" for _, choice in answers)
    wrong = len(answers) - right
    assert "author" not in {person for person, _ in answers}
    assert len({person for person, _ in answers}) == len(answers) <= 3
    assert (max(right, wrong), min(right, wrong)) in {(2, 0), (2, 1)}
    assert Decision.objects.get(question=question).state == ("accepted" if right == 2 else "rejected")
    assert Slot.objects.filter(question=question).count() == len(answers)


@pytest.mark.django_db
def test_agreement_is_told_apart_for_sets_at_random_and_for_videos_in_time() -> None:
    project = make_project()
    make_set(project, "still", {"The full one.": 0})
    make_set(project, "film", {"The last but one.": 8}, type="video")
    find = find_study(project, answers=2, surveys={"size": 2})
    # The still is found by one of them; in the film one is a place off.
    said = {"ann": {"still": 0, "film": 8}, "ben": {"still": 9, "film": 9}}
    for person, places in said.items():
        session = arrive_at_work(find, person)
        for _ in range(2):
            (slot,) = responses.open_slots(session=session, limit=1)
            choose(session, place=places[slot.question.instance.key])
    (part,) = study_facts(find).parts
    assert part.answerable.scale.level == "nominal"
    assert [scale.level for scale, _ in part.answerable.apart] == ["interval", "nominal"]
    found = {(each.labels, each.measure): each for each in reliabilities(study_facts(find)) if each.when == "before"}
    titles = ["options", "scale image_1 to image_10, where they have one", "options, where they have no order"]
    assert list(dict.fromkeys(labels for labels, _ in found)) == titles
    for title, n in zip(titles, (2, 1, 1), strict=True):
        assert {each.questions for (labels, _), each in found.items() if labels == title} == {n}
    # Two answers to one question, two values: what is observed is what is expected, so that alpha is 0 by its formula.
    interval = found[titles[1], "Krippendorff's alpha (interval)"]
    assert interval.value == pytest.approx(0)
    assert (titles[2], "Krippendorff's alpha (interval)") not in found


@pytest.mark.both
@pytest.mark.django_db
def test_the_third_answer_is_not_the_authors_either() -> None:
    project = make_project()
    make_set(project, "kitchen")
    write = write_study(project)
    find = find_study(project, selection={"from": "write"}, rule="retrieved-2-of-3-v1", answers=2, max_answers=3)
    send(arrive_at_work(write, "ann"), text="The one that is half open.")
    choose(arrive_at_work(find, "ben"), place=2)
    choose(arrive_at_work(find, "cleo"), place=8)
    with pytest.raises(NothingLeft) as left:
        arrive_at_work(find, "ann")
    assert left.value.rule == "not_author"
    choose(arrive_at_work(find, "dora"), place=2)
    assert states_of(find) == states_of(write) == ["accepted"]


@pytest.mark.django_db
def test_places_in_a_video_are_no_sign_of_choosing_by_place() -> None:
    project = make_project()
    make_set(project, "still", {"The full one.": 0})
    make_set(project, "film", {"The last but one.": 8}, type="video")
    find = find_study(project, surveys={"size": 2})
    session = arrive_at_work(find, "ann")
    for _ in range(2):
        choose(session, place=8)
    kinds = answerable_in(find)
    shown = {each.category[0]: (each.position is None, each.positions) for each in answer_details(find, kinds)}
    assert shown == {"static": (False, 10), "video": (True, 0)}
    name_annotators(project=project)
    assert sorted((one.position is None, one.positions) for one in persons_answers(find, kinds)) == [
        (False, 10),
        (True, 0),
    ]


@pytest.mark.both
@pytest.mark.django_db
def test_the_author_of_what_is_undecided_is_asked_about_what_is_new() -> None:
    project = make_project()
    for key in ("kitchen", "street"):
        make_set(project, key)
    write = write_study(project, surveys={"size": 1})
    find = find_study(project, selection={"from": "write"}, rule="retrieved-2-of-3-v1", answers=2, max_answers=3)
    send(arrive_at_work(write, "ann"), text="What ann wrote.")
    choose(arrive_at_work(find, "ben"), place=2)
    choose(arrive_at_work(find, "cleo"), place=8)
    send(arrive_at_work(write, "eve"), text="What eve wrote.")
    (slot,) = responses.open_slots(session=arrive_at_work(find, "ann"), limit=9)
    assert slot.question.source == {"text": "What eve wrote.", "target": 2}


@pytest.mark.django_db
def test_what_is_described_in_earnest_is_found_and_whoever_cannot_is_followed_by_somebody_else() -> None:
    project = make_project()
    make_set(project, "kitchen", type="video")
    ask = {"images": "candidate", "targets": 1}
    write = launch_study(
        project, instances=0, study="write", kind="describe", ask=ask, rule="described-v1", max_answers=2
    )
    find = find_study(project, selection={"from": "write"})
    send(arrive_at_work(write, "ann"), text="", not_possible="yes")
    with pytest.raises(NothingLeft):
        arrive_at_work(find, "cleo")
    send(arrive_at_work(write, "ben"), text="The cat looks up and its left paw is not on the table yet.")
    session = arrive_at_work(find, "cleo")
    target = Question.objects.get(study=write).content["target"]
    assert Question.objects.get(study=find).right == f"image_{target + 1}"
    choose(session, place=target)
    assert states_of(write) == states_of(find) == ["accepted"]


@pytest.mark.django_db
def test_whoever_only_measures_accepts_and_rejects_no_description() -> None:
    project = make_project()
    make_set(project, "kitchen")
    write = write_study(project, max_answers=2)
    find = find_study(project, selection={"from": "write"})
    other = find_study(project, study="people", purpose="baseline", selection={"from": "write"})
    send(arrive_at_work(write, "ann"), text="The one that is half open.")
    choose(arrive_at_work(other, "ben"), place=2)
    assert states_of(write) == ["undecided"]
    assert fates_of(Response.objects.filter(study=write)) == {}
    choose(arrive_at_work(find, "cleo"), place=5)
    assert states_of(find) == ["rejected"]
    # So that it is written once more.
    assert Decision.objects.get(study=write).asks_more
    assert list(fates_of(Response.objects.filter(study=write)).values()) == [[rules.State.REJECTED]]


@pytest.mark.django_db
def test_of_a_study_that_asks_for_more_than_descriptions_only_these_are_asked_about() -> None:
    project = make_project()
    made = make_set(project, "kitchen")
    Instance.objects.update(captions={"caption": "A door."})
    InstanceImage.objects.create(instance=made, role="image", filename="door.png", image=make_image("door"))
    parts = "[{kind: write_about}, {kind: rating}]"
    write = launched(project, study="write", parts=parts, rule="collected-v1", purpose="collection")
    find = find_study(project, selection={"from": "write"})
    session = arrive_at_work(write, "ann")
    send(session, text="The one that is half open.")
    leading_on.begin(session=session, part=1, now=NOON)
    session.refresh_from_db()
    send(session, choice="1")
    assert Response.objects.filter(study=write).count() == 2
    (slot,) = responses.open_slots(session=arrive_at_work(find, "ben"), limit=9)
    assert slot.question.source == {"text": "The one that is half open.", "target": 2}
    with pytest.raises(NothingLeft):
        arrive_at_work(find, "cleo")


@pytest.mark.django_db
def test_a_set_with_two_descriptions_is_one_instance_of_the_pipeline() -> None:
    project = make_project()
    make_set(project, "kitchen", {"The full one.": 0, "The empty one.": 3})
    find = find_study(project, surveys={"size": 1})
    choose(arrive_at_work(find, "ann"), place=0)
    choose(arrive_at_work(find, "ben"), place=0)
    assert states_of(find) == ["accepted", "rejected"]
    (step,) = funnel(project, [find]).steps
    assert step.cell.counts.asked == 1
