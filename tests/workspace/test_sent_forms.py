import pytest
from django.test import Client

from studies.actions.drafts import delete_draft
from studies.models import Project, Study
from tests.factories import NOON, TESTS, draw_instance, make_member, make_project
from tests.pages import signed_in, words_of

pytestmark = pytest.mark.django_db
FORM = "/projects/vases/new-study/form/?kind=best_of_n"
TYPED = {"do": "save", "named": "best-of-n", "study": "best-of-n", "contact": "Ada", "title": "Which vase?"}


@pytest.fixture
def editor() -> Client:
    project = make_project()
    for number in range(3):
        draw_instance(project, number)
    return signed_in(make_member(project, "editor"))


def open_form(browser: Client) -> tuple[str, dict[str, str]]:
    """Return the address of an empty form, with its key, and what it sends once it is filled in."""
    address = browser.get(FORM)["Location"]
    return address, {**TYPED, "source": browser.get(address).context["typed"]}


def test_each_empty_form_has_a_key_of_its_own(editor: Client) -> None:
    keys = [editor.get(FORM)["Location"] for _ in range(2)]
    assert all(key.startswith(f"{FORM}&form_key=") for key in keys)
    assert len(set(keys)) == 2


def test_a_form_opened_again_leads_to_the_draft_and_offers_an_empty_one(editor: Client) -> None:
    address, typed = open_form(editor)
    assert editor.post(address, typed)["Location"] == "/studies/vases/which-vase/"
    again = editor.get(address, follow=True)
    assert again.redirect_chain == [("/studies/vases/which-vase/form/", 302)]
    assert "You already sent this form, and it created this." in words_of(again)
    assert f'<a href="{FORM}">Open an empty form</a>' in words_of(again)
    # The key is that of one browser.
    other = signed_in(make_member(Project.objects.get(), "editor", name="bea"))
    assert other.get(address).status_code == 200


def test_a_change_sent_with_the_form_again_is_saved_in_the_draft(editor: Client) -> None:
    """A browser may keep the page, and show it by Back without asking for it."""
    address, typed = open_form(editor)
    for answers in ("2", "3"):
        sent = editor.post(address, typed | {"answers": answers})
        assert sent["Location"] == "/studies/vases/which-vase/"
    study = Study.objects.get()
    assert study.design.answers == 3
    # Not in a launched study, which says so beside what was typed.
    Study.objects.update(state="open", launched_at=NOON)
    refused = editor.post(address, typed | {"answers": "4"})
    assert refused.status_code == 409
    assert "was launched, so it is no longer a draft" in words_of(refused)
    assert 'name="answers" value="4"' in words_of(refused)


def test_the_form_of_a_deleted_draft_is_empty_again(editor: Client) -> None:
    address, typed = open_form(editor)
    editor.post(address, typed)
    delete_draft(study=Study.objects.get(), by=TESTS, now=NOON)
    assert editor.get(address).status_code == 200
    assert editor.post(address, typed).status_code == 302
    assert Study.objects.count() == 1


def test_a_session_remembers_the_last_forms_only(editor: Client) -> None:
    first, typed = open_form(editor)
    editor.post(first, typed)
    for number in range(10):
        address, typed = open_form(editor)
        editor.post(address, typed | {"title": f"Vase {number}"})
    assert editor.get(first).status_code == 200
    assert len(editor.session["form_key"]) == 10
