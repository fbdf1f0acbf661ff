"""Versions of the consent text: who agreed to which, and what a change means for sessions under way."""

import hashlib
import json
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from functools import partial
from typing import Any

import pytest
from bs4 import BeautifulSoup
from django.db import connection
from django.test import Client
from django.urls import reverse

from annotation.actions import sessions
from annotation.actions.answering.responses import open_slots
from annotation.actions.launching.consent_versions import amend_consent, latest_version, stored_version
from annotation.agreements import Agreement, agreements_of
from annotation.models import ConsentAgreement, Response, Session, SessionState
from annotation.session_pay import compute_pay
from results.actions.pseudonyms import name_annotators
from results.queries.exports.export_rows import given_responses
from studies.actions.studies import change_state
from studies.errors import StudyError
from studies.models import ConsentVersion, Event, Study, StudyState
from studies.wording import format_count
from tests.annotation.test_responses import send
from tests.annotation.test_work_pages import page_of
from tests.factories import NOON, TESTS, arrive, arrive_at_work, fresh, launch_study, make_person
from tests.together import at_once

pytestmark = pytest.mark.django_db
OLD, NEW = "# Your part\n\nMay we?", "# Your part\n\nMay we, until 2030?"
PAID = {"currency": "USD", "per_session": "2.00"}


def asked(**design: Any) -> Study:
    return launch_study(consent=OLD, pay=PAID, **design)


def amend(study: Study, *, text: str = NEW, reason: str = "Amendment 2", ask_again: bool = False) -> ConsentVersion:
    return amend_consent(study=study, text=text, reason=reason, ask_again=ask_again, by=TESTS, now=NOON).version


def shown(client: Client, session: Session) -> BeautifulSoup:
    return BeautifulSoup(client.get(page_of(session)).content, "html.parser")


def agree(client: Client, session: Session, **fields: object) -> None:
    client.post(f"{page_of(session)}consent/", {"agree": "yes", **fields})


def test_a_launch_stores_the_text_of_the_design_as_version_1() -> None:
    (version,) = ConsentVersion.objects.filter(study=asked())
    assert (version.number, version.text, version.at) == (1, OLD, NOON)
    assert version.sha256 == hashlib.sha256(OLD.encode()).hexdigest()


def test_a_study_without_a_consent_page_has_no_version() -> None:
    session = arrive_at_work(launch_study())
    assert not ConsentVersion.objects.exists()
    assert session.consent is None


def test_people_agree_to_the_text_that_is_current_when_they_come(client: Client) -> None:
    study = asked(answers=2)
    first = arrive(study, "ann")
    agree(client, first, version="1")
    amend(study)
    second = arrive(study, "ben")
    assert "until 2030" in shown(client, second).text
    agree(client, second, version="2")
    assert [fresh(each).consent.number for each in (first, second)] == [1, 2]  # type: ignore[union-attr]
    # Whoever agreed before goes on.
    assert fresh(first).state == SessionState.INSTRUCTIONS
    assert "until 2030" not in shown(client, first).text


def test_agreeing_on_a_page_with_an_older_text_shows_the_new_one_first(client: Client) -> None:
    study = asked()
    session = arrive(study)
    page = shown(client, session)
    assert page.select_one("main input[name=version]")["value"] == "1"  # type: ignore[index]
    amend(study)
    agree(client, session, version="1")
    assert fresh(session).state == SessionState.CONSENT
    assert "until 2030" in shown(client, session).text
    agree(client, session, version="2")
    assert fresh(session).consent == latest_version(study)


def test_a_page_of_a_version_without_numbers_counts_as_the_first_text(client: Client) -> None:
    session = arrive(asked())
    agree(client, session)
    assert fresh(session).consent.number == 1  # type: ignore[union-attr]


def test_a_study_launched_before_versions_were_stored_gets_version_1_with_the_next_consent() -> None:
    study = asked()
    ConsentVersion.objects.all().delete()
    session = arrive_at_work(study)
    assert session.consent is not None
    assert (session.consent.number, session.consent.text, session.consent.at) == (1, OLD, study.launched_at)


