import re
from smtplib import SMTPException
from typing import NoReturn

import pytest
from django.contrib.auth.models import User
from django.core import mail
from django.test import Client
from pytest_django import Settings

from studies.models import Invitation, Membership
from tests.factories import PASSWORD, launch_study, make_member, make_person, make_project
from tests.pages import signed_in

pytestmark = pytest.mark.django_db
MEMBERS = "/projects/vases/members/"
ACCOUNT = {"username": "amaia", "first_name": "Amaia", "email": "", "password1": PASSWORD, "password2": PASSWORD}


def browser_of(role: str = "owner") -> Client:
    return signed_in(make_member(make_project(), role))


def invited(browser: Client, **given: str) -> str:
    """Make an invitation on the page; return the path of its link."""
    page = browser.post(f"{MEMBERS}invite/", {"role": "editor", "days": "7", "whom": "Amaia"} | given).content.decode()
    (path,) = re.findall(r'value="http://127\.0\.0\.1:8000(/invitations/[^"]+/)"', page)
    return str(path)


def test_a_link_is_shown_once_and_makes_an_account_a_member() -> None:
    owner = browser_of()
    link = invited(owner)
    assert link not in owner.get(MEMBERS).content.decode()
    newcomer = Client()
    page = newcomer.get(link).content.decode()
    assert "owner invites you to become an editor of <strong>Vases</strong>" in page
    response = newcomer.post(link, ACCOUNT)
    assert (response.status_code, response["Location"]) == (302, "/projects/vases/")
    assert "You are a member of Vases now." in newcomer.get("/projects/vases/").content.decode()
    amaia = User.objects.get(username="amaia")
    assert (amaia.first_name, amaia.is_staff, amaia.is_superuser) == ("Amaia", False, False)
    assert amaia.check_password(PASSWORD)
    assert Membership.objects.get(user=amaia).role == "editor"


def test_a_used_link_says_so_and_makes_nobody_an_account() -> None:
    link = invited(browser_of())
    Client().post(link, ACCOUNT)
    stranger = Client()
    assert stranger.get(link).status_code == 410
    response = stranger.post(link, ACCOUNT | {"username": "benat"})
    assert response.status_code == 410
    assert "it was used already" in response.content.decode()
    assert not User.objects.filter(username="benat").exists()


@pytest.mark.parametrize(
    ("wrong", "sentence"),
    [
        ({"username": "OWNER"}, "already exists"),
        ({"password2": "another password"}, "match"),
        ({"password1": "short", "password2": "short"}, "at least 12 characters"),
        ({"username": ""}, "required"),
    ],
)
def test_an_account_that_cannot_be_made_leaves_the_link_good(wrong: dict[str, str], sentence: str) -> None:
    link = invited(browser_of())
    response = Client().post(link, ACCOUNT | wrong)
    assert response.status_code == 409
    assert sentence in response.content.decode()
    assert User.objects.count() == 1
    assert Client().post(link, ACCOUNT).status_code == 302


def test_nobody_gives_themselves_more_than_the_link_does() -> None:
    link = invited(browser_of(), role="viewer")
    Client().post(link, ACCOUNT | {"is_staff": "on", "is_superuser": "on", "role": "owner"})
    amaia = User.objects.get(username="amaia")
    assert not amaia.is_staff
    assert not amaia.is_superuser
    assert Membership.objects.get(user=amaia).role == "viewer"


def test_somebody_with_an_account_joins_with_it() -> None:
    link = invited(browser_of())
    make_person("benat")
    benat = Client()
    # Signing in leads back to the link.
    assert f'href="/sign-in/?next={link}"' in benat.get(link).content.decode()
    benat.post("/sign-in/", {"username": "benat", "password": PASSWORD, "next": link})
    assert "Join as benat" in benat.get(link).content.decode()
    assert Membership.objects.count() == 1
    assert benat.post(link)["Location"] == "/projects/vases/"
    assert Membership.objects.get(user__username="benat").role == "editor"


def test_a_member_who_follows_a_link_is_told_so() -> None:
    owner = browser_of()
    response = owner.post(invited(owner))
    assert response.status_code == 409
    assert "You are a member of Vases already" in response.content.decode()


