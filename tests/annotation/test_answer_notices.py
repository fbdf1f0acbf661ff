"""Answers to one question from several tabs and browsers: which one stands, and what every page says of the others."""

import uuid
from collections.abc import Callable
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from annotation.actions import sessions
from annotation.actions.answering import advance_session, responses
from annotation.actions.answering.responses import SendOrder
from annotation.models import AnswerNotice, Response, Session, SessionState, Slot
from studies.models import CompletionCode
from tests.annotation.test_repetitions import describing
from tests.annotation.test_responses import next_slot, send
from tests.annotation.test_work_pages import form_at, page_of, post_json
from tests.factories import NOON, arrive_at_work, fresh, launch_study
from tests.removing import exclude

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at_noon")]
LAPTOP, PHONE = uuid.UUID(int=1), uuid.UUID(int=2)


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


def laptop(number: int, value: str, **more: Any) -> dict[str, Any]:
    return {"value": value, "order": SendOrder(LAPTOP, number), **more}


def phone(number: int, value: str, **more: Any) -> dict[str, Any]:
    return {"value": value, "order": SendOrder(PHONE, number), **more}


@pytest.mark.parametrize(
    ("sent", "outcome", "values", "unseen"),
    [
        pytest.param(
            [laptop(1, "2"), laptop(2, "none")], "replaced_earlier", ["2", "none"], ["sent_again"], id="one browser"
        ),
        pytest.param(
            [laptop(2, "none"), laptop(1, "2")], "newer_kept", ["none"], ["sent_again"], id="one browser, out of order"
        ),
        pytest.param(
            [laptop(9, "1"), phone(1, "2"), laptop(10, "3")],
            "replaced_earlier",
            ["1", "2", "3"],
            ["other_browser", "other_browser"],
            id="two browsers, whatever their clocks say",
        ),
        pytest.param(
            [laptop(2, "1"), phone(1, "2"), laptop(1, "3")],
            "newer_kept",
            ["1", "2"],
            ["other_browser", "sent_again"],
            id="an older answer of a browser does not come back over another browser's",
        ),
        pytest.param([laptop(1, "1"), phone(1, "1")], "replaced_earlier", ["1", "1"], [], id="the same answer"),
        pytest.param(
            [laptop(1, "1"), phone(1, "2", replaces=1)], "replaced_earlier", ["1", "2"], [], id="a page that showed it"
        ),
        pytest.param(
            [laptop(1, "1"), phone(1, "2", replaces=1), laptop(2, "3", replaces=1)],
            "replaced_earlier",
            ["1", "2", "3"],
            ["other_browser"],
            id="a page that was behind",
        ),
        pytest.param(
            [laptop(1, "1"), phone(1, "2"), laptop(2, "1", replaces=2)],
            "replaced_earlier",
            ["1", "2", "1"],
            [],
            id="what stands again is told no more",
        ),
        pytest.param([laptop(1, "1"), {"value": "2"}], "first_kept", ["1"], ["first_stands"], id="without order"),
        pytest.param(
            [{"value": "1"}, laptop(1, "2")], "replaced_earlier", ["1", "2"], ["other_browser"], id="after one without"
        ),
        pytest.param([{"value": "1"}, {"value": "none"}], "first_kept", ["1"], ["first_stands"], id="both without"),
        pytest.param(
            [{"value": "1"}, {"value": "2", "replaces": 1}, {"value": "none", "replaces": 1}],
            "newer_kept",
            ["1", "2"],
            ["newer_stands"],
            id="a change to an older version",
        ),
    ],
)
def test_which_answer_stands_and_which_are_told_of(
    sent: list[dict[str, Any]], outcome: str, values: list[str], unseen: list[str]
) -> None:
    """outcome: the one flag of the last result. values: those of all versions, of which the last stands."""
    session = arrive_at_work(launch_study())
    slot = next_slot(session)
    for each in sent:
        result = send(session, slot, **each)
    flags = {name for name in ("replaced_earlier", "first_kept", "newer_kept") if getattr(result, name)}
    assert (flags, result.answered) == ({outcome}, 1)
    last = len(values)
    assert stored(session) == [(value, version, version == last) for version, value in enumerate(values, start=1)]
    notices = AnswerNotice.objects.filter(seen_at=None)
    assert [(notice.why, notice.number) for notice in notices] == [(why, 1) for why in unseen]
    assert fresh(session).unseen_notices == len(unseen)


