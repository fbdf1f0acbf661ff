from datetime import timedelta

import pytest
import time_machine
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from django.utils import timezone

from studies.models import Project
from tests.factories import make_member, make_project

ADDRESS = "/projects/vases/name/"


@pytest.fixture
def project(db: None) -> Project:
    return make_project()


def signed_out(person: User) -> Client:
    """A browser in which `person` was signed in until their session ended."""
    browser = Client()
    browser.force_login(person)
    browser.get("/")
    del browser.cookies["sessionid"]
    return browser


@pytest.fixture
def owner(project: Project) -> Client:
    """A browser whose session had ended when a new name was sent, and that has signed in again since."""
    person = make_member(project, "owner")
    browser = signed_out(person)
    refused = browser.post(ADDRESS, {"name": "Better vases", "password": "of mine"})
    assert refused["Location"] == f"/sign-in/?next={ADDRESS}"
    browser.force_login(person)
    return browser


def test_what_was_typed_is_offered_after_signing_in_and_sent(owner: Client, project: Project) -> None:
    page = owner.get(ADDRESS).content.decode()
    assert "Better vases" in page
    assert "of mine" not in page, "secrets are not kept"
    project.refresh_from_db()
    assert project.name != "Better vases", "nothing is sent by itself"
    owner.post(ADDRESS, {"name": "Better vases"})
    project.refresh_from_db()
    assert project.name == "Better vases"
    assert "Send your form?" not in owner.get(ADDRESS, follow=True).content.decode()


def test_once_sent_no_request_looks_for_a_kept_form_any_more(owner: Client) -> None:
    assert owner.cookies["form_is_kept"].value == "yes"
    owner.get(ADDRESS)
    assert owner.cookies["form_is_kept"].value == "yes", "it is still to be sent"
    owner.post(ADDRESS, {"name": "Better vases"})
    assert owner.cookies["form_is_kept"].value == ""


def test_what_a_page_sends_while_somebody_types_is_not_kept(project: Project) -> None:
    person = make_member(project, "owner")
    browser = signed_out(person)
    browser.post(ADDRESS, {"name": "Better"}, headers={"HX-Request": "true"})
    browser.force_login(person)
    assert "Send your form?" not in browser.get(ADDRESS, follow=True).content.decode()


@pytest.mark.parametrize("address", ["/jobs/", "/search/?q=vase"])
def test_a_fragment_of_somebody_signed_out_is_a_notice_and_stops_asking(project: Project, address: str) -> None:
    browser = signed_out(make_member(project, "owner"))
    here = {"HX-Request": "true", "HX-Current-URL": "http://testserver/projects/vases/people/?who=a"}
    response = browser.get(address, headers=here)
    # htmx stops a poll at 286, and leaves the fragment as it is.
    assert (response.status_code, response["HX-Reswap"]) == (286, "none")
    text = response.content.decode()
    assert 'hx-swap-oob="innerHTML:#job-notices"' in text
    assert 'href="/sign-in/?next=/projects/vases/people/%3Fwho%3Da"' in text
    # Whoever opens the page itself signs in there.
    assert browser.get(address).status_code == 302


def test_a_kept_form_can_be_discarded(owner: Client, project: Project) -> None:
    assert owner.post(ADDRESS, {"discard_kept_form": ""})["Location"] == "/"
    assert "Send your form?" not in owner.get(ADDRESS, follow=True).content.decode()
    project.refresh_from_db()
    assert project.name != "Better vases"


def test_a_kept_form_is_offered_at_its_own_address_and_for_an_hour(owner: Client) -> None:
    assert "Send your form?" not in owner.get("/").content.decode()
    with time_machine.travel(timezone.now() + timedelta(hours=2)):
        assert "Send your form?" not in owner.get(ADDRESS, follow=True).content.decode()


def test_files_are_chosen_again_and_what_was_typed_beside_them_stays(project: Project) -> None:
    person, address = make_member(project, "editor"), "/projects/vases/imports/new/"
    browser = signed_out(person)
    images = [SimpleUploadedFile(f"{number}.jpg", b"a") for number in range(12)]
    rows = SimpleUploadedFile("<vases>.csv", b"key,text\none,A red vase.\n")
    browser.post(address, {"format": "table", "caption_rule": "keep-case-v1", "rows": rows, "images": images})
    browser.force_login(person)
    page = browser.get(address).content.decode()
    assert "Your files did not arrive. Choose it again: &lt;vases&gt;.csv</label>" in page
    assert "Choose them again: 0.jpg, 1.jpg, 2.jpg, 3.jpg, 4.jpg, 5.jpg, 6.jpg, 7.jpg, 8.jpg, 9.jpg and 2 more" in page
    assert 'name="rows" type="file" required>' in page
    assert 'name="images" type="file" multiple required>' in page
    assert "keep-case-v1" in page
    rows.seek(0)
    sent = browser.post(address, {"format": "table", "caption_rule": "keep-case-v1", "rows": rows})
    assert sent["Location"].endswith("/mapping/?caption_rule=keep-case-v1")


