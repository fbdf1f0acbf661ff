"""Help, reports, more time and taking answers back: the pages, as a browser without JavaScript walks them."""

from datetime import timedelta
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from annotation.models import Removal, Report, Response, Session, SessionState, Skip, Slot
from studies.models import CompletionCode, Event
from tests.annotation.test_practice_pages import words
from tests.annotation.test_responses import next_slot, send
from tests.annotation.test_work_pages import form_of, page_of
from tests.factories import CONTACT, NOON, arrive_at_work, fresh, launch_study

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at_noon")]
PAY = {"currency": "USD", "per_session": "8.00"}


def bar_of(client: Client, session: Session) -> str:
    (bar,) = BeautifulSoup(client.get(page_of(session)).content, "html.parser").select("header.bar")
    return words(str(bar)).replace("\N{NO-BREAK SPACE}", " ")


def test_the_bar_says_where_how_long_and_what_it_is_worth(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=4, pay=PAY, time={"estimated_minutes": 30, "limit_minutes": 90}))
    # 30 minutes for 4 questions, none of them answered; the hour and a half begins at noon.
    said = bar_of(client, session)
    for part in ("0 of 4 answered about 30 min left", "US$ 8.00", "Your place is kept until 13:30 UTC."):
        assert part in said


@pytest.mark.parametrize(
    ("pay", "said"),
    [
        ({"per_session": "2.00", "per_answer": "0.15"}, "Pay: US$ 2.00 and US$ 0.15 for each answer"),
        ({"per_session": "0.00", "per_answer": "0.15"}, "Pay: US$ 0.15 for each answer"),
        ({}, ""),
    ],
)
def test_the_bar_says_what_answers_are_paid(client: Client, pay: dict[str, str], said: str) -> None:
    bar = bar_of(client, arrive_at_work(launch_study(pay=pay)))
    assert said in bar
    assert ("Pay:" in bar, "US$" in bar) == (bool(said), bool(said))


def test_the_time_left_goes_by_ones_own_pace(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=33))
    for seconds in (60, 90, 3_600):
        send(session, next_slot(session), measured={"send_ms": seconds * 1000, "hidden_ms": 0})
    # The median of 60, 90 and 300, the most that one question takes, for 30 questions.
    assert "3 of 33 answered about 45 min left" in bar_of(client, session)


def test_help_is_a_page_with_everything_in_it(client: Client) -> None:
    session = arrive_at_work(launch_study(instructions="Look **closely**."))
    page = client.get(f"{page_of(session)}help/").content
    links = {str(link["href"]) for link in BeautifulSoup(page, "html.parser").select("main a")}
    slot = next_slot(session).pk
    assert {f"{page_of(session)}{name}" for name in ("give-up/", "take-back/", f"report/?slot={slot}")} <= links
    assert "mailto:ada@example.org" in links
    assert "Look closely ." in words(page)


def report(client: Client, session: Session, **fields: Any) -> Any:
    return client.post(f"{page_of(session)}report/", {"slot": next_slot(session).pk, "reason": "broken"} | fields)


@pytest.mark.both
def test_a_report_goes_with_an_answer(client: Client, session: Session, slot: Slot) -> None:
    asked = client.get(f"{page_of(session)}report/?slot={slot.pk}").content
    fields = form_of(asked, selector="form.report") | {"reason": "offensive", "words": " Not for children.\0 "}
    after = client.post(f"{page_of(session)}report/", fields, follow=True).content
    assert "Thank you. The researchers will see your report." in words(after)
    kept = Report.objects.get()
    assert (kept.question, kept.annotator, kept.session) == (slot.question, session.annotator, session)
    assert (kept.reason, kept.words, kept.instead_of_answer, kept.at) == ("offensive", "Not for children.", False, NOON)
    assert next_slot(session) == slot


