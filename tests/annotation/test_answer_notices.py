"""Answers to one question from several tabs and browsers: which one stands, and what every page says of the others."""

import uuid
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from annotation.actions import sessions
from annotation.actions.answering import advance_session, responses
from annotation.actions.answering.responses import SendOrder
from annotation.actions.removing.removals import exclude
from annotation.models import AnswerNotice, Response, Session, SessionState, Slot
from studies.models import CompletionCode
from tests.annotation.test_pipeline import make_pipeline_project, make_step_4
from tests.annotation.test_repetitions import describing
from tests.annotation.test_responses import next_slot, send
from tests.annotation.test_work_pages import form_of, page_of, post_json
from tests.factories import NOON, TESTS, arrive, arrive_at_work, launch_study

pytestmark = pytest.mark.django_db
LAPTOP, PHONE = uuid.UUID(int=1), uuid.UUID(int=2)
JSON = {"accept": "application/json"}


@pytest.fixture(autouse=True)
def _at_noon(time_machine: Any) -> None:
    time_machine.move_to(NOON, tick=False)


def from_laptop(number: int) -> SendOrder:
    return SendOrder(LAPTOP, number)


def from_phone(number: int) -> SendOrder:
    return SendOrder(PHONE, number)


def stored(session: Session) -> list[tuple[str, int, bool]]:
    """Return (option as it was shown, version, stands) of each response, in the order of their versions."""
    found = Response.objects.filter(session=session).order_by("version")
    return [
        ("none" if one.choice == "none" else str(one.shown_order.index(one.choice) + 1), one.version, one.is_current)
        for one in found
    ]


def told(page: bytes | str) -> list[str]:
    """Return what the notices of a page say, without the links in them."""
    items = BeautifulSoup(page, "html.parser").select("[data-notices] li span")
    return [item.get_text(strip=True) for item in items]


def test_a_notice_numbers_its_question_as_the_page_did_while_an_earlier_answer_is_on_its_way() -> None:
    session = arrive_at_work(launch_study())
    # Both pages show questions 1 to 4. What was sent for the first has not arrived yet.
    second = responses.open_slots(session=session, limit=4)[1]
    send(session, second, "1", order=from_laptop(2))
    send(session, second, "2", order=from_phone(1))
    assert AnswerNotice.objects.get().number == 2


def test_of_one_browser_the_last_send_stands_and_the_one_before_is_kept() -> None:
    session = arrive_at_work(launch_study())
    slot = next_slot(session)
    send(session, slot, "2", order=from_laptop(1))
    receipt = send(session, slot, "none", order=from_laptop(2))
    assert (receipt.replaced_earlier, receipt.first_kept, receipt.answered) == (True, False, 1)
    assert stored(session) == [("2", 1, False), ("none", 2, True)]
    notice = AnswerNotice.objects.get()
    assert (notice.why, notice.number, notice.answer) == ("sent_again", 1, Response.objects.get(version=1).answer)


def test_of_one_browser_the_last_send_stands_even_if_it_arrives_first() -> None:
    session = arrive_at_work(launch_study())
    slot = next_slot(session)
    send(session, slot, "none", order=from_laptop(2))
    assert send(session, slot, "2", order=from_laptop(1)).newer_kept
    assert stored(session) == [("none", 1, True)]
    assert AnswerNotice.objects.get().why == "sent_again"


def test_of_two_browsers_the_answer_that_arrives_last_stands_whatever_their_clocks_say() -> None:
    session = arrive_at_work(launch_study())
    slot = next_slot(session)
    send(session, slot, "1", order=from_laptop(9))
    send(session, slot, "2", order=from_phone(1))
    send(session, slot, "3", order=from_laptop(10))
    assert stored(session) == [("1", 1, False), ("2", 2, False), ("3", 3, True)]
    assert list(AnswerNotice.objects.values_list("why", flat=True)) == ["other_browser", "other_browser"]


def test_an_older_answer_of_a_browser_does_not_come_back_over_another_browsers() -> None:
    session = arrive_at_work(launch_study())
    slot = next_slot(session)
    send(session, slot, "1", order=from_laptop(2))
    send(session, slot, "2", order=from_phone(1))
    # It was sent before the laptop's other answer, which stands no more.
    assert send(session, slot, "3", order=from_laptop(1)).newer_kept
    assert stored(session) == [("1", 1, False), ("2", 2, True)]


