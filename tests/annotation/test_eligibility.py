"""Who is let into a study by its rules of eligibility, and whose questions go to somebody else at once."""

import uuid
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.db import connection, transaction
from django.test import Client
from django.test.utils import CaptureQueriesContext

from annotation.actions import sessions
from annotation.actions.answering import responses
from annotation.actions.arriving.groups import set_group
from annotation.actions.launching.launch import launch
from annotation.actions.removing.erasure import delete_rows
from annotation.errors import AnnotationError, NotEligible, NothingLeft
from annotation.models import Annotator, Decision, EntryEvent, GroupMember, Response, Seat, Session, SessionState, Slot
from background.sealed_secrets import unseal
from studies.errors import StudyError
from studies.models import Instance, Project, Question, Study
from tests.annotation.test_entry import link_of
from tests.annotation.test_repetitions import describing, say
from tests.annotation.test_responses import send
from tests.factories import (
    NOON,
    TESTS,
    arrive,
    arrive_at_work,
    create_draft,
    fresh,
    launch_study,
    make_instance,
    make_person,
    make_project,
)
from tests.pages import words_of
from tests.people import digest_of
from tests.together import at_once

pytestmark = pytest.mark.django_db


def study_about(project: Project, name: str, keys: list[str], *rules: dict[str, Any], **design: Any) -> Study:
    """Launch a study about the instances with these keys, which are made where they are not there."""
    for key in keys:
        if not Instance.objects.filter(project=project, key=key).exists():
            make_instance(project, key)
    asked = {"study": name, "eligibility": list(rules), "selection": {"keys": keys}}
    return launch_study(project, instances=0, **asked | design)


def first_and_second(keys: str, others: str, rule: dict[str, Any] | None = None, **design: Any) -> tuple[Study, Study]:
    """Launch the studies "first" and "second", by default for whoever has not met the same instance in "first"."""
    project = make_project()
    first = study_about(project, "first", list(keys))
    return first, study_about(project, "second", list(others), rule or not_same("first"), **design)


def answer_all(session: Session) -> Session:
    for slot in responses.open_slots(session=session, limit=99):
        send(session, slot)
    return fresh(session)


def keys_given(session: Session) -> list[str]:
    slots = Slot.objects.filter(seat__session=session, annotator=session.annotator)
    return sorted(slots.values_list("question__instance__key", flat=True))


def not_same(study: str) -> dict[str, Any]:
    return {"rule": "not_same_instance", "study": study}


@contextmanager
def refused(rule: str) -> Iterator[None]:
    with pytest.raises(AnnotationError) as error:
        yield
    assert isinstance(error.value, NotEligible | NothingLeft)
    assert error.value.rule == rule


def test_one_clash_costs_a_question_and_not_the_seat() -> None:
    first, second = first_and_second("ab", "abcde")
    answer_all(arrive_at_work(first, "ann"))
    ann = arrive_at_work(second, "ann")
    assert (keys_given(ann), ann.questions_total) == (["c", "d", "e"], 3)
    assert answer_all(ann).state == SessionState.FINISHED
    # What she may not answer was free for others from the moment on that she took her seat.
    ben = arrive_at_work(second, "ben")
    assert keys_given(ben) == ["a", "b"]
    answer_all(ben)
    given = Response.objects.counted_in(second).values_list("question__instance__key", flat=True)
    assert sorted(given) == ["a", "b", "c", "d", "e"]
    assert Slot.objects.filter(question__study=second).count() == 5
    assert {seat.survey.number for seat in Seat.objects.filter(study=second)} == {1}
    assert not Seat.objects.filter(study=second, filled_at=None).exists()


def test_what_several_leave_in_one_survey_waits_together() -> None:
    project = make_project()
    for name, key in (("for-ann", "a"), ("for-ben", "b")):
        study_about(project, name, [key])
    both = [not_same("for-ann"), not_same("for-ben")]
    find = study_about(project, "find", ["a", "b", "c"], *both, answers=2)
    for person in ("ann", "ben"):
        answer_all(arrive_at_work(Study.objects.get(slug=f"for-{person}"), person))
    assert keys_given(arrive_at_work(find, "ann")) == ["b", "c"]
    assert keys_given(arrive_at_work(find, "ben")) == ["a", "c"]
    assert keys_given(arrive_at_work(find, "cleo")) == ["a", "b"]
    assert Seat.objects.filter(study=find).count() == 3


