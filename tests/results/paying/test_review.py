from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from annotation.actions.removing import removals
from annotation.actions.removing.retire_questions import take_out
from annotation.models import Payment, Response, Session, SessionState, Submission
from annotation.recruitment.prolific import bodies
from studies.models import Question
from tests.annotation.paying.stage import Stage, stage
from tests.annotation.test_rejection_rules import MESSAGE
from tests.checking import fail_instructions
from tests.factories import NOON, TESTS, make_member
from tests.pages import signed_in, words_of
from tests.prolific import CODES

PAGE = "/studies/vases/birds-step-3/review/"
QUERIES = 22
State = Payment.State
PART = bodies.CompletionCode(code="CPART1XY", code_type="OTHER", actor="researcher", actions=(bodies.PayInPart(),))


def page_of(paying: Stage, number: int = 0) -> str:
    return f"{PAGE}{paying.sessions[number].pk}/"


def test_all_that_are_unmarked_are_approved_at_once_and_marked_ones_stay(paying: Stage, owner: Client) -> None:
    Session.objects.filter(pk=paying.sessions[1].pk).update(
        time_evidence={
            **{"answers": 5, "quick": 5, "claimed": 105.0, "possible": 0.4, "least": 2.9},
            **{"is_too_quick": True, "claims_too_much": True},
        }
    )
    Submission.objects.filter(session=paying.sessions[2]).update(flag=Submission.Flag.WRONG_CODE)
    page = owner.get(PAGE)
    # A third of 4.00 is the fee.
    assert "USD 4.00, plus USD 1.33 for Prolific’s fee and taxes: <strong>USD 5.33</strong>" in words_of(page)
    assert "Unlikely times" in words_of(page)
    assert "Another code than the one shown here" in words_of(page)
    form = BeautifulSoup(page.content, "html.parser").select_one("form:has(input[name=session])")
    assert form is not None
    sent = {"session": [tag["value"] for tag in form.select("input[name=session]")]}
    assert sent == {"session": [str(paying.sessions[0].pk)]}
    answer = owner.post(PAGE, sent, follow=True)
    told = "<strong>1 approved, USD 4.00 without fees.</strong>"
    assert f"{told} 1 being sent." in words_of(answer)
    assert "<details open>" in words_of(answer)
    paying.minute(2)
    followed = answer.redirect_chain[0][0]
    assert f"{told} 1 paid." in words_of(owner.get(followed, headers={"HX-Request": "true"}))
    assert "hx-trigger" in words_of(answer)
    assert "hx-trigger" not in words_of(owner.get(followed, headers={"HX-Request": "true"}))
    assert paying.paid("reward") == [400, 0, 0]
    assert [row.session_id for row in Payment.objects.all()] == [paying.sessions[0].pk]


def test_a_mark_that_comes_after_the_page_was_read_keeps_somebody_out(paying: Stage, owner: Client) -> None:
    Submission.objects.filter(session=paying.sessions[0]).update(flag=Submission.Flag.WRONG_CODE)
    owner.post(PAGE, {"session": [session.pk for session in paying.sessions]})
    assert {row.session_id for row in Payment.objects.all()} == {each.pk for each in paying.sessions[1:]}


def test_sending_the_form_twice_orders_once(paying: Stage, owner: Client) -> None:
    sessions = {"session": [session.pk for session in paying.sessions]}
    owner.post(PAGE, sessions)
    owner.post(PAGE, sessions)
    assert Payment.objects.count() == 3


def test_sessions_of_another_study_are_not_approved(paying: Stage, owner: Client) -> None:
    answer = owner.post(PAGE, {"session": ["999999", "x"]}, follow=True)
    assert "None of these submissions can be approved now. Nothing was ordered." in words_of(answer)


def test_somebody_who_is_marked_is_approved_alone_by_a_researcher(paying: Stage, owner: Client) -> None:
    Submission.objects.filter(session=paying.sessions[0]).update(flag=Submission.Flag.WRONG_CODE)
    assert owner.post(page_of(paying), {"do": "approve"}).status_code == 302
    paying.minute()
    assert paying.paid("reward") == [400, 0, 0]


