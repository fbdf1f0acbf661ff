"""Drafts on their page: the study file changed, the study duplicated and deleted, by members alone."""

import html
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from annotation.actions.launching.launch import launch
from studies.actions.drafts import fingerprint, update_draft
from studies.actions.studies import create_study
from studies.models import Event, Study
from studies.shipped_designs import shipped_designs
from tests.factories import NOON, TESTS, create_draft, make_person, make_project
from tests.pages import signed_in, words_of

pytestmark = pytest.mark.django_db

PAGE = "/studies/vases/best-vase/"
FILE = "study: best-vase\ntitle: Which <one>?\ncontact: Ada\nkind: best_of_n\n"


@pytest.fixture
def anna() -> User:
    return make_person("anna")


@pytest.fixture
def draft(anna: User) -> Study:
    return create_draft(make_project(members=[anna]))


@pytest.fixture
def client(anna: User) -> Client:
    return signed_in(anna)


def save(client: Client, study: Study, source: str, **form: str) -> Any:
    return client.post(f"{PAGE}file/", {"source": source, "edited_from": fingerprint(study.source), **form})


def test_the_page_of_a_draft_shows_its_file_and_saves_it(client: Client, draft: Study) -> None:
    page = client.get(PAGE).content.decode()
    assert draft.source in page.replace("&#x27;", "'")
    response = save(client, draft, FILE.replace("\n", "\r\n"))
    assert (response.status_code, response["Location"]) == (302, PAGE)
    draft.refresh_from_db()
    assert (draft.source, draft.title) == (FILE, "Which <one>?")
    assert "Which &lt;one&gt;?" in client.get(PAGE).content.decode()
    assert Event.objects.get(what="study changed").by_name == "anna"


def test_the_file_of_a_draft_is_folded_except_for_those_who_came_to_edit_it(client: Client, draft: Study) -> None:
    folded, open_ = '<details class="study-file section">', '<details class="study-file section" open>'
    page = client.get(PAGE).content.decode()
    assert folded in page
    # Below everything else.
    assert page.index("Edit it in a form") < page.index(folded)
    assert "<form" not in page[page.index("</details>", page.index(folded)) :]
    assert '<a href="?file=open#study-file">study file</a>' in page
    assert open_ in client.get(f"{PAGE}?file=open").content.decode()
    assert open_ in save(client, draft, f"{FILE}anwsers: 3").content.decode()


def test_who_renames_a_draft_is_led_to_its_new_address(client: Client, draft: Study) -> None:
    response = save(client, draft, FILE.replace("best-vase", "other"))
    assert response["Location"] == "/studies/vases/other/"


def test_mistakes_are_shown_with_their_lines_beside_what_was_typed(client: Client, draft: Study) -> None:
    typed = FILE + "anwsers: 3  # many\nsurveys: {size: 0}\n"
    response = save(client, draft, typed)
    page = response.content.decode()
    assert response.status_code == 409
    assert "Line 5: <code>anwsers</code> is not known here. Did you mean <code>answers</code>?" in page
    assert "<code>anwsers: 3  # many</code>" in page
    assert "Line 6: <code>surveys.size</code> is 0; it must be at least 1. <code>surveys: {size: 0}</code>" in page
    assert "anwsers: 3  # many\nsurveys: {size: 0}\n</textarea>" in page
    assert Study.objects.get().source == draft.source


@pytest.mark.both
@pytest.mark.parametrize("typed", ["", "\0", "a: [", "- a", "kind: best_of_n"])
def test_whatever_is_typed_is_answered_with_a_sentence(client: Client, draft: Study, typed: str) -> None:
    response = save(client, draft, typed)
    assert response.status_code == 409
    assert "Your text is still here" in response.content.decode()


