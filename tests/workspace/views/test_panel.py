"""Panels: people added by email address, signed in by an emailed link, on one page with studies and pay."""

import re
from datetime import timedelta
from decimal import Decimal

import pytest
import time_machine
from bs4 import BeautifulSoup
from django.core import mail
from django.test import Client
from django.utils import timezone
from pytest_django import Settings

from annotation.actions import sessions
from annotation.models import Annotator, PanelMember, Payment, Session, SessionState
from annotation.recruitment.invite import named_entry
from studies.models import Event, Project, Study
from tests.factories import NOON, launch_study, make_member, make_project, member_of_panel
from tests.pages import signed_in, words_of
from workspace.actions.sign_in import MAILS_TO_ADDRESS
from workspace.tasks import mail_panel_links

pytestmark = pytest.mark.django_db
ANN = "ann@example.org"


@pytest.fixture(autouse=True)
def _mail(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    settings.MAIL_FROM = "lineup@example.org"
    monkeypatch.setattr("workspace.tasks.mail_panel_links.delay_on_commit", mail_panel_links)


@pytest.fixture
def project() -> Project:
    return make_project("birds")


@pytest.fixture
def study(project: Project) -> Study:
    return launch_study(project, pay={"per_session": "2.00"})


def link() -> str:
    """Return the path of the link that was mailed last."""
    [path] = re.findall(r"^http://127\.0\.0\.1:8000(/panel/sign-in/\S+)$", str(mail.outbox[-1].body), re.MULTILINE)
    return str(path)


def signed_in_by_link(address: str = ANN) -> Client:
    browser = Client()
    assert browser.post("/panel/link/", {"address": address}).status_code == 200
    assert browser.post(link()).status_code == 302
    return browser


def test_owners_add_addresses_and_each_new_person_gets_a_mail(project: Project) -> None:
    browser = signed_in(make_member(project, "owner"))
    member_of_panel("ben@example.org", project=project)
    page = browser.post(
        "/projects/birds/panel/", {"addresses": f" {ANN.upper()}\n\nben@example.org\n{ANN}"}, follow=True
    )
    assert "Added to the panel: 1 of 2. 1 was already in it." in words_of(page)
    assert [sent.to for sent in mail.outbox] == [[ANN]]
    assert ANN in words_of(page)
    stored = PanelMember.objects.latest("pk")
    assert ANN not in f"{stored.sealed_address}{stored.address_digest}{stored.annotator.provider_id}"
    assert ANN not in str(Event.objects.values_list("details", flat=True))


def test_wrong_lines_are_named_and_what_was_typed_stays(project: Project) -> None:
    browser = signed_in(make_member(project, "owner"))
    page = browser.post("/projects/birds/panel/", {"addresses": f"{ANN}\nben"})
    assert page.status_code == 409
    assert "Line 2 is not an email address." in words_of(page)
    assert "ben</textarea>" in words_of(page)
    assert not PanelMember.objects.exists()


@pytest.mark.parametrize("role", ["editor", "viewer"])
def test_only_owners_see_addresses(role: str, project: Project) -> None:
    member = member_of_panel(ANN, project=project)
    browser = signed_in(make_member(project, role))
    assert browser.get("/projects/birds/panel/").status_code == 403
    assert browser.post(f"/projects/birds/panel/{member.pk}/remove/").status_code == 403
    assert PanelMember.objects.exists()


def test_a_link_signs_in_once_and_shows_what_is_open(study: Study) -> None:
    member_of_panel(ANN, project=study.project)
    browser = Client()
    browser.post("/panel/link/", {"address": ANN})
    mailed = link()
    # Scanners of mail open links.
    assert "Sign in" in words_of(browser.get(mailed))
    assert study.title not in words_of(Client().get("/panel/"))
    assert browser.post(mailed).status_code == 302
    assert study.title in words_of(browser.get("/panel/"))
    again = Client().post(mailed)
    assert again.status_code == 410
    assert "does not work any more" in words_of(again)


def test_a_link_ends_after_half_an_hour_and_with_the_use_of_another(project: Project) -> None:
    member_of_panel(ANN, project=project)
    with time_machine.travel(NOON, tick=False):
        Client().post("/panel/link/", {"address": ANN})
        first = link()
    with time_machine.travel(NOON + timedelta(minutes=29), tick=False):
        Client().post("/panel/link/", {"address": ANN})
        second = link()
        assert Client().get(first).status_code == 200
    with time_machine.travel(NOON + timedelta(minutes=31), tick=False):
        assert Client().get(first).status_code == 410
        assert Client().post(second).status_code == 302
    with time_machine.travel(NOON + timedelta(minutes=32), tick=False):
        assert Client().get(second).status_code == 410
    assert Client().get("/panel/sign-in/made-up/").status_code == 410


def test_the_page_does_not_tell_who_is_in_a_panel(project: Project) -> None:
    member_of_panel(ANN, project=project)
    known, unknown = (Client().post("/panel/link/", {"address": each}) for each in (ANN, "eve@example.org"))
    assert known.content == unknown.content
    assert [sent.to for sent in mail.outbox] == [[ANN]]


def test_nobodys_mailbox_is_filled(project: Project) -> None:
    member_of_panel(ANN, project=project)
    codes = [Client().post("/panel/link/", {"address": ANN}).status_code for _ in range(MAILS_TO_ADDRESS + 1)]
    assert codes == [200] * MAILS_TO_ADDRESS + [429]
    assert len(mail.outbox) == MAILS_TO_ADDRESS


def test_a_person_starts_a_study_continues_it_and_is_somebody_to_other_studies_too(study: Study) -> None:
    member_of_panel(ANN, project=study.project)
    browser = signed_in_by_link()
    first = browser.post(f"/panel/{study.pk}/start/")
    session = Session.objects.get()
    assert first["Location"] == f"/s/{session.token}/"
    assert (session.provider, session.annotator) == ("invite", PanelMember.objects.get().annotator)
    assert browser.post(f"/panel/{study.pk}/start/")["Location"] == first["Location"]
    other = launch_study(study.project, study="other-vase", instances=0)
    browser.post(f"/panel/{other.pk}/start/")
    assert set(Session.objects.values_list("annotator", flat=True)) == {session.annotator_id}


def test_who_may_take_several_surveys_gets_a_session_for_each(project: Project) -> None:
    study = launch_study(project, surveys={"size": 2}, recruitment={"sessions_per_annotator": 2})
    member_of_panel(ANN, project=project)
    browser = signed_in_by_link()
    for _ in range(2):
        browser.post(f"/panel/{study.pk}/start/")
        open_one = Session.objects.get(ended_at=None)
        Session.objects.filter(pk=open_one.pk).update(state=SessionState.FINISHED, ended_at=timezone.now())
    assert Session.objects.count() == 2
    page = browser.post(f"/panel/{study.pk}/start/", follow=True)
    assert "You have already taken part in this study." in words_of(page)
    assert "No study is open for you" in words_of(page)


def test_the_page_shows_hours_and_pay(study: Study) -> None:
    member = member_of_panel(ANN, project=study.project)
    browser = signed_in_by_link()
    browser.post(f"/panel/{study.pk}/start/")
    session = Session.objects.get()
    ended = session.arrived_at + timedelta(minutes=12)
    Session.objects.update(state=SessionState.FINISHED, ended_at=ended, handed_back_at=ended)
    Payment.objects.create(
        **{"study": study, "annotator": member.annotator, "session": session, "reason": "decided", "currency": "USD"},
        **{"amount": Decimal("1.50"), "ordered_at": NOON, "state": Payment.State.PAID, "state_at": NOON},
    )
    table = BeautifulSoup(browser.get("/panel/").content, "html.parser").table
    assert table is not None
    rows = [" ".join(row.get_text(" ").split()) for row in table.select("tbody tr, tfoot tr")]
    day = f"{session.arrived_at:%-d %B %Y}"
    money = "US$\N{NO-BREAK SPACE}2.00 US$\N{NO-BREAK SPACE}1.50".replace("\N{NO-BREAK SPACE}", " ")
    assert rows == [f"{study.title} {day} · Finished 12 0 {money}", f"Total 12 0 {money}"]


def test_the_end_of_a_session_leads_back_to_the_studies_of_people_in_a_panel(study: Study) -> None:
    member_of_panel(ANN, project=study.project)
    browser = signed_in_by_link()
    browser.post(f"/panel/{study.pk}/start/")
    other = launch_study(study.project, study="other-vase")
    strangers = sessions.start(study=other, entry=named_entry("ben"), now=NOON)
    Session.objects.update(state=SessionState.FINISHED, ended_at=NOON)
    session = Session.objects.exclude(pk=strangers.pk).get()
    for one, links in ((session, ["Your studies"]), (strangers, [])):
        page = BeautifulSoup(browser.get(f"/s/{one.token}/", follow=True).content, "html.parser")
        assert "All saved" in page.get_text()
        assert [link.get_text() for link in page.select('a[href="/panel/"]')] == links


@pytest.mark.parametrize(
    ("language", "direction", "heading"),
    [
        ("es", None, "Tus estudios"),
        ("eu", None, "Zure azterlanak"),
        ("ar", "rtl", "دراساتك"),
        ("de", None, "Your studies"),
    ],
)
def test_pages_are_in_the_readers_language(language: str, direction: str | None, heading: str, study: Study) -> None:
    member_of_panel(ANN, project=study.project)
    browser = signed_in_by_link()
    for reader in (Client(), browser):
        page = reader.get("/panel/", headers={"accept-language": language})
        html = BeautifulSoup(page.content, "html.parser")
        assert html.html is not None
        assert html.h1 is not None
        assert (html.html["lang"], html.html.get("dir")) == (language if language != "de" else "en", direction)
        assert html.h1.text == heading
        assert "Accept-Language" in page["Vary"]


def test_people_whom_an_owner_adds_get_a_mail_in_the_language_of_the_newest_open_study(project: Project) -> None:
    launch_study(project, language="eu", instructions="Begiratu irudiei.")
    signed_in(make_member(project, "owner")).post("/projects/birds/panel/", {"addresses": ANN})
    assert mail.outbox[-1].subject == "Zure azterlanak"


def test_strangers_and_removed_people_see_and_start_nothing(study: Study) -> None:
    stranger = Client()
    assert stranger.post(f"/panel/{study.pk}/start/")["Location"] == "/panel/"
    elsewhere = member_of_panel(ANN, project=make_project("cars"))
    browser = signed_in_by_link()
    assert browser.post(f"/panel/{study.pk}/start/").status_code == 404
    assert not Session.objects.exists()
    elsewhere.delete()
    assert "Email me a link" in words_of(browser.get("/panel/"))


def test_signing_out_needs_a_new_link(project: Project) -> None:
    member_of_panel(ANN, project=project)
    browser = signed_in_by_link()
    browser.post("/panel/sign-out/")
    assert "Email me a link" in words_of(browser.get("/panel/"))


def test_one_address_is_one_person_in_all_projects_also_under_a_new_key(settings: Settings, project: Project) -> None:
    member_of_panel(ANN, project=project)
    settings.ENCRYPTION_KEYS = ["a-new-key-of-the-site-0123456789abc"]
    again = member_of_panel(ANN, project=make_project("cars"))
    assert again.annotator == PanelMember.objects.earliest("pk").annotator
    assert Annotator.objects.count() == 1


def test_somebody_who_withdrew_consent_is_offered_nothing(study: Study) -> None:
    member_of_panel(ANN, project=study.project)
    browser = signed_in_by_link()
    browser.post(f"/panel/{study.pk}/start/")
    session = Session.objects.get()
    Client().post(f"/s/{session.token}/take-back/")
    assert "No study is open for you" in words_of(browser.get("/panel/"))


def test_a_closed_invitation_is_not_listed(project: Project) -> None:
    study = launch_study(project, recruitment={"invite": False})
    member_of_panel(ANN, project=project)
    browser = signed_in_by_link()
    assert study.title not in words_of(browser.get("/panel/"))
    assert browser.post(f"/panel/{study.pk}/start/").status_code == 404
    assert not Session.objects.exists()


def test_a_lost_key_offers_nothing_and_says_so(study: Study, settings: Settings) -> None:
    settings.ENCRYPTION_KEYS = ["a-key-that-is-lost-0123456789abcdef"]
    member_of_panel(ANN, project=study.project)
    browser = signed_in_by_link()
    settings.ENCRYPTION_KEYS = []
    assert "No study is open for you" in words_of(browser.get("/panel/"))
    page = browser.post(f"/panel/{study.pk}/start/", follow=True)
    assert "This site can no longer read your ID" in words_of(page)