def test_a_single_bonus_is_looked_over_and_then_ordered(paying: Stage, owner: Client) -> None:
    first = owner.post(page_of(paying), {"do": "bonus", "amount": "1.5", "note": "Very careful."})
    assert "<strong>USD 1.50</strong>" in words_of(first)
    assert not Payment.objects.exists()
    owner.post(page_of(paying), {"do": "bonus", "amount": "1.5", "note": "Very careful.", "sure": "1.5"})
    row = Payment.objects.get()
    assert (str(row.amount), row.note, row.reason) == ("1.50", "Very careful.", "decided")
    assert row.ordered_by is not None
    assert row.ordered_by.get_username() == "olga"
    # There is one per session.
    page = words_of(owner.get(page_of(paying)))
    assert "The bonus of this session is ordered." in page
    assert 'name="note"' not in page
    # A changed amount is looked over again.
    other = owner.post(page_of(paying, 1), {"do": "bonus", "amount": "15", "sure": "1.5"})
    assert "<strong>USD 15.00</strong>" in words_of(other)
    assert Payment.objects.count() == 1


@pytest.mark.parametrize("amount", ["", "-1", "0", "1.505", "a lot", "NaN", "1e9"])
def test_an_amount_that_is_none_is_refused_and_what_was_typed_stays(paying: Stage, owner: Client, amount: str) -> None:
    page = owner.post(page_of(paying), {"do": "bonus", "amount": amount, "note": "Very careful.", "sure": amount})
    assert page.status_code == 409
    assert "Enter an amount such as 1.50." in words_of(page)
    assert 'value="Very careful."' in words_of(page)
    assert not Payment.objects.exists()


def test_somebody_is_asked_to_return(paying: Stage, owner: Client) -> None:
    page = owner.post(page_of(paying), {"do": "return", "reason": "Withdrew consent"}, follow=True)
    assert "was asked to return the submission." in words_of(page)
    assert "Was asked to return" in words_of(page)
    assert owner.post(page_of(paying), {"do": "return", "reason": "I do not like it"}).status_code == 409


def test_a_rejection_is_checked_then_shown_again_and_then_sent(paying: Stage, owner: Client) -> None:
    reject = f"{page_of(paying)}reject/"
    fail_instructions(paying.sessions[0], 1)
    typed = {"category": "FAILED_CHECK", "message": MESSAGE}
    page = owner.post(reject, {**typed, "sure": "1"})
    assert "At least 2 attention checks must have failed. Failed instruction checks: 1." in words_of(page)
    assert MESSAGE in words_of(page)
    fail_instructions(paying.sessions[0], 1)
    page = owner.post(reject, typed)
    assert "Failed instruction checks: 2 of 2" in words_of(page)
    assert (page.status_code, "Reject submission" in words_of(page)) == (200, True)
    assert paying.local.status(paying.ids[0]) == "AWAITING REVIEW"
    page = owner.post(reject, {**typed, "sure": "1"}, follow=True)
    assert "is rejected." in words_of(page)
    assert paying.local.status(paying.ids[0]) == "REJECTED"


def test_who_was_excluded_and_replaced_can_still_be_rejected_for_failed_instructions(
    paying: Stage, owner: Client
) -> None:
    session = paying.sessions[0]
    fail_instructions(session, 3)
    taken_out = Question.with_checks.filter(study=session.study, check_type="instruction").order_by("-pk")[0]
    take_out(question=taken_out, reason="Broken", by=TESTS, now=NOON)
    about: dict[str, Any] = {"annotator": session.annotator, "project": session.study.project, "by": TESTS, "now": NOON}
    removals.exclude(**about, reason="No care")
    removals.reopen_slots(**about)
    assert not Response.objects.filter(session=session, is_check=True, slot__isnull=False).exists()
    page = owner.post(f"{page_of(paying)}reject/", {"category": "FAILED_CHECK", "message": MESSAGE})
    assert "Failed instruction checks: 2 of 2" in words_of(page)
    assert (page.status_code, "Reject submission" in words_of(page)) == (200, True)