def test_a_repeat_of_an_answer_that_another_took_the_place_of_changes_nothing() -> None:
    session = arrive_at_work(launch_study())
    slot, submission = next_slot(session), uuid.uuid4()
    send(session, slot, "1", order=from_laptop(1), submission=submission)
    send(session, slot, "2", order=from_laptop(2))
    again = send(session, slot, "1", order=from_laptop(1), submission=submission)
    assert (again.stored, again.newer_kept, again.replaced_earlier) == (True, False, False)
    assert stored(session) == [("1", 1, False), ("2", 2, True)]
    assert AnswerNotice.objects.count() == 1


def test_the_same_answer_from_two_browsers_is_nothing_to_tell() -> None:
    session = arrive_at_work(launch_study())
    slot = next_slot(session)
    send(session, slot, "1", order=from_laptop(1))
    send(session, slot, "1", order=from_phone(1))
    assert not AnswerNotice.objects.exists()


def test_a_change_on_a_page_that_showed_the_answer_is_nothing_to_tell() -> None:
    session = arrive_at_work(launch_study())
    slot = next_slot(session)
    send(session, slot, "1", order=from_laptop(1))
    send(session, slot, "2", order=from_phone(1), replaces=1)
    assert stored(session) == [("1", 1, False), ("2", 2, True)]
    assert not AnswerNotice.objects.exists()


def test_a_change_on_a_page_that_was_behind_stands_and_names_the_one_before() -> None:
    session = arrive_at_work(launch_study())
    slot = next_slot(session)
    send(session, slot, "1", order=from_laptop(1))
    send(session, slot, "2", order=from_phone(1), replaces=1)
    send(session, slot, "3", order=from_laptop(2), replaces=1)
    assert stored(session)[-1] == ("3", 3, True)
    assert AnswerNotice.objects.get().why == "other_browser"


def test_a_page_of_an_older_version_leaves_the_first_answer_standing() -> None:
    session = arrive_at_work(launch_study())
    slot = next_slot(session)
    send(session, slot, "1", order=from_laptop(1))
    assert send(session, slot, "2").first_kept
    assert stored(session) == [("1", 1, True)]
    assert AnswerNotice.objects.get().why == "first_stands"


def test_an_answer_in_order_takes_the_place_of_one_without() -> None:
    session = arrive_at_work(launch_study())
    slot = next_slot(session)
    send(session, slot, "1")
    send(session, slot, "2", order=from_laptop(1))
    assert stored(session) == [("1", 1, False), ("2", 2, True)]


def test_what_stands_again_is_told_no_more() -> None:
    session = arrive_at_work(launch_study())
    slot = next_slot(session)
    send(session, slot, "1", order=from_laptop(1))
    send(session, slot, "2", order=from_phone(1))
    send(session, slot, "1", order=from_laptop(2), replaces=2)
    session.refresh_from_db()
    assert session.unseen_notices == 0


def test_the_last_answer_can_be_sent_again_while_the_time_of_the_session_lasts() -> None:
    session = arrive_at_work(launch_study(instances=1))
    slot = next_slot(session)
    send(session, slot, "2", order=from_laptop(1))
    session.refresh_from_db()
    assert session.state == SessionState.FINISHED
    receipt = send(session, slot, "none", order=from_laptop(2))
    assert (receipt.replaced_earlier, receipt.state) == (True, SessionState.FINISHED)
    assert stored(session) == [("2", 1, False), ("none", 2, True)]
    Session.objects.update(lease_until=NOON)
    assert send(session, slot, "1", order=from_laptop(3)).is_final
    assert stored(session)[-1] == ("none", 2, True)
    assert AnswerNotice.objects.get(why="ended").answer != Response.objects.get(is_current=True).answer


@pytest.mark.parametrize("state", [SessionState.GIVEN_UP, SessionState.STOPPED, SessionState.RETURNED])
def test_a_session_that_was_ended_takes_no_other_answer(state: SessionState) -> None:
    session = arrive_at_work(launch_study())
    slot = next_slot(session)
    send(session, slot, "2", order=from_laptop(1))
    sessions.leave(session=session, to=state, now=NOON)
    assert send(session, slot, "1", order=from_laptop(2)).is_final
    assert stored(session) == [("2", 1, True)]
    assert AnswerNotice.objects.get().why == "ended"


