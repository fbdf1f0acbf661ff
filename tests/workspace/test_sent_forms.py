import re
from datetime import timedelta
from typing import Any

import pytest
import time_machine
from django.core import mail
from django.test import Client
from pytest_django import Settings

from studies.actions.drafts import delete_draft
from studies.models import Event, Invitation, Project, Study
from tests.factories import NOON, TESTS, draw_instance, make_member, make_project
from tests.pages import signed_in, words_of
from tests.together import at_once
from workspace import webhook_http
from workspace.models import Token, Webhook, WebhookKey

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


def test_back_to_a_study_file_leads_to_its_draft(editor: Client) -> None:
    address = editor.get("/projects/vases/new-study/")["Location"]
    assert f'action="{address}"' in editor.get(address).content.decode()
    source = "study: mine\ntitle: Which vase?\ncontact: Ada\nkind: best_of_n\n"
    assert editor.post(address, {"source": source})["Location"] == "/studies/vases/mine/"
    back = editor.get(address, follow=True)
    assert back.redirect_chain == [("/studies/vases/mine/", 302)]
    assert "You already sent this form, and it created this." in words_of(back)
    assert source in back.content.decode()
    # A browser may show the form as it was left.
    changed = f"{source}answers: 2\n"
    assert editor.post(address, {"source": changed})["Location"] == "/studies/vases/mine/"
    assert Study.objects.get().source == changed
    # The same text in an empty form is that of another study.
    other = editor.get("/projects/vases/new-study/")["Location"]
    assert editor.post(other, {"source": source}).status_code == 409


def test_a_session_remembers_the_last_forms_only(editor: Client) -> None:
    first, typed = open_form(editor)
    editor.post(first, typed)
    for number in range(10):
        address, typed = open_form(editor)
        editor.post(address, typed | {"title": f"Vase {number}"})
    assert editor.get(first).status_code == 200
    assert len(editor.session["form_key"]) == 10


# A page with a form that creates a secret, where the form is sent, its fields, and the secret in the page after it.
TOKENS = (
    "/tokens/",
    "/tokens/",
    {"name": "notebook", "scope": "read", "days": "30", "project": ""},
    r"lineup_[0-9a-f]{64}",
)
MEMBERS = "/projects/vases/members/"
INVITE = (MEMBERS, f"{MEMBERS}invite/", {"role": "editor", "days": "7", "whom": "Amaia"}, r"/invitations/[0-9a-f]{64}/")
WEBHOOKS = "/projects/vases/webhooks/"
HOOK = {"url": "https://93.184.215.14/", "topics": ["release.made"]}
WEBHOOK = (WEBHOOKS, WEBHOOKS, HOOK, r'id="key" readonly value="([^"]+)"')
SECRETS = pytest.mark.parametrize(
    ("page", "address", "fields", "secret"), [TOKENS, INVITE, WEBHOOK], ids=["token", "invitation", "webhook"]
)


@pytest.fixture
def owner(monkeypatch: pytest.MonkeyPatch) -> Client:
    monkeypatch.setattr(webhook_http, "look_up", lambda *host_and_port: [])
    return signed_in(make_member(make_project(), "owner"))


def key_in(browser: Client, page: str) -> str:
    return str(browser.get(page).context["form_key"])


def created() -> tuple[int, int, int, int]:
    return Token.objects.count(), Invitation.objects.count(), Webhook.objects.count(), WebhookKey.objects.count()


@SECRETS
def test_a_double_click_without_scripts_creates_one_secret_and_shows_it(
    owner: Client, page: str, address: str, fields: dict[str, Any], secret: str
) -> None:
    sent = fields | {"form_key": key_in(owner, page)}
    first = owner.post(address, sent).content.decode()
    once, told = created(), Event.objects.count()
    second = owner.post(address, sent)
    assert second.status_code == 200
    found = re.findall(secret, second.content.decode())
    assert len(found) == 1
    assert found == re.findall(secret, first)
    assert (created(), Event.objects.count()) == (once, told)


@pytest.mark.django_db(transaction=True)
@SECRETS
def test_both_clicks_at_once_show_the_same_secret(
    owner: Client, page: str, address: str, fields: dict[str, Any], secret: str
) -> None:
    sent = fields | {"form_key": key_in(owner, page)}
    before = created()
    shown = at_once(*[lambda: re.findall(secret, owner.post(address, sent).content.decode())] * 2)
    assert shown[0] == shown[1] != []
    assert [more - less for less, more in zip(before, created(), strict=True)].count(1) == (
        2 if page == WEBHOOKS else 1
    )