def test_an_owner_undoes_a_rejection_after_a_confirmation(paying: Stage, owner: Client) -> None:
    sent = {"category": "LOW_EFFORT", "message": MESSAGE, "looked": "1", "sure": "1"}
    owner.post(f"{page_of(paying)}reject/", sent)
    assert "Undo rejection..." in words_of(owner.get(page_of(paying)))
    page = owner.post(page_of(paying), {"do": "undo"})
    assert "Yes, undo the rejection" in words_of(page)
    assert paying.local.status(paying.ids[0]) == "REJECTED"
    viewer = signed_in(make_member(paying.study.project, "editor", name="edna"))
    assert viewer.post(page_of(paying), {"do": "undo", "sure": "1"}).status_code == 403
    page = owner.post(page_of(paying), {"do": "undo", "sure": "1"}, follow=True)
    assert "is undone. Approve the submission to pay it." in words_of(page)
    assert paying.local.status(paying.ids[0]) == "AWAITING REVIEW"
    assert 'value="approve"' in words_of(page)


@pytest.mark.parametrize(
    "moment",
    ["", "x", "2026-99-99T00:00", "2026-11-20", "2026-11-20T12:00:00%2B00:00", "0001-01-01T00:00:00%2B23:59"],
)
def test_a_moment_at_which_nothing_was_ordered_shows_nothing(paying: Stage, owner: Client, moment: str) -> None:
    page = owner.get(f"{PAGE}?ordered={moment}")
    assert (page.status_code, "approved, USD" in words_of(page)) == (200, False)


def test_a_rejection_that_prolific_refuses_keeps_what_was_typed(paying: Stage, owner: Client) -> None:
    paying.local.play("return", submission=paying.ids[0])
    sent = {"category": "LOW_EFFORT", "message": MESSAGE, "looked": "1", "sure": "1"}
    page = owner.post(f"{page_of(paying)}reject/", sent)
    assert page.status_code == 409
    assert "This is not possible while the submission is RETURNED." in words_of(page)
    assert MESSAGE in words_of(page)


@pytest.fixture
def in_parts(db: None, tmp_path: Path) -> Iterator[Stage]:
    with stage(tmp_path, is_checked=False, completion_codes=(*CODES, PART)) as begun:
        yield begun


def test_a_part_of_the_reward_is_paid_where_prolific_allows_it(in_parts: Stage) -> None:
    owner = signed_in(make_member(in_parts.study.project, "owner", name="olga"))
    assert "From 8 to 99 % of USD 4.00." in words_of(owner.get(page_of(in_parts)))
    sent = {"do": "part", "amount": "4.00", "note": "Half of the questions were answered."}
    assert "A part is from 8 to 99 % of the reward" in words_of(owner.post(page_of(in_parts), sent))
    owner.post(page_of(in_parts), {**sent, "amount": "2.00"})
    in_parts.minute()
    assert in_parts.local.status(in_parts.ids[0]) == "PARTIALLY APPROVED"
    assert (in_parts.paid("part"), in_parts.states()) == ([200, 0, 0], [State.PAID])
    # Neither the whole reward nor another part on top.
    Submission.objects.update(status="AWAITING REVIEW")
    owner.post(page_of(in_parts), {"do": "approve"})
    assert Payment.objects.count() == 1


def test_a_part_is_not_offered_without_a_code_for_it(paying: Stage, owner: Client) -> None:
    assert "Pay this part" not in words_of(owner.get(page_of(paying)))
    page = owner.post(page_of(paying), {"do": "part", "amount": "2.00", "note": "Half."})
    assert "Prolific does not allow part of the reward for this submission. Pay a bonus instead." in words_of(page)