def test_an_answer_that_another_study_uses_is_final() -> None:
    project = make_pipeline_project(2)
    session = arrive_at_work(launch_study(project, instances=2), "ann")
    slot = next_slot(session)
    send(session, slot, "1", order=from_laptop(1))
    arrive(make_step_4(project), "ben")
    assert send(session, slot, "none", order=from_laptop(2)).is_final
    assert AnswerNotice.objects.get().why == "built_on"


def test_whoever_took_their_consent_back_is_told_nothing_and_nothing_is_kept(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=1))
    slot = next_slot(session)
    send(session, slot, "1", order=from_laptop(1))
    send(session, slot, "2", order=from_laptop(2))
    client.post(f"{page_of(session)}take-back/")
    assert not send(session, slot, "3", order=from_laptop(3)).stored
    assert Response.objects.count() == 2
    assert not AnswerNotice.objects.exists()
    assert told(client.get(page_of(session)).content) == []


# What follows is on the pages.


def answered_again(session: Session) -> None:
    """Answer the first question on the laptop, then on the phone."""
    slot = next_slot(session)
    send(session, slot, "1", order=from_laptop(1))
    send(session, slot, "2", order=from_phone(1))


TOLD = (
    "You answered question 1 in two browsers. The answer that arrived last counts. "
    "Kept: “Image B”. Not kept: “Image A”."
)


def at_instructions(session: Session) -> str:
    Session.objects.update(state=SessionState.INSTRUCTIONS)
    return page_of(session)


def at_a_question(session: Session) -> str:
    return page_of(session)


def at_a_change(session: Session) -> str:
    return f"{page_of(session)}change/"


def at_the_last_look(session: Session) -> str:
    send(session, next_slot(session), "1")
    return page_of(session)


def in_the_lobby(session: Session) -> str:
    Session.objects.update(state=SessionState.WAITING)
    return page_of(session)


def at_the_end(session: Session) -> str:
    at_the_last_look(session)
    advance_session.finish_if_done(session=Session.objects.get(), now=NOON)
    return page_of(session)


def over_time(session: Session) -> str:
    sessions.leave(session=session, to=SessionState.LAPSED, now=NOON)
    return page_of(session)


def at_the_question_about_stopping(session: Session) -> str:
    return f"{page_of(session)}give-up/"


def at_the_help(session: Session) -> str:
    return f"{page_of(session)}help/"


PAGES: list[Callable[[Session], str]] = [
    *(at_instructions, at_a_question, at_a_change, at_the_last_look, in_the_lobby, at_the_end, over_time),
    *(at_the_question_about_stopping, at_the_help),
]


@pytest.mark.both
@pytest.mark.parametrize("come_to", PAGES, ids=lambda come_to: come_to.__name__)
def test_every_page_names_the_answer_that_does_not_stand_until_it_is_seen(
    client: Client, come_to: Callable[[Session], str]
) -> None:
    session = arrive_at_work(launch_study(instances=2, answering={"last_look": True}))
    answered_again(session)
    page = come_to(session)
    for _ in range(2):
        assert told(client.get(page).content) == [TOLD]
    seen = {"notices": str(AnswerNotice.objects.get().pk)}
    client.post(f"{page_of(session)}seen/", seen)
    assert told(client.get(page).content) == []
    assert AnswerNotice.objects.get().answer is None


def test_a_page_that_says_what_went_wrong_names_it_too(client: Client) -> None:
    session = arrive_at_work(launch_study())
    answered_again(session)
    problem = client.post(f"{page_of(session)}consent/", {"agree": "perhaps"})
    assert problem.status_code == 422
    assert told(problem.content) == [TOLD]


def test_the_ending_does_not_lead_away_from_what_is_to_be_seen(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=1))
    answered_again(session)
    assert b"data-redirect=" not in client.get(page_of(session)).content
    assert CompletionCode.objects.get(outcome="finished").code in client.get(page_of(session)).content.decode()