@SECRETS
def test_a_form_sent_again_later_creates_nothing_and_keeps_the_secret(
    owner: Client, page: str, address: str, fields: dict[str, Any], secret: str
) -> None:
    sent = fields | {"form_key": key_in(owner, page)}
    with time_machine.travel(NOON, tick=False):
        owner.post(address, sent)
    once = created()
    with time_machine.travel(NOON + timedelta(minutes=2), tick=False):
        again = owner.post(address, sent)
    assert "You already sent this form. It created " in words_of(again)
    assert not re.findall(secret, again.content.decode())
    assert created() == once


@SECRETS
def test_a_secret_cannot_be_told_from_the_form(
    owner: Client, page: str, address: str, fields: dict[str, Any], secret: str
) -> None:
    """It also depends on who sends what: another person, or another page with the same key, gets another."""
    key = key_in(owner, page)
    found = re.findall(secret, owner.post(address, fields | {"form_key": key}).content.decode())
    assert key not in found[0]
    Webhook.objects.all().delete()
    other = signed_in(make_member(Project.objects.get(), "owner", name="bea"))
    others = re.findall(secret, other.post(address, fields | {"form_key": key}).content.decode())
    assert len(others) == 1
    assert others != found


def test_another_token_is_created_when_the_form_was_changed_after_back(owner: Client) -> None:
    _, address, fields, _ = TOKENS
    key = key_in(owner, address)
    for name in ("notebook", "server"):
        owner.post(address, fields | {"form_key": key, "name": name})
    assert sorted(Token.objects.values_list("name", flat=True)) == ["notebook", "server"]


def test_a_double_click_on_change_its_key_keeps_the_one_before(owner: Client) -> None:
    owner.post(WEBHOOKS, HOOK)
    before = WebhookKey.objects.get()
    address = f"{WEBHOOKS}{before.webhook_id}/key/"
    sent = {"hours": "24", "form_key": key_in(owner, WEBHOOKS)}
    shown = [re.findall(WEBHOOK[3], owner.post(address, sent).content.decode()) for _ in range(2)]
    assert shown[0] == shown[1] != []
    assert WebhookKey.objects.count() == 2
    assert WebhookKey.objects.filter(pk=before.pk).exists()


def test_an_old_form_brings_no_deleted_key_back(owner: Client) -> None:
    owner.post(WEBHOOKS, HOOK)
    first = WebhookKey.objects.get()
    address = f"{WEBHOOKS}{first.webhook_id}/key/"
    old = {"hours": "0", "form_key": key_in(owner, WEBHOOKS), "newest": str(first.pk)}
    owner.post(address, old)
    leaked = WebhookKey.objects.get()
    owner.post(address, {"hours": "0", "form_key": key_in(owner, WEBHOOKS), "newest": str(leaked.pk)})
    good = WebhookKey.objects.get()
    assert good.salt != leaked.salt
    assert f'name="newest" value="{good.pk}"' in owner.get(WEBHOOKS).content.decode()
    again = owner.post(address, old, follow=True)
    assert "The key was changed since you opened this page." in words_of(again)
    assert WebhookKey.objects.get() == good


def test_an_old_form_brings_back_no_key_of_a_deleted_webhook(owner: Client) -> None:
    sent = HOOK | {"form_key": key_in(owner, WEBHOOKS)}
    (key,) = re.findall(WEBHOOK[3], owner.post(WEBHOOKS, sent).content.decode())
    owner.post(f"{WEBHOOKS}{Webhook.objects.get().pk}/delete/")
    again = owner.post(WEBHOOKS, sent)
    assert again.status_code == 409
    assert "This form has already created a webhook" in words_of(again)
    assert key not in again.content.decode()
    assert not Webhook.objects.exists()
    # The page that says so has an empty form, which creates another key.
    (other,) = re.findall(
        WEBHOOK[3], owner.post(WEBHOOKS, HOOK | {"form_key": key_in(owner, WEBHOOKS)}).content.decode()
    )
    assert other != key


def test_a_double_click_on_invite_mails_the_link_once(owner: Client, settings: Settings) -> None:
    settings.MAIL_FROM = "lineup@example.org"
    sent = {"role": "editor", "days": "7", "whom": "", "mail": "amaia@example.org", "form_key": key_in(owner, MEMBERS)}
    owner.post(f"{MEMBERS}invite/", sent)
    assert len(mail.outbox) == 1
    again = owner.post(f"{MEMBERS}invite/", sent)
    assert len(mail.outbox) == 1
    assert "Your first click mails it to amaia@example.org." in words_of(again)