def test_who_finished_and_lost_the_place_is_listed_apart(paying: Stage, owner: Client) -> None:
    Submission.objects.filter(session=paying.sessions[0]).update(status="TIMED-OUT")
    assert "Finished here, returned or timed out on Prolific" in words_of(owner.get(PAGE))
    # A bonus of the reward is suggested, and can be paid whatever the status is.
    assert 'name="amount" inputmode="decimal" required value="4.00"' in words_of(owner.get(page_of(paying)))
    owner.post(page_of(paying), {"do": "bonus", "amount": "4.00", "sure": "4.00"})
    paying.minute()
    assert paying.paid() == [400, 0, 0]


def test_a_viewer_sees_states_and_no_buttons(paying: Stage) -> None:
    paying.approve()
    viewer = signed_in(make_member(paying.study.project, "viewer"))
    page = words_of(viewer.get(PAGE))
    assert "Reward of the submission, USD 4.00: planned" in page
    assert "Approve all" not in page
    assert "Review the submission" not in words_of(viewer.get(page_of(paying)))
    assert viewer.post(page_of(paying), {"do": "approve"}).status_code == 403


def test_no_page_shows_an_id_of_prolifics(paying: Stage, owner: Client) -> None:
    paying.approve()
    paying.bonus("1.50")
    paying.minute(2)
    row = Payment.objects.all()[0]
    addresses = [PAGE, page_of(paying), "/studies/vases/birds-step-3/owed/", "/projects/vases/money/"]
    addresses += [f"/projects/vases/money/payments/{row.pk}/", "/studies/vases/birds-step-3/bonuses/"]
    for address in addresses:
        page = words_of(owner.get(address))
        assert not any(id_ in page for id_ in (*paying.ids, "person-0", paying.remote.remote_id)), address


def test_more_sessions_need_no_more_queries(
    paying: Stage, owner: Client, django_assert_num_queries: Callable[[int], Any]
) -> None:
    owner.get(PAGE)
    with django_assert_num_queries(QUERIES):
        owner.get(PAGE)
    Submission.objects.exclude(session=paying.sessions[0]).delete()
    with django_assert_num_queries(QUERIES):
        owner.get(PAGE)


def test_activity_says_reasons_and_categories_in_words(paying: Stage, owner: Client) -> None:
    paying.approve(paying.sessions[:1])
    fields = {"category": "LOW_EFFORT", "message": "All answers are the same. " * 5, "looked": "1", "sure": "1"}
    owner.post(f"{page_of(paying, 1)}reject/", fields)
    page = words_of(owner.get("/projects/vases/events/"))
    assert "ordered 1 payment for birds-step-3, USD 4.00: reward of the submission" in page
    assert "in birds-step-3: Answers show no effort" in page


def test_who_lost_the_place_stays_listed_until_somebody_is_paid(paying: Stage, owner: Client) -> None:
    # Their place was lost after the reward was ordered, so that Prolific refused it.
    paying.approve(paying.sessions[:1])
    Payment.objects.update(state=State.REFUSED)
    Submission.objects.filter(session=paying.sessions[0]).update(status="TIMED-OUT")
    assert "Finished here, returned or timed out on Prolific" in words_of(owner.get(PAGE))


@pytest.mark.parametrize("state", [SessionState.NO_CONSENT, SessionState.WAITED, SessionState.FAILED_CHECKS])
def test_nobody_is_rejected_who_was_let_go(paying: Stage, owner: Client, state: str) -> None:
    Session.objects.filter(pk=paying.sessions[0].pk).update(state=state)
    sent = {"category": "NO_CODE", "message": MESSAGE, "looked": "1", "sure": "1"}
    page = owner.post(f"{page_of(paying)}reject/", sent)
    assert (page.status_code, "Ask them to return." in words_of(page)) == (409, True)
    assert paying.local.status(paying.ids[0]) == "AWAITING REVIEW"


@pytest.mark.parametrize("number", ["9" * 30, "9" * 5000])
def test_numbers_that_no_session_has_approve_nobody(paying: Stage, owner: Client, number: str) -> None:
    answer = owner.post(PAGE, {"session": [number]}, follow=True)
    assert "Nothing was ordered." in words_of(answer)