def test_a_session_under_way_reads_the_new_text_before_its_next_question(client: Client) -> None:
    study = asked()
    session = arrive_at_work(study)
    first, second, *_ = open_slots(session=session, limit=4)
    amend(study, ask_again=True)
    # An answer that was on its way is stored; the script of the page is then led to the new text.
    result = send(fresh(session), first)
    assert (result.stored, result.asks_consent) == (True, True)
    page = shown(client, session)
    assert "until 2030" in page.text
    assert page.select("main .notice")
    agree(client, session, version="2")
    now = fresh(session)
    assert (now.state, now.asks_consent, now.questions_answered) == (SessionState.WORKING, False, 1)
    assert now.consent == latest_version(study)
    assert not send(now, second).asks_consent
    # In exports, all answers of the session stand under the text agreed to last.
    name_annotators(project=study.project)
    assert [row.consent_version for row in given_responses(study)] == [2, 2]
    # Each agreement is kept with its time.
    kept = [each.version for each in agreements_of(Session.objects.all())[session.pk]]
    assert kept == [1, 2]
    assert {tuple(json.loads(row.consents)) for row in given_responses(study)} == {("1", "2")}


def agreed_at(session: Session) -> datetime:
    at = fresh(session).consented_at
    assert at is not None
    return at


def test_an_agreement_that_an_older_version_stored_is_kept_when_the_next_text_is_accepted(client: Client) -> None:
    study = asked()
    session = arrive_at_work(study)
    first = agreed_at(session)
    # It wrote only the columns of the session.
    ConsentAgreement.objects.all().delete()
    assert agreements_of(Session.objects.all()) == {session.pk: [Agreement(1, first)]}
    amend(study, ask_again=True)
    agree(client, session, version="2")
    assert agreements_of(Session.objects.all())[session.pk] == [
        Agreement(1, first),
        Agreement(2, agreed_at(session)),
    ]


def test_who_declines_a_changed_text_has_agreed_to_the_first_only(client: Client) -> None:
    study = asked()
    session = arrive_at_work(study)
    amend(study, ask_again=True)
    client.post(f"{page_of(session)}consent/", {"agree": "no", "sure": "yes"})
    assert [each.version for each in agreements_of(Session.objects.all())[session.pk]] == [1]


def test_the_script_of_a_page_is_led_to_the_new_text(client: Client) -> None:
    study = asked()
    session = arrive_at_work(study)
    amend(study, ask_again=True)
    page = shown(client, session)
    assert not page.select("form[data-slot], [data-question]")
    slot = open_slots(session=session, limit=1)[0]
    posted = {"slot": slot.pk, "choice": "none", "submission": "5a6f1b9e-0000-4000-8000-000000000001"}
    said = client.post(f"{page_of(session)}answer/", posted, headers={"accept": "application/json"}).json()
    assert (said["saved"], said["go"], said["next"]) == (True, page_of(session), None)


def test_two_tabs_agree_once(client: Client) -> None:
    study = asked()
    session = arrive_at_work(study)
    amend(study, ask_again=True)
    agree(client, session, version="2")
    client.post(f"{page_of(session)}consent/", {"agree": "no", "sure": "yes"})
    assert fresh(session).state == SessionState.WORKING