def test_three_answers_from_a_tab_that_is_behind_are_three_named(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=4))
    slots = responses.open_slots(session=session, limit=3)
    for number, slot in enumerate(slots, start=1):
        send(session, slot, "1", order=from_laptop(number))
    for number, slot in enumerate(slots, start=4):
        send(session, slot, "2", order=from_laptop(number))
    said = "You answered question {} more than once. Your last answer counts. Kept: “Image B”. Not kept: “Image A”."
    assert told(client.get(page_of(session)).content) == [said.format(number) for number in (1, 2, 3)]


def test_a_page_that_goes_on_by_itself_is_told_with_its_next_answer(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=4))
    answered_again(session)
    answer = {"slot": str(next_slot(session).pk), "submission": str(uuid.uuid4()), "choice": "1"}
    reply = post_json(client, session, answer).json()
    assert (reply["go"], told(reply["notices"])) == (None, [TOLD])
    seen = {"notices": str(AnswerNotice.objects.get().pk)}
    left = client.post(f"{page_of(session)}seen/", seen, headers=JSON).json()
    assert told(left["notices"]) == []
    answer = {"slot": str(next_slot(session).pk), "submission": str(uuid.uuid4()), "choice": "1"}
    assert "notices" not in post_json(client, session, answer).json()


def test_a_notice_leads_to_where_the_answer_can_be_changed(client: Client) -> None:
    session = arrive_at_work(launch_study())
    answered_again(session)
    slot = Slot.objects.exclude(answered_at=None).get()
    (link,) = BeautifulSoup(client.get(page_of(session)).content, "html.parser").select("[data-notices] a")
    assert link["href"] == f"{page_of(session)}change/{slot.pk}/"
    assert b"You are changing your answer to question 1." in client.get(str(link["href"])).content


def test_notices_of_another_session_cannot_be_taken_away(client: Client) -> None:
    study = launch_study(answers=2)
    ann, ben = arrive_at_work(study, "ann"), arrive_at_work(study, "ben")
    answered_again(ann)
    client.post(f"{page_of(ben)}seen/", {"notices": str(AnswerNotice.objects.get().pk)})
    assert told(client.get(page_of(ann)).content) == [TOLD]


def test_the_order_comes_with_the_form(client: Client) -> None:
    session = arrive_at_work(launch_study())
    order = {"browser": LAPTOP.hex, "send_number": "1763935200000"}
    post_json(client, session, form_of(client.get(page_of(session)).content) | {"choice": "1"} | order)
    response = Response.objects.get()
    assert (response.browser, response.send_number) == (LAPTOP, 1763935200000)


@pytest.mark.parametrize(
    "order",
    [
        {"browser": "x", "send_number": "1"},
        {"browser": LAPTOP.hex, "send_number": "-1"},
        {"browser": LAPTOP.hex},
        {"browser": LAPTOP.hex, "send_number": str(2**53)},
        {"browser": LAPTOP.hex, "send_number": "9" * 30},
    ],
    ids=str,
)
def test_an_order_that_cannot_be_read_never_costs_the_answer(client: Client, order: dict[str, str]) -> None:
    session = arrive_at_work(launch_study())
    fields = form_of(client.get(page_of(session)).content) | {"choice": "1"} | order
    assert post_json(client, session, fields).json()["saved"]
    assert Response.objects.get().browser is None


def test_a_long_text_is_named_by_its_beginning(client: Client) -> None:
    session = arrive_at_work(describing(sets=2, targets=3))
    slot = next_slot(session)
    texts = ["The first thing has its lid open a little.", "The second thing " + "stands very close to it and " * 5]
    for number, text in enumerate(texts, start=1):
        send(session, slot, posted={"text": text.strip()}, order=from_laptop(number))
    beginning = texts[1][:80].rstrip()
    (said,) = told(client.get(page_of(session)).content)
    assert said.endswith(f"Kept: “{beginning}…”. Not kept: “{texts[0]}”.")


def test_a_late_answer_after_an_exclusion_is_final(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=1))
    slot = next_slot(session)
    send(session, slot, "1", order=from_laptop(1))
    exclude(annotator=session.annotator, project=session.study.project, reason="A script.", by=TESTS, now=NOON)
    later = NOON + timedelta(minutes=1)
    sent = responses.Submission(slot=slot.pk, submission=uuid.uuid4(), posted={"choice": "2"}, order=from_laptop(2))
    assert responses.submit(token=session.token, sent=sent, now=later).is_final
    assert stored(session) == [("1", 1, True)]