def test_a_cancelled_link_opens_nothing() -> None:
    owner = browser_of()
    link = invited(owner)
    cancel = f"/projects/vases/invitations/{Invitation.objects.get().pk}/cancel/"
    assert cancel in owner.get(MEMBERS).content.decode()
    owner.post(cancel)
    assert Client().get(link).status_code == 410
    assert cancel not in owner.get(MEMBERS).content.decode()


def test_an_invitation_of_another_project_is_not_cancelled_from_here() -> None:
    owner = browser_of()
    invited(owner)
    invitation = Invitation.objects.get()
    other = signed_in(make_person("other"))
    Membership.objects.create(project=make_project("fish"), user=User.objects.get(username="other"), role="owner")
    assert other.post(f"/projects/fish/invitations/{invitation.pk}/cancel/").status_code == 404
    own = Membership.objects.get(user__username="owner")
    assert other.post(f"/projects/fish/members/{own.pk}/role/", {"role": "viewer"}).status_code == 404
    assert other.post(f"/projects/fish/members/{own.pk}/remove/").status_code == 404
    invitation.refresh_from_db()
    own.refresh_from_db()
    assert (invitation.cancelled_at, own.role) == (None, "owner")


def test_an_owner_makes_somebody_else_what_they_are_and_ends_a_membership() -> None:
    owner = browser_of()
    eva = make_member(make_project(), "editor", name="eva")
    number = Membership.objects.get(user=eva).pk
    page = owner.post(f"{MEMBERS}{number}/role/", {"role": "viewer"}, follow=True).content.decode()
    assert "eva is a viewer now." in page
    assert "Remove eva from " in owner.get(f"{MEMBERS}{number}/remove/").content.decode()
    page = owner.post(f"{MEMBERS}{number}/remove/", follow=True).content.decode()
    assert "eva is no longer a member." in page
    assert not Membership.objects.filter(user=eva).exists()


def test_a_member_leaves_but_the_last_owner_does_not() -> None:
    owner = browser_of()
    response = owner.post(f"{MEMBERS}{Membership.objects.get().pk}/remove/")
    assert response.status_code == 409
    assert "Make somebody else an owner first." in response.content.decode()
    viewer = browser_of("viewer")
    (leave,) = re.findall(r'href="(/[^"]+/remove/)"', viewer.get(MEMBERS).content.decode())
    page = viewer.get(leave).content.decode()
    assert "An owner can invite you again: owner." in page
    assert "You are no longer a member of Vases." in viewer.post(leave, follow=True).content.decode()
    assert viewer.get(MEMBERS).status_code == 404


def test_a_viewer_sees_who_is_a_member_and_no_invitation() -> None:
    invited(browser_of())
    page = browser_of("viewer").get(MEMBERS).content.decode()
    assert "owner" in page
    assert "Open invitations" not in page
    assert "Invite somebody" not in page


def test_a_member_of_a_former_role_is_shown_as_what_they_are() -> None:
    owner = browser_of()
    make_member(make_project(), "researcher", name="old")
    page = owner.get(MEMBERS).content.decode()
    assert page.count("<option selected>editor</option>") == 2  # Theirs, and the one of the form for invitations.


def test_an_invitation_is_mailed_where_the_site_can_send_mail(settings: Settings) -> None:
    settings.MAIL_FROM = "lineup@example.org"
    link = invited(browser_of(), mail="amaia@example.org")
    (sent,) = mail.outbox
    assert (sent.to, sent.from_email, sent.subject) == (
        ["amaia@example.org"],
        "lineup@example.org",
        "Invitation to Vases",
    )
    assert f"http://127.0.0.1:8000{link}" in sent.body
    assert "owner invites you to Vases on Lineup, as an editor." in sent.body