@pytest.mark.django_db(transaction=True)
@pytest.mark.parametrize("is_under_way", [False, True])
def test_a_text_that_changes_while_somebody_agrees_is_shown_to_them(
    is_under_way: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite lets one transaction write at a time.")
    study = asked()
    session = arrive_at_work(study) if is_under_way else arrive(study)
    if is_under_way:
        amend(study, text=f"{NEW} Please.", ask_again=True)
    changing = ThreadPoolExecutor(1)

    def change_after_reading(**about: Any) -> ConsentVersion | None:
        found = stored_version(**about)
        changed = changing.submit(at_once, partial(amend, study, ask_again=True))
        # It waits for the session, which is only written when the agreement is stored.
        with pytest.raises(TimeoutError):
            changed.result(timeout=0.5)
        return found

    monkeypatch.setattr(sessions, "stored_version", change_after_reading)
    sessions.consent(session=fresh(session), agreed=True, now=NOON)
    changing.shutdown()
    assert fresh(session).asks_consent
    assert fresh(session).consent != latest_version(study)


def test_whoever_declines_a_changed_text_leaves_with_their_answers_and_a_decision_about_their_pay(
    client: Client,
) -> None:
    study = asked()
    session = arrive_at_work(study)
    send(session, open_slots(session=session, limit=1)[0])
    amend(study, ask_again=True)
    confirm = client.post(f"{page_of(session)}consent/", {"agree": "no"})
    assert f"{page_of(session)}take-back/" in confirm.content.decode()
    assert fresh(session).state == SessionState.WORKING
    client.post(f"{page_of(session)}consent/", {"agree": "no", "sure": "yes"})
    left = fresh(session)
    assert (left.state, left.consent.number) == (SessionState.NO_CONSENT, 1)  # type: ignore[union-attr]
    assert Response.objects.counted().filter(session=session).count() == 1
    assert compute_pay(left.state, 1, study.design).to_decide
    end = shown(client, session).text
    assert "We use nothing about you" not in end
    assert "The researchers decide about your pay" in end
    # Somebody else gets the other three of its four questions.
    assert arrive(study, "ben").questions_total == 3


def test_a_session_that_ran_out_of_time_is_asked_when_it_comes_back(client: Client) -> None:
    study = asked()
    session = arrive_at_work(study)
    sessions.leave(session=session, to=SessionState.LAPSED, now=NOON)
    amend(study, ask_again=True)
    client.post(f"{page_of(session)}go-on/")
    assert fresh(session).state == SessionState.WORKING
    assert "until 2030" in shown(client, session).text


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"text": " \n"}, "The consent text is empty. Write the complete text."),
        ({"text": f"{OLD}\r\n"}, "This is already the text of version 1. Change it, or cancel."),
        ({"reason": " "}, "Say why the text changes, such as the number of the ethics amendment."),
        (
            {"text": "a" * 50_001},
            "The consent text cannot be stored. The text has 50,001 characters",
        ),
    ],
)
def test_a_change_that_says_too_little_is_refused(changes: dict[str, str], said: str) -> None:
    study = asked()
    with pytest.raises(StudyError) as refused:
        amend(study, **changes)  # type: ignore[arg-type]
    assert len(refused.value.problems) == 1
    assert refused.value.problems[0].startswith(said)
    assert ConsentVersion.objects.count() == 1
    assert not Event.objects.filter(what="consent amended").exists()


def test_a_closed_study_and_one_without_a_consent_page_keep_their_texts() -> None:
    closed = asked()
    change_state(study=closed, to=StudyState.CLOSED, by=TESTS, now=NOON)
    with pytest.raises(StudyError, match="is closed"):
        amend(closed)
    with pytest.raises(StudyError, match="has no consent page"):
        amend(launch_study(closed.project, study="other"))


def test_an_editor_changes_the_text_on_a_page_and_sees_who_agreed_to_which(client: Client) -> None:
    editor = make_person("eve")
    study = asked(answers=2)
    study.project.memberships.create(user=editor, role="editor")
    arrive_at_work(study, "ann")
    arrive_at_work(study, "ben")
    client.force_login(editor)
    address = reverse("study_consent", args=[study.project.slug, study.slug])
    assert "May we?" in client.get(address).content.decode()
    refused = client.post(address, {"text": NEW, "reason": ""})
    assert (refused.status_code, "until 2030" in refused.content.decode()) == (409, True)
    done = client.post(address, {"text": NEW, "reason": "Amendment 2", "ask_again": "yes"}, follow=True)
    page = " ".join(BeautifulSoup(done.content, "html.parser").get_text(" ").split())
    assert "2 sessions under way will be asked again" in page
    assert "Version 2 0 sessions agreed." in page
    assert "Version 1 2 sessions agreed." in page
    for number, session in enumerate(Session.objects.order_by("pk"), 1):
        sessions.consent(session=session, agreed=True, now=NOON)
        shown = client.get(reverse("study_design", args=[study.project.slug, study.slug]))
        page = " ".join(BeautifulSoup(shown.content, "html.parser").get_text(" ").split())
        assert f"Version 2 {format_count(number, 'session')} agreed." in page
        assert "Version 1 2 sessions agreed." in page
    event = Event.objects.get(what="consent amended")
    assert (event.by, event.details["version"], event.details["sessions"]) == (editor, 2, 2)