def test_a_report_in_place_of_an_answer_counts_among_the_few_skips(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=6))
    for number in range(3):
        slot = next_slot(session)
        assert report(client, session, instead="yes").status_code == 303
        assert Skip.objects.filter(question=slot.question, annotator=session.annotator, file_missing=False).exists()
        assert fresh(session).questions_total == 5 - number
        # An answer on its way to it is not stored.
        assert send(session, slot).skipped
    refused = report(client, session, instead="yes")
    assert refused.status_code == 422
    assert "You have skipped as many questions as is allowed." in words(refused.content)
    assert (Report.objects.filter(instead_of_answer=True).count(), Skip.objects.count()) == (3, 3)
    # Beside an answer it is still heard.
    assert report(client, session).status_code == 303
    assert (Report.objects.count(), Response.objects.count()) == (4, 0)


def test_said_twice_the_last_version_stands_and_a_skip_stays(client: Client, session: Session) -> None:
    slot = next_slot(session).pk
    for fields in ({"instead": "yes"}, {"reason": "other", "words": "No vase."}):
        report(client, session, slot=slot, **fields)
    kept = Report.objects.get()
    assert (kept.reason, kept.words, kept.instead_of_answer) == ("other", "No vase.", True)


def test_a_report_that_is_none_is_refused(client: Client) -> None:
    study = launch_study(answers=2)
    other, session = arrive_at_work(study, "ben"), arrive_at_work(study, "ann")
    for fields, status in (
        ({"reason": "dull"}, 422),
        ({"reason": "other", "words": " "}, 422),
        ({"slot": ""}, 422),
        ({"slot": "999999"}, 404),
        ({"slot": next_slot(other).pk}, 404),
    ):
        sent = {"slot": next_slot(session).pk, "reason": "broken"} | fields
        response = client.post(f"{page_of(session)}report/", sent, headers={"Accept": "application/json"})
        assert (response.status_code, bool(response.json()["error"])) == (status, True)
    assert not Report.objects.exists()


def test_more_time_is_given_once_and_only_where_the_study_allows_it(client: Client) -> None:
    time = {"estimated_minutes": 10, "limit_minutes": 60, "more_minutes": 15}
    session = arrive_at_work(launch_study(time=time))
    assert b"more-time/" in client.get(f"{page_of(session)}help/").content
    got = client.post(f"{page_of(session)}more-time/", headers={"Accept": "application/json"}).json()
    # Sixty minutes and fifteen more.
    assert got["seconds"] == 75 * 60
    client.post(f"{page_of(session)}more-time/")
    # The place is kept for ten minutes longer than is said.
    assert (fresh(session).lease_until, session.more_time_at) == (NOON + timedelta(minutes=85), NOON)
    assert b"more-time/" not in client.get(f"{page_of(session)}help/").content
    other = arrive_at_work(launch_study(study="other"))
    before = other.lease_until
    client.post(f"{page_of(other)}more-time/")
    assert (fresh(other).lease_until, other.more_time_at) == (before, None)


def test_taking_answers_back_is_asked_about_done_once_and_recorded(client: Client) -> None:
    session = arrive_at_work(launch_study(pay=PAY))
    send(session, next_slot(session))
    asked = words(client.get(f"{page_of(session)}take-back/").content)
    assert "You cannot undo this" in asked
    assert "Write to the researchers about the pay for your time" in asked
    assert not Removal.objects.exists()
    for _ in range(2):
        after = client.post(f"{page_of(session)}take-back/", follow=True).content
        assert "You have withdrawn your consent" in words(after)
    assert fresh(session).state == SessionState.WITHDRAWN
    assert (Removal.objects.get().why, Response.objects.get().left_out) == ("withdrawn", "withdrawn")
    event = Event.objects.get(what="annotator withdrawn")
    assert (event.by, event.by_name) == (None, "annotator")


def test_whoever_has_finished_takes_back_afterwards_and_keeps_the_way_to_be_paid(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=1))
    send(session, next_slot(session))
    assert f"{page_of(session)}take-back/" in client.get(page_of(session)).content.decode()
    assert "your pay for that does not change" in words(client.get(f"{page_of(session)}take-back/").content)
    after = client.post(f"{page_of(session)}take-back/", follow=True).content.decode()
    code = CompletionCode.objects.get(outcome="finished").code
    assert [
        said for said in ("You have withdrawn your answers", code, CONTACT.split(",")[0]) if said not in after
    ] == []
    assert not Response.objects.counted().exists()