def test_a_mail_that_is_not_taken_leaves_the_link_with_who_made_it(
    settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.MAIL_FROM = "lineup@example.org"

    def refuse(*args: object, **kwargs: object) -> NoReturn:
        raise SMTPException("no such mailbox")

    monkeypatch.setattr("workspace.mail.send_mail", refuse)
    owner = browser_of()
    given = {"role": "editor", "days": "7", "mail": "amaia@example.org"}
    page = owner.post(f"{MEMBERS}invite/", given).content.decode()
    assert "It could not be mailed to amaia@example.org; send it yourself." in page
    assert "/invitations/" in page


@pytest.mark.parametrize("address", ["amaia", "amaia@example.org\nBcc: all@example.org", "a@b, c@d"])
def test_an_address_that_is_none_makes_no_link(settings: Settings, address: str) -> None:
    settings.MAIL_FROM = "lineup@example.org"
    given = {"role": "editor", "days": "7", "mail": address}
    response = browser_of().post(f"{MEMBERS}invite/", given)
    assert response.status_code == 409
    assert "is not an e-mail address" in response.content.decode()
    assert (Invitation.objects.count(), mail.outbox) == (0, [])


def test_without_a_mail_server_no_mail_is_offered_or_sent() -> None:
    owner = browser_of()
    assert "E-mail" not in owner.get(MEMBERS).content.decode()
    invited(owner, mail="amaia@example.org")
    assert mail.outbox == []


@pytest.mark.parametrize("days", ["", "x", "0", "99999999999999999999", "\u00b2"])
def test_an_invitation_for_other_days_is_refused_with_what_was_typed(days: str) -> None:
    owner = browser_of()
    response = owner.post(f"{MEMBERS}invite/", {"role": "viewer", "days": days, "whom": "Amaia"})
    assert response.status_code == 409
    page = response.content.decode()
    assert "Choose for how many days the invitation is valid: 1, 7, 30." in page
    assert 'value="Amaia"' in page
    assert not Invitation.objects.exists()


def test_a_project_is_renamed_archived_and_taken_out_again_on_its_page() -> None:
    study = launch_study()
    owner = browser_of()
    assert "was renamed to Jugs" in owner.post("/projects/vases/name/", {"name": "Jugs"}, follow=True).content.decode()
    page = owner.post("/projects/vases/archive/", follow=True).content.decode()
    assert "Close each of them first, then archive the project." in page
    owner.post(f"/studies/vases/{study.slug}/close/")
    assert "The project was archived." in owner.post("/projects/vases/archive/", follow=True).content.decode()
    assert "Archived on" in owner.get("/projects/vases/").content.decode()
    assert '<span class="badge">archived</span>' in owner.get("/").content.decode()
    refused = owner.get(f"/studies/vases/{study.slug}/duplicate/")
    assert refused.status_code == 403
    assert "Jugs is archived, so nobody may create, change and delete drafts" in refused.content.decode()
    owner.post("/projects/vases/archive/", {"reopen": "1"})
    assert owner.get(f"/studies/vases/{study.slug}/duplicate/", follow=True).status_code == 200


def test_somebody_who_signs_in_begins_a_project() -> None:
    anna = signed_in(make_person("anna"))
    assert 'href="/new-project/"' in anna.get("/").content.decode()
    response = anna.post("/new-project/", {"name": "Birds", "slug": "two words"})
    assert response.status_code == 409
    assert 'value="two words"' in response.content.decode()
    response = anna.post("/new-project/", {"name": "Birds", "slug": "birds"}, follow=True)
    assert "The project was created. You are its owner." in response.content.decode()
    assert Membership.objects.get().role == "owner"


def test_a_project_s_name_in_addresses_is_made_of_its_name_where_none_is_typed() -> None:
    anna = signed_in(make_person("anna"))
    assert anna.post("/new-project/", {"name": "Birds & fish, 2nd"})["Location"] == "/projects/birds-fish-2nd/"


def test_a_site_may_leave_new_projects_to_superusers(settings: Settings) -> None:
    settings.ANYBODY_MAKES_PROJECTS = False
    anna, root = Client(), Client()
    anna.force_login(make_person("anna"))
    root.force_login(make_person("root", superuser=True))
    assert "/new-project/" not in anna.get("/").content.decode()
    assert anna.post("/new-project/", {"name": "Birds", "slug": "birds"}).status_code == 403
    assert root.post("/new-project/", {"name": "Birds", "slug": "birds"}).status_code == 302
