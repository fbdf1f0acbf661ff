"""Questions that are made from answers: one study lets people write, another lets others find what was written about.

The two kinds and the rule are made up here, as those of a paper would be in files of their own.
"""

import random
import uuid
from collections.abc import Iterator, Mapping, Sequence
from typing import Any, ClassVar

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext

from annotation.actions import sessions
from annotation.actions.answering import responses
from annotation.actions.arriving import draw_questions
from annotation.actions.arriving.draw_questions import ready_items
from annotation.actions.launching.launch import launch
from annotation.actions.removing import removals
from annotation.errors import AnnotationError, BadAnswer
from annotation.models import Decision, Response, Session
from studies import rules
from studies.actions.studies import create_study
from studies.kinds import KINDS, InstanceFacts, NewQuestion, QuestionContent, Roles, Text, get_kind
from studies.kinds.base import AsksAboutAnswers, Option
from studies.kinds.choices import SingleChoice
from studies.models import Project, Question, Study
from studies.rules import RULES, Needs, State, Verdict, Vote, VoteContext
from tests.factories import NOON, TESTS, arrive_at_work, make_instance, make_project
from tests.flows.retrieving import Write, send
from tests.removing import REMOVED as LATER

pytestmark = pytest.mark.django_db


class Note(Write):
    """A free text about an instance."""

    name, rule = "note", "guessed-v1"

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles()

    def questions(self, instance: InstanceFacts, ask: Mapping[str, Any], *, seed: str) -> Sequence[NewQuestion]:
        return [NewQuestion("", {"caption": instance.captions["caption"]})]

    def question_content(self, content: Mapping[str, Any]) -> QuestionContent:
        return QuestionContent([Text(content["caption"])])

    def as_source(self, content: Mapping[str, Any], answer: Any) -> Mapping[str, Any] | None:
        return None if answer["text"] == "not possible" else {"text": answer["text"]}


class Guess(AsksAboutAnswers, SingleChoice):
    """Whether a text that somebody wrote is about the caption or about the other one."""

    name = "guess"
    title = "Guess"
    about = "Collects answers."
    needs = "a caption or an image"
    instructions = "Guess."
    rule = "majority-v1"
    ask_schema: ClassVar[Mapping[str, Any]] = {"type": "object", "additionalProperties": False, "properties": {}}

    def roles(self, ask: Mapping[str, Any]) -> Roles:
        return Roles()

    def build(self, instance: InstanceFacts, ask: Mapping[str, Any], variant: str) -> dict[str, Any]:
        options = [{"key": role, "text": text} for role, text in instance.captions.items()]
        return {"caption": instance.source["text"], "options": options}

    def right_option(self, ask: Mapping[str, Any], variant: str) -> str:
        return "caption"


class Guessed:
    """Accepts a note once somebody has guessed it, and asks for another one while nobody has."""

    name, needs = "guessed-v1", Needs(downstream_outcome=True)

    def decide(self, asked: VoteContext, answers: Sequence[Vote]) -> Verdict:
        if any(State.ACCEPTED in vote.downstream_states for vote in answers):
            return Verdict(State.ACCEPTED, None, "Somebody found it.")
        refused = answers and all(State.REJECTED in vote.downstream_states for vote in answers)
        return Verdict(State.UNDECIDED, None, "Nobody has found it yet.", more=bool(refused))


class FoundOrNot:
    """Accepts what everybody found, by what is right."""

    name, needs = "found-v1", Needs(one_label=True, right=True)

    def decide(self, asked: VoteContext, answers: Sequence[Vote]) -> Verdict:
        if not answers:
            return Verdict(State.UNDECIDED, None, "No answer yet.", more=True)
        found = all(vote.label == asked.right for vote in answers)
        return Verdict(State.ACCEPTED if found else State.REJECTED, asked.right if found else None, "They all have.")


@pytest.fixture(autouse=True)
def _made_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    for kind in (Note, Guess):
        monkeypatch.setitem(KINDS, kind.name, f"{__name__}.{kind.__name__}")
    for rule in (Guessed, FoundOrNot):
        monkeypatch.setitem(RULES, rule.name, f"{__name__}.{rule.__name__}")
    yield
    get_kind.cache_clear()
    rules.get_rule.cache_clear()


WRITE = (
    "study: write\ntitle: Write\ncontact: Ada\nkind: note\nanswers: 1\nmax_answers: 3\nrecruitment: {any_ids: true}\n"
)
FIND = (
    "study: find\ntitle: Find\ncontact: Ada\nkind: guess\nrule: found-v1\npurpose: collection\n"
    "instances: {from: write}\nsurveys: {size: 1}\nrecruitment: {any_ids: true}\n"
)


def make(project: Project, *, instances: int = 1) -> tuple[Study, Study]:
    for number in range(instances):
        make_instance(project, f"vase-{number}")
    write, find = (create_study(project=project, source=source, by=TESTS, now=NOON) for source in (WRITE, FIND))
    for study in (write, find):
        launch(study=study, by=TESTS, now=NOON)
    return write, find