def test_what_somebody_has_before_them_in_the_other_study_counts_already_or_meets_before_they_come_back() -> None:
    first, second = first_and_second("ac", "abc")
    session = arrive_at_work(second, "ann")
    assert keys_given(session) == ["a", "b", "c"]
    sessions.leave(session=session, to=SessionState.LAPSED, now=NOON)
    meanwhile = arrive_at_work(first, "ann")
    assert keys_given(arrive_at_work(second, "ann", session="new")) == ["b"]
    answer_all(meanwhile)
    sessions.leave(session=Session.objects.with_id("prolific", ["new"]).get(), to=SessionState.GIVEN_UP, now=NOON)
    back = sessions.revive(session=fresh(session), now=NOON)
    assert (back.state, back.questions_total, keys_given(back)) == (SessionState.WORKING, 1, ["b"])


def test_who_could_only_get_what_is_kept_from_them_is_told_so_and_takes_nothing() -> None:
    first, second = first_and_second("a", "a")
    answer_all(arrive_at_work(first, "ann"))
    with refused("not_same_instance"):
        arrive_at_work(second, "ann")
    assert keys_given(arrive_at_work(second, "ben")) == ["a"]
    # Nothing is left for anybody now, which has nothing to do with her.
    with refused(""):
        arrive_at_work(second, "ann")


def test_what_comes_late_is_kept_though_its_question_has_moved_to_another_seat_meanwhile() -> None:
    first, second = first_and_second("a", "ab")
    answer_all(arrive_at_work(first, "ben"))
    ann = arrive_at_work(second, "ann")
    slots = responses.open_slots(session=ann, limit=2)
    sessions.leave(session=ann, to=SessionState.LAPSED, now=NOON)
    # Her seat is ben's now, and the question about "a" is in another one, for somebody else.
    assert keys_given(arrive_at_work(second, "ben")) == ["b"]
    assert [send(ann, slot).late for slot in slots] == [True, True]
    kept = Response.objects.filter(session=ann, slot=None)
    assert sorted(kept.values_list("question__instance__key", flat=True)) == ["a", "b"]
    assert keys_given(arrive_at_work(second, "cleo")) == ["a"]


@pytest.mark.parametrize(("rule", "let_in", "kept_out"), [("in_study", "ann", "ben"), ("not_in_study", "ben", "ann")])
def test_having_taken_part_in_another_study_lets_in_or_keeps_out(rule: str, let_in: str, kept_out: str) -> None:
    first, second = first_and_second("a", "a", {"rule": rule, "study": "first"}, answers=2)
    answer_all(arrive_at_work(first, "ann"))
    with refused(rule):
        arrive(second, kept_out)
    assert arrive(second, let_in).questions_total == 1
    assert not Session.objects.filter(study=second, annotator__id_digest=digest_of(kept_out)).exists()