def test_what_is_typed_is_not_lost_when_somebody_else_was_faster(client: Client, draft: Study) -> None:
    seen = fingerprint(draft.source)
    update_draft(study=draft, source=FILE, by=TESTS, now=NOON)
    response = save(client, draft, FILE + "answers: 7\n", edited_from=seen)
    page = response.content.decode()
    assert '<code>answers</code></th><td dir="auto">7</td><td dir="auto">1</td>' in page
    assert "answers: 7\n</textarea>" in page
    # Saving again replaces what was saved meanwhile.
    draft.refresh_from_db()
    assert f'value="{fingerprint(draft.source)}"' in page
    launch(study=draft, by=TESTS, now=NOON)
    page = save(client, draft, FILE + "answers: 7\n").content.decode()
    assert "was launched, so it is no longer a draft" in page
    assert "answers: 7\n</textarea>" in page


def test_a_study_is_duplicated_after_it_was_named(client: Client, draft: Study) -> None:
    assert 'value="Which vase?"' in client.get(f"{PAGE}duplicate/", follow=True).content.decode()
    refused = client.post(f"{PAGE}duplicate/", {"name": "best-vase", "title": "My <title>"})
    page = refused.content.decode()
    assert refused.status_code == 409
    assert "already has a study called best-vase" in page
    assert 'value="My &lt;title&gt;"' in page
    response = client.post(f"{PAGE}duplicate/", {"name": "again", "title": "Again?"})
    assert response["Location"] == "/studies/vases/again/"
    assert Study.objects.get(slug="again").title == "Again?"
    # Pressed twice.
    again = client.post(f"{PAGE}duplicate/", {"name": "again", "title": "Again?"})
    assert again["Location"] == "/studies/vases/again/"
    assert Study.objects.count() == 2
    refused = client.post(f"{PAGE}duplicate/", {"name": "again", "title": "Another"})
    assert "Give “Name” another name." in refused.content.decode()


@pytest.mark.both
@pytest.mark.parametrize("name", ["", "B B", "a\0b", "a/b"])
def test_a_name_that_cannot_be_one_is_told_so(client: Client, draft: Study, name: str) -> None:
    response = client.post(f"{PAGE}duplicate/", {"name": name, "title": "T"})
    assert response.status_code == 409
    assert 'class="problems"' in response.content.decode()


def test_a_draft_is_deleted_when_that_is_confirmed(client: Client, draft: Study) -> None:
    assert "You cannot undo this" in client.get(f"{PAGE}delete/").content.decode()
    assert Study.objects.exists()
    response = client.post(f"{PAGE}delete/", follow=True)
    assert response.redirect_chain == [("/projects/vases/", 302)]
    assert "The draft best-vase is deleted." in response.content.decode()
    assert not Study.objects.exists()
    events = client.get("/projects/vases/events/").content.decode()
    assert "deleted the draft best-vase" in events
    assert "created best-vase" in events


def test_a_draft_that_feeds_others_says_why_it_stays(client: Client, draft: Study) -> None:
    source = "study: step-4\ntitle: T\nkind: ambiguity\nask: {original: candidate}\ninstances: {from: best-vase}\n"
    create_study(project=draft.project, source=source, by=TESTS, now=NOON)
    response = client.post(f"{PAGE}delete/")
    assert response.status_code == 409
    assert "Other studies take their instances from best-vase: step-4." in response.content.decode()


def test_a_launched_study_offers_a_copy_and_neither_form_nor_deletion(client: Client, draft: Study) -> None:
    launch(study=draft, by=TESTS, now=NOON)
    page = client.get(PAGE).content.decode()
    assert f'href="{PAGE}duplicate/"' in page
    assert "<textarea" not in page
    assert f"{PAGE}delete/" not in page
    assert client.get(f"{PAGE}delete/")["Location"] == PAGE
    assert client.post(f"{PAGE}delete/").status_code == 409
    assert Study.objects.exists()