@pytest.mark.parametrize(
    "fields",
    [{}, {"name": "a" * 200_001}],
    ids=["nothing", "too long"],
)
def test_some_forms_are_not_kept(project: Project, fields: dict[str, object]) -> None:
    person = make_member(project, "owner")
    browser = signed_out(person)
    browser.post(ADDRESS, fields)
    browser.force_login(person)
    assert "Send your form?" not in browser.get(ADDRESS, follow=True).content.decode()


def test_a_form_without_its_token_gets_our_page_and_is_not_kept(project: Project) -> None:
    browser = Client(enforce_csrf_checks=True)
    refused = browser.post(ADDRESS, {"name": "Better <vases>", "password": "of mine"})
    assert refused.status_code == 403
    page = refused.content.decode()
    assert "Nothing was changed" in page
    # To be copied from there, since browsers do not keep what was typed into pages that must not be stored.
    assert "<dt>Name</dt><dd>Better &lt;vases&gt;</dd>" in page
    assert "of mine" not in page
    assert "<button" not in page
    browser.force_login(make_member(project, "owner"))
    assert "Send your form?" not in browser.get(ADDRESS, follow=True).content.decode()


def test_nobody_else_is_shown_what_was_typed(project: Project) -> None:
    browser = signed_out(make_member(project, "owner"))
    browser.post(ADDRESS, {"name": "Better vases"})
    browser.force_login(make_member(project, "owner", name="bea"))
    assert "Better vases" not in browser.get(ADDRESS, follow=True).content.decode()
    browser = Client()
    browser.post(ADDRESS, {"name": "Better vases"})
    browser.force_login(make_member(project, "owner", name="cleo"))
    assert "Better vases" not in browser.get(ADDRESS, follow=True).content.decode()


STUDY_FORM = {
    "named": "best-of-n",
    "edited_from": "abc",
    "source": "study: best-of-n\nkind: best_of_n\n",
    "study": "best-of-n",
    "title": "Ended session",
    "kind": "best_of_n",
    "ask.caption": "negative_caption",
    "pay.currency": "EUR",
    "pay.per_session": "3,50",
    "pay.per_answer": "0.10",
    "recruitment.invite": "",
    "language": "",
    "do": "save",
}


def test_a_kept_study_form_is_shown_by_the_labels_of_its_fields(project: Project) -> None:
    person, address = make_member(project, "editor"), "/projects/vases/new-study/form/?form_key=a"
    browser = signed_out(person)
    browser.post(address, STUDY_FORM)
    browser.force_login(person)
    stale = Client(enforce_csrf_checks=True).post(address, STUDY_FORM)
    for page in (browser.get(address).content.decode(), stale.content.decode()):
        shown = page[page.index('<dl class="values">') : page.index("</dl>")]
        for entry in (
            "<dt>Title</dt><dd>Ended session</dd>",
            "<dt>Kind</dt><dd>Pick the best image for a caption, or none</dd>",
            "<dt>Pay per survey</dt><dd>3,50</dd>",
            "<dt>Pay: Per answer</dt><dd>0.10</dd>",
        ):
            assert entry in shown
        for internal in ("named", "source", "edited_from", "ask.", "pay.", "recruitment.", "true", "kind: "):
            assert internal not in shown


def test_only_typed_fields_of_other_forms_are_shown(project: Project) -> None:
    typed = {"edited_from": "abc", "source": "study: vase", "caption_rule": "keep-case-v1", "note": ""}
    page = Client(enforce_csrf_checks=True).post(ADDRESS, typed).content.decode()
    shown = page[page.index('<dl class="values">') : page.index("</dl>")]
    assert "<dt>Study file (YAML)</dt><dd>study: vase</dd>" in shown
    assert "<dt>Caption rule</dt><dd>keep-case-v1</dd>" in shown
    assert shown.count("<dt>") == 2