def test_a_notice_numbers_its_question_as_the_page_did_while_an_earlier_answer_is_on_its_way(session: Session) -> None:
    # Both pages show questions 1 to 4. What was sent for the first has not arrived yet.
    second = responses.open_slots(session=session, limit=4)[1]
    send(session, second, **laptop(2, "1"))
    send(session, second, **phone(1, "2"))
    assert AnswerNotice.objects.get().number == 2


def test_a_repeat_of_an_answer_that_another_took_the_place_of_changes_nothing(session: Session) -> None:
    slot, submission = next_slot(session), uuid.uuid4()
    send(session, slot, **laptop(1, "1", submission=submission))
    send(session, slot, **laptop(2, "2"))
    again = send(session, slot, **laptop(1, "1", submission=submission))
    assert (again.stored, again.newer_kept, again.replaced_earlier) == (True, False, False)
    assert stored(session) == [("1", 1, False), ("2", 2, True)]
    assert AnswerNotice.objects.count() == 1


def test_the_last_answer_can_be_sent_again_while_the_time_of_the_session_lasts() -> None:
    session = arrive_at_work(launch_study(instances=1))
    slot = next_slot(session)
    send(session, slot, **laptop(1, "2"))
    assert fresh(session).state == SessionState.FINISHED
    receipt = send(session, slot, **laptop(2, "none"))
    assert (receipt.replaced_earlier, receipt.state) == (True, SessionState.FINISHED)
    assert stored(session) == [("2", 1, False), ("none", 2, True)]
    Session.objects.update(lease_until=NOON)
    assert send(session, slot, **laptop(3, "1")).is_final
    assert stored(session)[-1] == ("none", 2, True)
    assert AnswerNotice.objects.get(why="ended").answer != Response.objects.get(is_current=True).answer


@pytest.mark.parametrize("state", [SessionState.GIVEN_UP, SessionState.STOPPED, SessionState.RETURNED, None])
def test_a_session_that_was_ended_or_is_of_somebody_excluded_takes_no_other_answer(state: SessionState | None) -> None:
    session = arrive_at_work(launch_study(instances=2 if state else 1))
    slot = next_slot(session)
    send(session, slot, **laptop(1, "2"))
    if state:
        sessions.leave(session=session, to=state, now=NOON)
    else:
        exclude(session.study.project, "ann")
    assert send(session, slot, **laptop(2, "1")).is_final
    assert stored(session) == [("2", 1, True)]
    assert AnswerNotice.objects.get().why == "ended"


def test_whoever_took_their_consent_back_is_told_nothing_and_nothing_is_kept(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=1))
    slot = next_slot(session)
    send(session, slot, **laptop(1, "1"))
    send(session, slot, **laptop(2, "2"))
    client.post(f"{page_of(session)}take-back/")
    assert not send(session, slot, **laptop(3, "3")).stored
    assert Response.objects.count() == 2
    assert not AnswerNotice.objects.exists()
    assert told(client.get(page_of(session)).content) == []


# What follows is on the pages.


def answered_again(session: Session) -> None:
    """Answer the first question on the laptop, then on the phone."""
    slot = next_slot(session)
    send(session, slot, **laptop(1, "1"))
    send(session, slot, **phone(1, "2"))


TOLD = (
    "You answered question 1 in two browsers. The answer that arrived last counts. "
    "Kept: “Image B”. Not kept: “Image A”."
)


def answer_last(session: Session) -> None:
    send(session, next_slot(session), "1")


def finish(session: Session) -> None:
    answer_last(session)
    advance_session.finish_if_done(session=Session.objects.get(), now=NOON)


PAGES: dict[str, tuple[str, Callable[[Session], object]]] = {
    "instructions": ("", lambda session: Session.objects.update(state=SessionState.INSTRUCTIONS)),
    "a question": ("", lambda session: None),
    "a change": ("change/", lambda session: None),
    "the last look": ("", answer_last),
    "the lobby": ("", lambda session: Session.objects.update(state=SessionState.WAITING)),
    "the end": ("", finish),
    "over time": ("", lambda session: sessions.leave(session=session, to=SessionState.LAPSED, now=NOON)),
    "stopping": ("give-up/", lambda session: None),
    "help": ("help/", lambda session: None),
}


