"""Checks at launch, at claims, and in answers: asked like other questions, counted nowhere."""

import tracemalloc
from collections import Counter
from datetime import timedelta
from decimal import Decimal
from typing import Any

import pytest
from django.conf import LazySettings
from django.db.models import F

from annotation import check_results
from annotation.actions import seats, sessions
from annotation.actions.answering import responses
from annotation.actions.launching.extend_study import add_answers
from annotation.actions.removing import removals
from annotation.actions.removing.retire_questions import put_back, take_out
from annotation.check_results import passed_by_session
from annotation.models import Decision, Response, Seat, Session, SessionState, Skip, Slot
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from results.queries.exports.export_rows import answered_checks, given_responses
from results.queries.instances.explorer import InstanceFilters, list_instances
from results.queries.people.checks import checks_of_people
from results.queries.people.participants import people_lines
from results.queries.people.person_page import CHECKS as CHECKS_OF_PERSON
from results.queries.people.person_page import answers_of, count_listed
from results.queries.reports.report_rows import study_outline
from results.queries.studies.overview import ToCome, count_to_come, project_spending
from results.queries.studies.progress import study_progress
from results.queries.studies.skips import study_skips
from studies.kinds import get_kind, posted_values
from studies.models import Check, Project, Question, Study
from tests.annotation.test_responses import send
from tests.checking import CHECKS
from tests.factories import NOON, TESTS, arrive_at_work, fresh, launch_study

pytestmark = pytest.mark.django_db


def types_in(seat: Seat) -> list[str]:
    return list(seat.slots.order_by("position").values_list("question__check_type", flat=True))


def open_slots(session: Session) -> list[Slot]:
    return responses.open_slots(session=session, limit=100)


def value_of(session: Session, slot: Slot, key: str) -> str:
    """Return what the page posts for the option `key` of the question in `slot`."""
    order = responses.order_for(session=session, question=slot.question)
    values = posted_values(get_kind(slot.question.kind), slot.question.content, order)
    return next(value for value, option in values.items() if option == key)


def answer_all(session: Session, *, key: str = "candidate-1", follow: bool = True) -> None:
    """Answer every question of `session` with the option `key`, or instructions as they say."""
    for slot in open_slots(session):
        is_instruction = slot.question.check_type == Check.INSTRUCTION
        send(session, slot, value_of(session, slot, slot.question.right if is_instruction and follow else key))


def test_each_seat_has_its_checks_at_places_of_its_own(study: Study) -> None:
    first, second = (types_in(seat) for seat in Seat.objects.order_by("number"))
    assert Counter(first) == Counter(second) == {"": 30, "gold": 2, "instruction": 2, "repeat": 2}
    assert first != second
    assert (first[0], second[0]) == ("", "")


def test_a_slot_of_a_check_has_a_number_among_those_of_its_seat(study: Study) -> None:
    """The page names slots: numbers apart from the others would tell the checks."""
    for seat in Seat.objects.all():
        numbers = list(seat.slots.order_by("position").values_list("pk", flat=True))
        assert numbers == list(range(numbers[0], numbers[0] + 36))


def test_gold_is_asked_of_everybody_in_a_survey_and_its_instances_only_as_gold(study: Study) -> None:
    gold = [
        set(seat.slots.filter(question__check_type="gold").values_list("question", flat=True))
        for seat in Seat.objects.all()
    ]
    assert gold[0] == gold[1]
    asked = set(study.questions.values_list("instance__key", flat=True))
    assert asked == {f"vase-{number}" for number in range(4, 34)}


def test_a_repeat_is_a_copy_of_a_question_of_the_same_seat_that_comes_before_it(study: Study) -> None:
    for seat in Seat.objects.all():
        for slot in seat.slots.filter(question__check_type="repeat").select_related("question"):
            first = seat.slots.select_related("question").get(question=slot.question.source_id)
            assert slot.position - first.position > 10
            assert (slot.question.content, slot.question.instance_id) == (
                first.question.content,
                first.question.instance_id,
            )


def test_an_instruction_names_an_option_in_the_language_of_the_study(project: Project) -> None:
    study = launch_study(project, checks={"instruction": {"per_survey": 1}}, language="es", instructions="Elige.")
    check = Question.with_checks.get(study=study, check_type="instruction")
    assert check.right == "none"
    assert "«Ninguna de estas»" in check.content["caption"]
    assert "attention check" not in check.content["caption"]