def test_only_a_group_that_was_declared_is_let_in(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    project, other = make_project(), make_project("other")
    study = study_about(project, "test-split", ["a"], {"rule": "in_group", "group": "testers"}, answers=9)
    people = tmp_path / "testers.txt"
    people.write_text("ANN\n\ncleo\n", encoding="utf-8")
    call_command("set_group", "vases", "testers", people)
    assert capsys.readouterr().out == "The group testers of vases has 2 people.\n"
    people.write_text("ben\n", encoding="utf-8")
    call_command("set_group", "other", "testers", people)
    with refused("in_group"):
        arrive(study, "ben")
    assert arrive(study, "ann").questions_total == 1
    # Another list takes the place of the first; who is at work stays there.
    call_command("set_group", "vases", "testers", people)
    with refused("in_group"):
        arrive(study, "cleo")
    assert arrive(study, "ben").questions_total == 1
    assert arrive(study, "ann", session="again").questions_total == 1
    assert GroupMember.objects.filter(project=other).count() == 1


def test_a_list_with_something_else_than_ids_declares_no_group(tmp_path: Path) -> None:
    make_project()
    people = tmp_path / "testers.txt"
    people.write_text("ann\nben, cleo\n", encoding="utf-8")
    with pytest.raises(CommandError, match="Line 2 is not an id of a person"):
        call_command("set_group", "vases", "testers", people)
    with pytest.raises(CommandError, match="cannot be read"):
        call_command("set_group", "vases", "testers", tmp_path / "missing.txt")
    assert not GroupMember.objects.exists()


def test_whoever_is_forgotten_is_in_no_group_of_the_project() -> None:
    project, other = make_project(), make_project("other")
    for each in (project, other):
        set_group(project=each, group="testers", provider="prolific", people=["ann"], by=TESTS, now=NOON)
    for each, left in ((project, [other]), (other, [])):
        with transaction.atomic():
            delete_rows(annotator=Annotator.objects.get(), project=each)
        assert [member.project for member in GroupMember.objects.all()] == left
    assert not Annotator.objects.exists()


def answer_right(session: Session, *, right: int) -> None:
    """Answer the first four questions, so many of them rightly."""
    for number, slot in enumerate(responses.open_slots(session=session, limit=4)):
        Question.objects.filter(pk=slot.question_id).update(right="candidate-0")
        order = responses.order_for(session=session, question=slot.question)
        send(session, slot, str(order.index("candidate-0" if number < right else "candidate-1") + 1))


def test_a_qualification_lets_in_who_was_right_often_enough() -> None:
    project = make_project()
    trial = study_about(project, "trial", ["q-1", "q-2", "q-3", "q-4"], answers=9)
    rule = {"rule": "qualified", "study": "trial", "right": 3, "of": 4}
    study = study_about(project, "main", ["a"], rule, answers=9)
    for person, right in (("ann", 3), ("ben", 2)):
        answer_right(arrive_at_work(trial, person), right=right)
    assert arrive(study, "ann").questions_total == 1
    for person in ("ben", "newcomer"):
        with refused("qualified"):
            arrive(study, person)


def test_a_falling_accuracy_keeps_from_the_next_sitting_and_never_from_the_one_begun() -> None:
    project = make_project()
    rule = {"rule": "accuracy", "study": "trial", "at_least": 0.75, "answers": 4}
    again = {"sessions_per_annotator": 0}
    keys = ["q-1", "q-2", "q-3", "q-4", "q-5", "q-6"]
    trial = study_about(project, "trial", keys, rule, answers=9, recruitment=again)
    for person, right in (("ann", 3), ("ben", 0)):
        session = arrive_at_work(trial, person)
        answer_right(session, right=right)
        # Two are left: whoever comes back under a new submission goes on.
        assert arrive_at_work(trial, person, session=f"again-{person}").questions_total == 2
        answer_all(Session.objects.get(annotator__id_digest=digest_of(person), ended_at=None))
    more = study_about(project, "more", ["a"], rule, answers=9)
    assert arrive(more, "newcomer").questions_total == 1
    with refused("accuracy"):
        arrive(more, "ben")


def test_nobody_is_refused_in_the_middle_but_whoever_has_not_begun_is() -> None:
    first, second = first_and_second("a", "ab", {"rule": "not_in_study", "study": "first"})
    session = arrive_at_work(second, "ann")
    answer_all(arrive_at_work(first, "ann"))
    assert arrive_at_work(second, "ann", session="again").questions_total == 2
    assert fresh(session).state == SessionState.SUPERSEDED


def test_refusals_are_counted_by_their_reason_without_anybodys_id(client: Client, time_machine: Any) -> None:
    time_machine.move_to(NOON, tick=False)
    project = make_project(members=[researcher := make_person("researcher")])
    study_about(project, "first", ["a"])
    rules = [{"rule": "in_study", "study": "first"}, {"rule": "in_group", "group": "testers"}]
    second = study_about(project, "second", ["b"], *rules)
    answer_all(arrive_at_work(Study.objects.get(slug="first"), "ann"))
    for person, times in (("ann", 1), ("ben", 2), ("cleo", 1)):
        for _ in range(times):
            page = client.get(link_of(second, PROLIFIC_PID=person, SESSION_ID=f"sitting-of-{person}"))
            assert page.status_code == 403
            assert "This is not your fault" in page.content.decode()
    found = EntryEvent.objects.filter(study=second).order_by("pk").values_list("what", "rule", "times")
    assert list(found) == [("refused", "in_group", 1), ("refused", "in_study", 2), ("refused", "in_study", 1)]
    assert not {event.who for event in EntryEvent.objects.all()} & {"ann", "ben", "cleo"}
    client.force_login(researcher)
    shown = words_of(client.get(f"/studies/{project.slug}/second/"))
    when = "last on 20 Nov, 12:00 UTC"
    assert f"3 times (by at least 2 people, {when}) somebody was not let in who had not taken part in" in shown
    assert "Once, on 20 Nov, 12:00 UTC, somebody was not let in who was not in the group" in shown


def test_a_study_that_names_one_that_is_not_there_is_not_launched() -> None:
    draft = create_draft(eligibility=[not_same("describe")])
    with pytest.raises(StudyError, match="`eligibility` names describe, but project vases has no such study"):
        launch(study=draft, by="test", now=NOON)


def test_a_study_without_rules_costs_no_statement() -> None:
    study = launch_study(make_project("others"), answers=2)
    _, ruled = first_and_second("x", "y", answers=2)
    costs = []
    for each in (study, ruled):
        arrive(each, "ann", session=each.slug)
        with CaptureQueriesContext(connection) as asked:
            arrive(each, "ben", session=f"{each.slug}-ben")
        costs.append(len(asked))
        assert not [query["sql"] for query in asked if "groupmember" in query["sql"]]
    assert costs[0] < costs[1]


@pytest.mark.django_db(transaction=True)
def test_many_at_once_with_clashes_of_their_own_fill_every_question_exactly() -> None:
    project = make_project()
    keys = [f"set-{number}" for number in range(6)]
    people = [f"p{number}" for number in range(8)]
    for person, key in zip(people, keys, strict=False):
        answer_all(arrive_at_work(study_about(project, f"by-{person}", [key]), person))
    rules = [not_same(f"by-{person}") for person in people[: len(keys)]]
    study = study_about(project, "find", keys, *rules, answers=3, recruitment={"sessions_per_annotator": 0})

    def come(person: str) -> None:
        try:
            answer_all(arrive_at_work(study, person, session=str(uuid.uuid4())))
        except NothingLeft:
            return

    for _ in range(4):
        at_once(*[lambda person=person: come(person) for person in people])
    counted = Response.objects.counted_in(study).values_list("question__instance__key", "annotator__sealed_id")
    given = [(key, unseal(person)) for key, person in counted]
    assert len(set(given)) == len(given) == 3 * len(keys)
    assert all(sum(key == other for other, _ in given) == 3 for key in keys)
    assert not {(key, person) for key, person in given} & set(zip(keys, people, strict=False))
    assert Slot.objects.filter(question__study=study).count() == 3 * len(keys)


def test_who_wrote_what_others_could_not_find_is_kept_from_the_next_sitting() -> None:
    """Ann wrote six texts: one was found, four were rejected, of one nobody can tell yet; ben wrote as many good ones.

    1 of 5 reaches up to 0.62, and with the open one, were it good, 2 of 6 to 0.70.
    """
    project = make_project()
    rule = {"rule": "accuracy", "study": "write", "at_least": 0.65, "answers": 5, "by": "acceptance"}
    keys = [f"q-{number}" for number in range(6)]
    write = study_about(project, "write", keys, rule, answers=9, recruitment={"sessions_per_annotator": 0})
    read = study_about(project, "read", keys)
    fates = {"ann": ["accepted", *["rejected"] * 4, "undecided"], "ben": ["rejected", *["accepted"] * 4, "undecided"]}
    for person, states in fates.items():
        answer_all(arrive_at_work(write, person))
        given = Response.objects.filter(study=write, annotator__id_digest=digest_of(person)).order_by("pk")
        for response, state in zip(given, states, strict=True):
            about = response.question
            same = {"instance": about.instance, "kind": about.kind, "content": about.content, "answers_wanted": 1}
            made_from = {"source_type": "response", "source_id": response.pk, "source": {"answer": response.answer}}
            asked = Question.objects.create(study=read, **same, **made_from)
            Decision.objects.create(study=read, question=asked, rule="majority-v1", state=state)
    more = study_about(project, "more", ["a", "b"], rule, answers=9)
    with refused("accuracy"):
        arrive(more, "ann")
    assert arrive(more, "ben").questions_total == 2
    # What is undone says nothing of them: 1 of 1 is too little to be measured.
    Question.objects.filter(study=read, decision__state="rejected").update(undone_at=NOON)
    assert arrive(more, "ann").questions_total == 2


def test_who_says_too_often_that_nothing_tells_it_apart_where_others_say_it_is_kept_from_the_next_sitting() -> None:
    """Ann could describe none of four images, ben three of them, and cleo found these: 0 of 3 reaches up to 0.56."""
    rule = {"rule": "accuracy", "study": "write", "at_least": 0.6, "answers": 3, "by": "acceptance"}
    design: dict[str, Any] = {"rule": "described-v1", "max_answers": 2, "targets": 1, "eligibility": [rule]}
    write = describing(sets=4, study="write", recruitment={"sessions_per_annotator": 0}, **design)
    make_instance(write.project, "more", candidates=10)
    more = describing(sets=5, study="more", selection={"keys": ["more"]}, **design)
    images, feeding = {"images": "candidate"}, {"from": "write"}
    read = launch_study(write.project, instances=5, study="read", kind="retrieve", ask=images, selection=feeding)
    ann = arrive_at_work(write, "ann")
    for _ in range(4):
        say(ann, "")
    # Nobody knows better yet.
    sessions.leave(session=arrive(more, "ann"), to=SessionState.GIVEN_UP, now=NOON)
    ben = arrive_at_work(write, "ben")
    for number in range(4):
        say(ben, "" if number == 3 else f"The lid of vase {number} is open.")
    cleo = arrive_at_work(read, "cleo")
    for slot in responses.open_slots(session=cleo, limit=3):
        order = responses.order_for(session=cleo, question=slot.question)
        send(cleo, slot, str(order.index(slot.question.right) + 1))
    with refused("accuracy"):
        arrive(more, "ann", session="again")
    assert arrive(more, "ben").questions_total == 1