def guess(session: Session, label: str) -> None:
    (slot,) = responses.open_slots(session=session, limit=1)
    order = responses.order_for(session=session, question=slot.question)
    send(session, **get_kind("guess").simulate(slot.question.content, order, dice=random.Random(0), label=label))


def test_an_answer_becomes_a_question_for_others_and_what_they_say_decides_it() -> None:
    write, find = make(make_project())
    send(arrive_at_work(write, person="ann"), text="the round one")
    note = Response.objects.get(study=write)
    assert (note.choice, note.answer) == ("", {"text": "the round one"})
    assert Decision.objects.get(question=note.question).state == "undecided"
    # Nobody finds what they wrote themselves.
    assert ready_items(find, now=NOON, annotator=note.annotator) == []
    with pytest.raises(AnnotationError):
        arrive_at_work(find, person="ann")
    session = arrive_at_work(find, person="ben")
    asked = Question.objects.get(study=find)
    assert (asked.source_type, asked.source_id, asked.source) == ("response", note.pk, {"text": "the round one"})
    assert asked.content["caption"] == "the round one"
    guess(session, "caption")
    assert Decision.objects.get(question=asked).state == "accepted"
    accepted = Decision.objects.get(question=note.question)
    assert (accepted.state, accepted.winner, accepted.answers, accepted.votes) == ("accepted", "", 1, {})


@pytest.mark.parametrize(("limit", "read"), [(1, 1), (2, 1), (3, 2), (5, 3)])
def test_whoever_arrives_reads_only_the_answers_that_they_need(
    monkeypatch: pytest.MonkeyPatch, limit: int, read: int
) -> None:
    write, find = make(make_project(), instances=5)
    session = arrive_at_work(write, person="ann")
    for text in "abcde":
        send(session, text=text)
    monkeypatch.setattr(draw_questions, "CHUNK", 2)
    with CaptureQueriesContext(connection) as captured:
        items = ready_items(find, now=NOON, limit=limit)
    assert [item.source.content["text"] for item in items if item.source] == list("abcde")[:limit]
    # A pool makes `iterator()` read all rows that a statement finds.
    pages = [query["sql"] for query in captured if query["sql"].startswith('SELECT "annotation_response"')]
    assert all(page.endswith("LIMIT 2") for page in pages)
    assert len(pages) == read


def test_what_nobody_found_goes_back_to_somebody_else_who_writes_it_anew() -> None:
    write, find = make(make_project())
    send(arrive_at_work(write, person="ann"), text="the thing")
    guess(arrive_at_work(find, person="ben"), "negative_caption")
    undecided = Decision.objects.get(question__study=write)
    assert (undecided.state, undecided.asks_more) == ("undecided", True)
    send(arrive_at_work(write, person="cleo"), text="the blue vase")
    guess(arrive_at_work(find, person="dora"), "caption")
    assert Question.objects.filter(study=find).count() == 2
    undecided.refresh_from_db()
    assert (undecided.state, undecided.answers) == ("accepted", 2)


def test_an_answer_that_waits_for_others_asks_nobody_else_meanwhile() -> None:
    write, _ = make(make_project())
    send(arrive_at_work(write, person="ann"), text="the thing")
    with pytest.raises(AnnotationError):
        arrive_at_work(write, person="cleo")


def test_an_answer_that_hands_nothing_on_is_asked_about_by_nobody() -> None:
    write, find = make(make_project())
    send(arrive_at_work(write, person="ann"), text="not possible")
    with pytest.raises(AnnotationError):
        arrive_at_work(find, person="ben")


def test_an_answer_that_others_are_asked_about_is_changed_no_more() -> None:
    write, find = make(make_project(), instances=2)
    session = arrive_at_work(write, person="ann")
    (slot,) = responses.open_slots(session=session, limit=1)
    send(session, text="the thing")
    arrive_at_work(find, person="ben")
    again = responses.Submission(slot=slot.pk, submission=uuid.uuid4(), posted={"text": "another"}, replaces=1)
    assert responses.submit(token=session.token, sent=again, now=NOON).is_final


def test_when_a_writer_withdraws_nothing_follows_from_what_others_said_of_it() -> None:
    write, find = make(make_project())
    send(arrive_at_work(write, person="ann"), text="the round one")
    note = Response.objects.get(study=write)
    guess(arrive_at_work(find, person="ben"), "caption")
    removals.withdraw(annotator=note.annotator, project=write.project, by=TESTS, now=LATER)
    assert Question.objects.get(study=find).undone_at == LATER
    left = Decision.objects.get(question=note.question)
    assert (left.state, left.answers) == ("undecided", 0)


def test_a_text_that_is_no_answer_gets_its_sentence() -> None:
    write, _ = make(make_project())
    session = arrive_at_work(write, person="ann")
    with pytest.raises(BadAnswer, match="Write something"):
        send(session, text="")
    assert not Response.objects.exists()
    assert sessions.record_visit(session=session, now=NOON).questions_answered == 0


def test_options_of_a_made_up_kind_come_from_its_content() -> None:
    found = get_kind("guess").options({"options": [{"key": "caption", "text": "A vase."}]})
    assert found == [Option("caption", text="A vase.")]
