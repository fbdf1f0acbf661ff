"""How a sitting ends: what that means for pay, whom to write to, and the code that the study file names."""

from datetime import timedelta

import pytest
from bs4 import BeautifulSoup
from django.test import Client

from annotation.actions import sessions
from annotation.actions.answering import advance_session
from annotation.models import Session, SessionState
from annotation.recruitment.base import Entry
from studies.models import CompletionCode
from tests.annotation.test_practice_pages import words
from tests.annotation.test_responses import next_slot, send
from tests.annotation.test_work_pages import page_of
from tests.factories import NOON, arrive, arrive_at_work, fresh, launch_study, make_prolific_study

pytestmark = pytest.mark.django_db
PAY = {"currency": "USD", "per_session": "8.00"}


def codes_in(html: str) -> list[str]:
    """Return the outcomes whose codes a page shows."""
    return [code.outcome for code in CompletionCode.objects.all() if code.code in html]


def lapse(session: Session) -> None:
    advance_session.expire(by="timetable", now=session.lease_until + timedelta(seconds=1))


@pytest.mark.parametrize("way", ["return", "code"])
def test_stopping_says_before_and_after_what_it_means_for_pay(client: Client, way: str) -> None:
    study = launch_study(pay=PAY, endings={"stopped": way})
    session = arrive_at_work(study)
    asked = client.get(f"{page_of(session)}give-up/").content.decode()
    assert codes_in(asked) == []
    assert ("A returned submission is not paid automatically" in asked) == (way == "return")
    assert ("You then get a code that says you stopped early" in asked) == (way == "code")
    assert BeautifulSoup(asked, "html.parser").select(f"main a[href='{page_of(session)}']")
    # A study of an older version gets its code when it is first needed.
    CompletionCode.objects.filter(outcome="stopped").delete()
    end = client.post(f"{page_of(session)}give-up/", follow=True).content.decode()
    assert "ada@example.org" in end
    assert codes_in(end) == (["stopped"] if way == "code" else [])
    assert ("Please return the submission on the platform" in words(end)) == (way == "return")


def test_with_an_invitation_there_is_no_platform_to_return_to(client: Client) -> None:
    study = launch_study(pay=PAY, endings={"stopped": "code", "time_over": "code"})
    session = sessions.start(study=study, entry=Entry("invite", "ann", "visit", ""), now=NOON)
    assert "The pay is for the whole study" in client.get(f"{page_of(session)}give-up/").content.decode()
    end = client.post(f"{page_of(session)}give-up/", follow=True).content.decode()
    assert codes_in(end) == []
    assert "submission" not in words(end.partition("<main")[2])


@pytest.mark.parametrize("way", ["return", "code"])
def test_after_a_lapse_the_page_says_what_next_and_whom_to_write_to(client: Client, way: str) -> None:
    study = launch_study(instances=1, pay=PAY, endings={"time_over": way})
    session = arrive_at_work(study)
    lapse(session)
    # The seat is free: no code yet, for the sitting may go on.
    free = client.get(page_of(session)).content.decode()
    assert codes_in(free) == []
    assert f"{page_of(session)}go-on/" in free
    arrive(study, "ben")
    gone = client.get(page_of(session)).content.decode()
    assert "The time for this session is over" in gone
    assert "ada@example.org" in gone
    assert codes_in(gone) == (["time_over"] if way == "code" else [])
    assert ("please return it" in words(gone)) == (way == "return")


def test_whoever_goes_on_after_the_code_was_shown_is_handed_back_when_they_finish(client: Client) -> None:
    study = launch_study(instances=1, endings={"time_over": "code"})
    session = arrive_at_work(study)
    lapse(session)
    ben = arrive(study, "ben")
    client.get(page_of(session))
    sessions.leave(session=ben, to=SessionState.GIVEN_UP, now=NOON)
    client.post(f"{page_of(session)}go-on/")
    session.refresh_from_db()
    assert (session.state, session.handed_back_at) == (SessionState.WORKING, None)
    send(session, next_slot(session))
    assert codes_in(client.get(page_of(session)).content.decode()) == ["finished"]