def test_no_number_reads_checks(study: Study) -> None:
    session = arrive_at_work(study)
    answer_all(session)
    assert fresh(session).state == SessionState.FINISHED
    assert (Response.objects.count(), Response.objects.counted().count()) == (36, 30)
    assert (study.questions.count(), Question.objects.count(), Decision.objects.count()) == (30, 30, 30)
    assert set(Decision.objects.values_list("answers", flat=True)) == {1}
    progress = study_progress(study)
    assert (progress.answers.given, progress.answers.wanted, progress.answers.to_come) == (30, 60, 30)
    name_annotators(project=study.project)
    (line,) = people_lines(study.project, study=study, who="", page=None).object_list
    assert (line.answers, line.counted) == (30, 30)
    assert len(list(given_responses(study))) == 30
    # They are work, and are paid.
    assert responses.stored_answers(session=session) == 36


def test_a_skipped_check_is_no_skipped_question_of_the_report(study: Study) -> None:
    session = arrive_at_work(study)
    asked = [slot.question for slot in open_slots(session)]
    ordinary = next(each for each in asked if not each.check_type)
    gold = next(each for each in asked if each.check_type == Check.GOLD)
    about: dict[str, Any] = {"study": study, "session": session, "annotator": session.annotator, "at": NOON}
    image = {"option": "candidate-0", "image": "", "failed_loads": 3, "missing": False}
    for question in (ordinary, gold):
        Skip.objects.create(question=question, images=[image], file_missing=False, **about)
    outline = study_outline(study)
    assert (outline.skipped, outline.skipped_about) == (1, 1)
    listed = list_instances(study.project, [study], InstanceFilters(study=study.slug, reason="not-shown"))
    assert list(listed.instances.values_list("key", flat=True)) == [ordinary.instance.key]
    # The page of the study lists it all the same, so that its images are corrected.
    assert study_skips(study).count == 2


def test_the_page_of_a_person_lists_all_36_answers(study: Study) -> None:
    session = arrive_at_work(study, "ann")
    asked = [slot.question_id for slot in open_slots(session)]
    answer_all(session, key="candidate-0")
    name_annotators(project=study.project)
    person = Pseudonym.objects.get(annotator=session.annotator_id)
    pages = [answers_of(person, study=None, page=page, session=session) for page in (1, 2)]
    assert count_listed(pages[0]) == (30, 6)
    listed = [each for page in pages for each in page.object_list]
    assert sorted(each.asked.question.pk for each in listed) == sorted(asked)
    # The right option of gold is candidate-1. Every answer is repeated with the same option.
    results = Counter((each.check.title, each.check.passed) for each in listed if each.check)
    assert results == {
        ("Gold question", False): 2,
        ("Instruction check", True): 2,
        ("Repeated question", True): 2,
    }
    assert {each.given.status for each in listed if each.check} == {"a check, not counted"}
    only_checks = answers_of(person, study=None, page=1, which=CHECKS_OF_PERSON)
    assert Counter(each.check.title for each in only_checks.object_list if each.check) == {
        "Gold question": 2,
        "Instruction check": 2,
        "Repeated question": 2,
    }
    assert count_listed(only_checks) == (0, 6)


def test_results_of_a_person_by_hand(study: Study) -> None:
    session = arrive_at_work(study)
    golds, given, again = 0, dict[int, str](), list[str]()
    for slot in open_slots(session):
        check, key = slot.question.check_type, "candidate-1"
        if check == Check.GOLD:
            # The first is right.
            golds += 1
            key = "candidate-1" if golds == 1 else "candidate-3"
        elif check == Check.REPEAT:
            # The first is answered as before, which is another image where it repeats the second gold question.
            key = "candidate-2" if again else given[slot.question.source_id]
            again.append(key)
        elif check == Check.INSTRUCTION:
            key = "candidate-0"
        given[slot.question_id] = key
        send(session, slot, value_of(session, slot, key))
    found = passed_by_session(Response.objects.all())[session.pk]
    assert {check: (each.passed, each.of) for check, each in found.items()} == {
        "gold": (1, 2),
        "instruction": (0, 2),
        "repeat": (1, 2),
    }
    name_annotators(project=study.project)
    (row,) = checks_of_people(study)
    assert row.checks == {"gold": (1, 2), "instruction": (0, 2), "repeat": (1, 2)}
    exported = list(answered_checks(study))
    assert Counter((each.check, each.label, each.right, each.passed) for each in exported) == {
        ("gold", "candidate-1", "candidate-1", True): 1,
        ("gold", "candidate-3", "candidate-1", False): 1,
        **Counter(
            ("instruction", "candidate-0", each.right, False) for each in exported if each.check == "instruction"
        ),
        ("repeat", again[0], "", True): 1,
        ("repeat", "candidate-2", "", False): 1,
    }
    assert {each.worker for each in exported} == {row.name}
    removals.withdraw(project=study.project, annotator=session.annotator, by=TESTS, now=NOON)
    assert list(answered_checks(study)) == []