@pytest.mark.both
@pytest.mark.parametrize(("address", "come_to"), PAGES.values(), ids=PAGES)
def test_every_page_names_the_answer_that_does_not_stand_until_it_is_seen(
    client: Client, address: str, come_to: Callable[[Session], object]
) -> None:
    session = arrive_at_work(launch_study(instances=2, answering={"last_look": True}))
    answered_again(session)
    come_to(session)
    page = f"{page_of(session)}{address}"
    for _ in range(2):
        assert told(client.get(page).content) == [TOLD]
    client.post(f"{page_of(session)}seen/", {"notices": str(AnswerNotice.objects.get().pk)})
    assert told(client.get(page).content) == []
    assert AnswerNotice.objects.get().answer is None


def test_a_page_that_says_what_went_wrong_names_it_too(client: Client, session: Session) -> None:
    answered_again(session)
    problem = client.post(f"{page_of(session)}consent/", {"agree": "perhaps"})
    assert (problem.status_code, told(problem.content)) == (422, [TOLD])


def test_the_ending_does_not_lead_away_from_what_is_to_be_seen(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=1))
    answered_again(session)
    end = client.get(page_of(session)).content.decode()
    assert "data-redirect=" not in end
    assert CompletionCode.objects.get(outcome="finished").code in end


def test_three_answers_from_a_tab_that_is_behind_are_three_named(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=4))
    slots = responses.open_slots(session=session, limit=3)
    for number, (value, slot) in enumerate((value, slot) for value in "12" for slot in slots):
        send(session, slot, **laptop(number, value))
    said = "You answered question {} more than once. Your last answer counts. Kept: “Image B”. Not kept: “Image A”."
    assert told(client.get(page_of(session)).content) == [said.format(number) for number in (1, 2, 3)]


def test_a_page_that_goes_on_by_itself_is_told_with_its_next_answer(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=4))
    answered_again(session)
    reply = post_json(client, session, form_at(client, session) | {"choice": "1"}).json()
    assert (reply["go"], told(reply["notices"])) == (None, [TOLD])
    seen = {"notices": str(AnswerNotice.objects.get().pk)}
    left = client.post(f"{page_of(session)}seen/", seen, headers={"accept": "application/json"}).json()
    assert told(left["notices"]) == []
    assert "notices" not in post_json(client, session, form_at(client, session) | {"choice": "1"}).json()


def test_a_notice_leads_to_where_the_answer_can_be_changed(client: Client, session: Session) -> None:
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
    assert AnswerNotice.objects.get().seen_at is None


@pytest.mark.parametrize(
    ("order", "kept"),
    [
        ({"browser": LAPTOP.hex, "send_number": "1763935200000"}, (LAPTOP, 1763935200000)),
        ({"browser": "x", "send_number": "1"}, (None, None)),
        ({"browser": LAPTOP.hex, "send_number": "-1"}, (None, None)),
        ({"browser": LAPTOP.hex}, (None, None)),
        ({"browser": LAPTOP.hex, "send_number": str(2**53)}, (None, None)),
        ({"browser": LAPTOP.hex, "send_number": "9" * 30}, (None, None)),
    ],
    ids=str,
)
def test_the_order_comes_with_the_form_and_one_that_cannot_be_read_never_costs_the_answer(
    client: Client, order: dict[str, str], kept: tuple[uuid.UUID | None, int | None], session: Session
) -> None:
    assert post_json(client, session, form_at(client, session) | {"choice": "1"} | order).json()["saved"]
    response = Response.objects.get()
    assert (response.browser, response.send_number) == kept


def test_a_long_text_is_named_by_its_beginning(client: Client) -> None:
    session = arrive_at_work(describing(sets=2, targets=3))
    slot = next_slot(session)
    texts = ["The first thing has its lid open a little.", "The second thing " + "stands very close to it and " * 5]
    for number, text in enumerate(texts, start=1):
        send(session, slot, posted={"text": text.strip()}, order=SendOrder(LAPTOP, number))
    (said,) = told(client.get(page_of(session)).content)
    assert said.endswith(f"Kept: “{texts[1][:80].rstrip()}…”. Not kept: “{texts[0]}”.")