@pytest.mark.parametrize("name", ["file", "duplicate", "delete"])
def test_strangers_do_not_learn_that_there_is_a_draft(draft: Study, name: str) -> None:
    stranger = signed_in(make_person("stranger"))
    form = {"source": FILE, "name": "again", "title": "T"}
    assert stranger.get(f"{PAGE}{name}/").status_code == 404
    assert stranger.post(f"{PAGE}{name}/", form).status_code == 404
    assert Client().post(f"{PAGE}{name}/", form)["Location"].startswith("/sign-in/")
    assert [study.source for study in Study.objects.all()] == [draft.source]


@pytest.mark.parametrize("name", ["file", "duplicate", "delete"])
def test_other_methods_are_refused(client: Client, draft: Study, name: str) -> None:
    assert client.put(f"{PAGE}{name}/").status_code == 405


NEW = "/projects/vases/new-study/"


def test_a_study_begins_with_a_shipped_protocol(client: Client, anna: User) -> None:
    make_project(members=[anna])
    assert f'href="{NEW}"' in client.get("/projects/vases/").content.decode()
    page = client.get(NEW, follow=True).content.decode()
    assert 'href="?from=bivlc-step-3#study-file"' in page
    assert "Which image fits the description?" in page
    page = client.get(f"{NEW}?from=bivlc-step-3", follow=True).content.decode()
    assert "Study file, a copy of BiVLC, step 3: best of four" in page
    source = page.partition("<textarea")[2].partition(">\n")[2].partition("</textarea>")[0]
    assert source.startswith("# BiVLC, step 3")
    response = client.post(NEW, {"source": html.unescape(source).replace("\n", "\r\n")})
    assert (response.status_code, response["Location"]) == (302, "/studies/vases/bivlc-step-3/")
    assert Study.objects.get().source == shipped_designs()["bivlc-step-3"].source


def test_a_protocol_that_there_is_not_leaves_the_form_empty(client: Client, anna: User) -> None:
    make_project(members=[anna])
    for name in ("none", "../settings", ""):
        page = client.get(NEW, {"from": name}, follow=True).content.decode()
        assert 'rows="24"' in page
        assert "a copy of" not in page


def test_mistakes_in_a_new_study_stand_beside_what_was_typed(client: Client, anna: User) -> None:
    make_project(members=[anna])
    response = client.post(NEW, {"source": FILE + "anwsers: 3\n"})
    page = response.content.decode()
    assert response.status_code == 409
    assert "Line 5" in page
    assert "<code>anwsers: 3</code>" in page
    assert "Which &lt;one&gt;?" in page
    assert not Study.objects.exists()


def test_a_name_that_is_taken_is_refused(client: Client, draft: Study) -> None:
    response = client.post(NEW, {"source": FILE})
    assert response.status_code == 409
    assert "best-vase" in response.content.decode()
    assert Study.objects.count() == 1


def test_a_file_is_used_in_place_of_what_was_typed(client: Client, anna: User) -> None:
    make_project(members=[anna])
    # As some editors save it: with a mark at its beginning.
    chosen = SimpleUploadedFile("mine.yaml", b"\xef\xbb\xbf" + FILE.encode())
    response = client.post(NEW, {"source": "study: other\n", "file": chosen})
    assert response["Location"] == PAGE
    assert Study.objects.get().source == FILE


@pytest.mark.parametrize(
    ("content", "sentence"),
    [(b"\xff\xfe\x00", "mine.yaml is not UTF-8 text."), (b"#" * 1_000_001, "larger than 1,000,000 bytes")],
)
def test_a_file_that_is_no_study_file_is_refused_and_what_was_typed_stays(
    client: Client, anna: User, content: bytes, sentence: str
) -> None:
    make_project(members=[anna])
    response = client.post(NEW, {"source": "study: typed\n", "file": SimpleUploadedFile("mine.yaml", content)})
    page = response.content.decode()
    assert response.status_code == 409
    assert sentence in page
    assert "study: typed" in page
    assert not Study.objects.exists()


def test_a_new_draft_links_its_preview(client: Client, draft: Study) -> None:
    page = words_of(client.post(NEW, {"source": FILE.replace("best-vase", "other")}, follow=True))
    assert "The draft other was created." in page