def test_the_last_page_leaves_after_twenty_seconds_and_never_again(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=1))
    send(session, next_slot(session))
    # What the browser fetches for itself is nobody coming back.
    fetched = {"Sec-Fetch-Mode": "cors", "Sec-Fetch-Dest": "empty"}
    assert "All saved" in client.get(page_of(session), headers=fetched).content.decode()
    client.head(page_of(session), headers=fetched)
    assert fresh(session).handed_back_at is None
    shown = {"Sec-Fetch-Mode": "navigate", "Sec-Fetch-Dest": "document"}
    first, again = (BeautifulSoup(client.get(page_of(session), headers=shown).content, "html.parser") for _ in range(2))
    assert fresh(session).handed_back_at is not None
    (handover,) = first.select("[data-redirect]")
    assert int(str(handover["data-redirect"])) >= 20
    assert not again.select("[data-redirect]")
    assert again.select_one(".handover a") is not None
    # A study without pay says nothing about it.
    assert not again.select("[data-pay]")
    assert "Questions? Write to the researchers: Ada Lovelace" in words(again.encode())


BY_PLATFORM = "Prolific pays you after the researchers have approved your submission."
BY_HAND = "The researchers pay you themselves. Write to them if you want to know when."


@pytest.mark.parametrize(
    ("state", "provider", "said"),
    [
        ("finished", "prolific", f"You are paid US$ 8.20. {BY_PLATFORM}"),
        ("finished", "invite", f"You are paid US$ 8.20. {BY_HAND}"),
        ("failed_checks", "prolific", "The study pays for its questions. It does not pay for the practice."),
        ("no_consent", "prolific", "You are not paid, because you did not take part."),
        ("returned", "prolific", "You are not paid for a submission that you returned."),
        ("superseded", "prolific", "You are paid for the session that you started later."),
        ("left_out", "prolific", "The researchers decide about your pay after they have looked at your session."),
        ("given_up", "invite", "The pay is for the whole study. Write to the researchers about the pay for your time."),
    ],
)
def test_every_ending_says_what_is_paid(client: Client, state: str, provider: str, said: str) -> None:
    pay = PAY | {"per_answer": "0.20"}
    study = launch_study(instances=1, pay=pay)
    session = sessions.start(study=study, entry=Entry(provider, "ann", "visit", "study"), now=NOON)
    if state == "finished":
        sessions.consent(session=session, agreed=True, now=NOON)
        advance_session.begin(session=session, part=0, now=NOON)
        send(session, next_slot(session))
    Session.objects.update(state=state, ended_at=NOON)
    end = words(client.get(page_of(session)).content)
    assert said in end.replace("\N{NO-BREAK SPACE}", " ")
    assert "write to the researchers: Ada Lovelace, ada@example.org" in end


def test_whom_prolific_pays_for_failing_the_practice_is_told_how_much(client: Client) -> None:
    study = launch_study(instances=1, pay=PAY)
    session = sessions.start(study=study, entry=Entry("prolific", "ann", "visit", "study"), now=NOON)
    action = {"action": "FIXED_SCREEN_OUT_PAYMENT", "fixed_screen_out_reward": 50, "slots": 5}
    details = {"completion_codes": [{"code": "CSCREEN1", "actions": [action]}]}
    make_prolific_study(study, "study", details=details)
    Session.objects.update(state="failed_checks", ended_at=NOON)
    end = words(client.get(page_of(session)).content).replace("\N{NO-BREAK SPACE}", " ")
    assert "You are paid US$ 0.50." in end
    # At once, and not after a review.
    assert BY_PLATFORM not in end
    # Of another round, or of the study through which they came, which may pay nothing.
    for other in ({"provider_study_id": "another"}, {"provider": "invite"}):
        Session.objects.update(**other)
        assert "It does not pay for the practice." in words(client.get(page_of(session)).content)


def test_a_stopped_session_is_told_what_its_answers_are_paid_and_who_decides_about_the_rest(client: Client) -> None:
    study = launch_study(instances=2, pay=PAY | {"per_answer": "0.20"}, endings={"stopped": "code"})
    session = arrive_at_work(study)
    send(session, next_slot(session))
    end = words(client.post(f"{page_of(session)}give-up/", follow=True).content)
    said = "You are paid US$ 0.20 for the answers you sent. The researchers decide about the rest of your pay."
    assert f"{said} {BY_PLATFORM}" in end.replace("\N{NO-BREAK SPACE}", " ")