def test_an_answer_to_a_check_can_be_changed_and_then_the_change_is_what_is_right_or_wrong(study: Study) -> None:
    session = arrive_at_work(study)
    slot = next(each for each in open_slots(session) if each.question.check_type == Check.GOLD)
    send(session, slot, value_of(session, slot, "candidate-0"))
    send(session, slot, value_of(session, slot, "candidate-1"), replaces=1)
    assert list(Response.objects.order_by("version").values_list("is_check", "is_current")) == [
        (True, False),
        (True, True),
    ]
    assert passed_by_session(Response.objects.all())[session.pk]["gold"].passed == 1
    assert responses.current_answer(session=session, slot=slot.pk).choice == "candidate-1"


def test_a_late_answer_to_a_check_is_kept_like_others_and_is_no_result(study: Study) -> None:
    session = arrive_at_work(study)
    slots = open_slots(session)
    send(session, slots[0])
    slot = next(each for each in slots if each.question.check_type == Check.GOLD)
    sessions.leave(session=fresh(session), to=SessionState.LAPSED, now=NOON)
    other = arrive_at_work(study, "ben")
    # Ben has the seat of Ann, with the check that Ann has seen.
    assert fresh(slot).annotator == other.annotator or fresh(slot).annotator is None
    Slot.objects.filter(pk=slot.pk).update(annotator=other.annotator)
    assert send(session, slot, value_of(session, slot, "candidate-1")).late
    kept = Response.objects.get(question=slot.question)
    assert (kept.slot, kept.is_check, passed_by_session(Response.objects.all())) == (None, True, {})


def test_contents_of_checks_are_not_kept_in_memory(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    for person in ("ann", "ben"):
        answer_all(arrive_at_work(study, person))
    for question in Question.with_checks.exclude(check_type=""):
        Question.with_checks.filter(pk=question.pk).update(content=question.content | {"padding": "x" * 300_000})
    monkeypatch.setattr(check_results, "CHUNK", 1)
    tracemalloc.start()
    try:
        checked = check_results.checked_answers(Response.objects.all())
        _, peak = tracemalloc.get_traced_memory()
    finally:
        tracemalloc.stop()
    # Twelve contents have 3.6 MB.
    assert len(checked) == 12
    assert peak < 2_500_000


def test_withdrawn_and_excluded_people_have_no_results(study: Study) -> None:
    session = arrive_at_work(study)
    answer_all(session)
    removals.exclude(annotator=session.annotator, project=study.project, reason="No care", by=TESTS, now=NOON)
    assert passed_by_session(Response.objects.all()) == {}
    removals.include(annotator=session.annotator, project=study.project, by=TESTS, now=NOON)
    assert passed_by_session(Response.objects.all())[session.pk]["gold"].of == 2
    removals.withdraw(annotator=session.annotator, project=study.project, by=TESTS, now=NOON)
    assert passed_by_session(Response.objects.all()) == {}
    assert set(Response.objects.values_list("left_out", flat=True)) == {"withdrawn"}


def test_replaced_answers_free_the_checks_of_their_seat_too(study: Study) -> None:
    session = arrive_at_work(study)
    answer_all(session)
    removals.exclude(annotator=session.annotator, project=study.project, reason="No care", by=TESTS, now=NOON)
    freed = removals.reopen_slots(annotator=session.annotator, project=study.project, by=TESTS, now=NOON)
    assert (freed.freed, freed.answers) == (30, 30)
    other = arrive_at_work(study, "ben")
    assert other.questions_total == 36
    back = removals.include(annotator=session.annotator, project=study.project, by=TESTS, now=NOON)
    assert (back.answers, back.without_place) == (0, 30)


def test_what_is_still_to_come_costs_the_pay_of_its_checks_too(project: Project) -> None:
    """Two places of 30 answers and 6 checks, each paid 0.10."""
    pay = {"currency": "USD", "per_answer": "0.10"}
    study = launch_study(project, instances=34, answers=2, checks=CHECKS, pay=pay)

    def to_come() -> ToCome:
        found = count_to_come(project)
        assert [spending.to_come for spending in project_spending(project)] == [found.cost["USD"]]
        return found

    assert to_come() == ToCome(60, {"USD": Decimal("7.20")})
    ann = arrive_at_work(study)
    answer_all(ann)
    assert to_come() == ToCome(30, {"USD": Decimal("3.60")})
    about: dict[str, Any] = {"annotator": ann.annotator, "project": project, "by": TESTS, "now": NOON}
    removals.exclude(**about, reason="No care")
    freed = removals.reopen_slots(**about)
    assert (freed.answers, freed.cost) == (30, {"USD": Decimal("3.60")})
    assert to_come() == ToCome(60, {"USD": Decimal("7.20")})
    ben = arrive_at_work(study, "ben")
    for slot in open_slots(ben):
        if not slot.is_check:
            send(ben, slot)
    sessions.leave(session=fresh(ben), to=SessionState.GIVEN_UP, now=NOON)
    # Nobody is asked the checks that ben has left.
    assert to_come() == ToCome(30, {"USD": Decimal("3.60")})


def test_a_second_survey_has_other_checks_for_the_same_person(project: Project) -> None:
    checks = CHECKS | {"gold": CHECKS["gold"] | {"per_survey": 1, "questions": CHECKS["gold"]["questions"][:2]}}
    study = launch_study(
        project,
        surveys={"size": 15},
        checks=checks | {"repeat": {"per_survey": 1}},
        recruitment={"sessions_per_annotator": 2},
    )
    # Both surveys would ask the same gold question.
    first, second = Question.with_checks.filter(study=study, check_type="gold").order_by("pk")
    Slot.objects.filter(question=second).update(question=first)
    ann = arrive_at_work(study)
    answer_all(ann)
    assert fresh(ann).state == SessionState.FINISHED
    again = arrive_at_work(study, session="second")
    asked = [slot.question for slot in open_slots(again)]
    # The other one stands in its place, as nobody has seen the slot.
    assert [each.pk for each in asked if each.check_type == Check.GOLD] == [second.pk]
    # 32 instances in two surveys. What is no longer asked is not repeated.
    repeats = Slot.objects.filter(seat__session=again, question__check_type=Check.REPEAT)
    repeated = repeats.exclude(question__source_id__in=[first.pk, second.pk]).count()
    assert again.questions_total == 16 + 1 + 2 + repeated


def test_a_check_that_somebody_has_seen_is_not_exchanged_but_left_out(project: Project) -> None:
    study = launch_study(
        project,
        surveys={"size": 15},
        checks={"gold": CHECKS["gold"] | {"per_survey": 1}},
        recruitment={"sessions_per_annotator": 2},
    )
    used = Slot.objects.filter(is_check=True).order_by("pk").values_list("question", flat=True)
    Slot.objects.filter(question=used[1]).update(question=used[0])
    ann = arrive_at_work(study)
    answer_all(ann)
    ben = arrive_at_work(study, "ben")
    send(ben, open_slots(ben)[0])
    sessions.leave(session=fresh(ben), to=SessionState.GIVEN_UP, now=NOON)
    again = arrive_at_work(study, session="second")
    assert [slot.question.check_type for slot in open_slots(again) if slot.is_check] == []
    answer_all(again)
    # The check that nobody holds keeps no seat open.
    assert fresh(again).state == SessionState.FINISHED
    assert not Seat.objects.filter(study=study, filled_at=None).exists()


def test_the_rest_of_a_seat_has_no_repeat_of_what_somebody_else_answered(study: Study) -> None:
    ann = arrive_at_work(study)
    slots = open_slots(ann)
    repeat = next(slot for slot in slots if slot.question.check_type == Check.REPEAT)
    for slot in slots[: slots.index(repeat)]:
        send(ann, slot)
    sessions.leave(session=fresh(ann), to=SessionState.GIVEN_UP, now=NOON)
    ben = arrive_at_work(study, "ben")
    asked = open_slots(ben)
    assert repeat.pk not in [slot.pk for slot in asked]
    assert not asked[0].is_check


def test_a_seat_with_open_checks_only_is_not_free(study: Study) -> None:
    ann = arrive_at_work(study)
    for slot in open_slots(ann):
        if not slot.is_check:
            send(ann, slot)
    sessions.leave(session=fresh(ann), to=SessionState.GIVEN_UP, now=NOON)
    ben = arrive_at_work(study, "ben")
    assert ben.questions_total == 36
    assert Seat.objects.filter(session=None, filled_at=None).count() == 1
    assert not seats.has_free_seat(study=study, annotator=None)


@pytest.mark.parametrize("left", [Check.GOLD, Check.INSTRUCTION, Check.REPEAT])
def test_who_comes_back_for_one_check_under_a_new_submission_gets_it(study: Study, left: Check) -> None:
    ann = arrive_at_work(study)
    slots = open_slots(ann)
    check = next(slot for slot in slots if slot.question.check_type == left)
    for slot in slots:
        if slot != check:
            send(ann, slot)
    again = arrive_at_work(study, session="second")
    assert (again.questions_total, [slot.pk for slot in open_slots(again)]) == (1, [check.pk])
    assert Seat.objects.filter(session=None).count() == 1
    send(again, check)
    assert fresh(again).state == SessionState.FINISHED
    assert Response.objects.filter(annotator=ann.annotator, is_current=True).count() == 36


def test_a_question_that_is_taken_out_takes_its_repeat_with_it(study: Study) -> None:
    session = arrive_at_work(study)
    answer_all(session)
    repeat = (
        Slot.objects.filter(seat__session=session, question__check_type="repeat").select_related("question").first()
    )
    assert repeat is not None
    original = Question.with_checks.get(pk=repeat.question.source_id)
    take_out(question=original, reason="Broken", by=TESTS, now=NOON)
    assert passed_by_session(Response.objects.all())[session.pk]["repeat"].of == 1
    put_back(question=fresh(original), by=TESTS, now=NOON)
    assert passed_by_session(Response.objects.all())[session.pk]["repeat"].of == 2


def test_a_check_that_was_taken_out_by_itself_stays_out_when_its_question_comes_back(study: Study) -> None:
    session = arrive_at_work(study)
    repeats = Slot.objects.filter(seat__session=session, question__check_type="repeat").select_related("question")
    repeat = repeats.order_by("pk")[0].question
    take_out(question=repeat, reason="Broken", by=TESTS, now=NOON)
    original = Question.with_checks.get(pk=repeat.source_id)
    take_out(question=original, reason="Doubtful", by=TESTS, now=NOON + timedelta(hours=1))
    put_back(question=fresh(original), by=TESTS, now=NOON + timedelta(hours=2))
    left = Question.with_checks.filter(pk__in=(repeat.pk, original.pk), taken_out_at=None)
    assert list(left) == [original]


def test_more_answers_bring_checks_with_them(study: Study) -> None:
    add_answers(study=study, more=1, by=TESTS, now=NOON)
    seat = Seat.objects.order_by("pk").last()
    assert seat is not None
    assert Counter(types_in(seat)) == {"": 30, "gold": 2, "instruction": 2, "repeat": 2}
    # The two gold questions that nobody was asked before.
    old = Slot.objects.exclude(seat=seat).filter(question__check_type="gold").values("question")
    assert not seat.slots.filter(question__in=old).exists()
    wanted = set(Question.with_checks.filter(study=study, slots__seat=seat).values_list("answers_wanted", flat=True))
    assert wanted == {3}


def test_the_time_of_checks_is_checked_like_that_of_other_answers(study: Study, settings: LazySettings) -> None:
    settings.CHECK_TIMES = True
    session = arrive_at_work(study)
    for number, slot in enumerate(open_slots(session), 1):
        send(session, slot, now=NOON + timedelta(seconds=number))
    assert fresh(session).state == SessionState.FINISHED
    assert Response.objects.filter(session=session, received_at__gt=F("session__first_question_at")).count() == 36
