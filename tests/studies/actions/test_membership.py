from contextlib import suppress
from datetime import timedelta
from functools import partial

import pytest
from django.contrib.auth.models import User

from studies.actions.projects.membership import (
    cancel_invitation,
    change_role,
    invitation_of,
    invite,
    join,
    remove_member,
)
from studies.errors import StudyError
from studies.models import Event, Invitation, Membership, Project
from tests.factories import NOON, make_member, make_person, make_project
from tests.together import at_once

pytestmark = pytest.mark.django_db
NO_LONGER = "can no longer be used"


def secret_for(role: str = "editor", *, by: User | None = None, days: int = 7) -> str:
    project = make_project()
    by = by or make_member(project, "owner")
    _, secret = invite(project=project, role=role, days=days, whom="Amaia", by=by, now=NOON)
    return secret


def roles(project: Project) -> dict[str, str]:
    return dict(project.memberships.values_list("user__username", "role"))


def test_whoever_follows_the_link_becomes_what_it_says_once() -> None:
    secret = secret_for("viewer")
    assert join(secret=secret, by=make_person("amaia"), now=NOON) == make_project()
    assert roles(make_project()) == {"owner": "owner", "amaia": "viewer"}
    with pytest.raises(StudyError, match=NO_LONGER):
        join(secret=secret, by=make_person("benat"), now=NOON)
    assert roles(make_project()) == {"owner": "owner", "amaia": "viewer"}


def test_a_link_ends_with_its_days() -> None:
    secret = secret_for(days=1)
    # The database does not hold the link.
    assert secret not in str(Invitation.objects.values().get())
    assert invitation_of(secret, NOON + timedelta(hours=23, minutes=59)).whom == "Amaia"
    with pytest.raises(StudyError, match=NO_LONGER):
        invitation_of(secret, NOON + timedelta(days=1))


def test_a_link_that_was_cancelled_opens_nothing_and_is_cancelled_once() -> None:
    secret = secret_for()
    invitation = Invitation.objects.get()
    cancel_invitation(invitation=invitation, by=make_person("root", superuser=True), now=NOON)
    with pytest.raises(StudyError, match=NO_LONGER):
        join(secret=secret, by=make_person("amaia"), now=NOON)
    with pytest.raises(StudyError, match="used or cancelled in the meantime"):
        cancel_invitation(invitation=invitation, by=User.objects.get(username="root"), now=NOON)
    assert Event.objects.filter(what="invitation cancelled").count() == 1


@pytest.mark.parametrize("fate", ["removed", "editor", "deactivated"])
def test_a_link_ends_with_the_right_of_who_made_it(fate: str) -> None:
    make_member(make_project(), "owner", name="first")
    olga = make_member(make_project(), "owner", name="olga")
    secret = secret_for(by=olga)
    if fate == "deactivated":
        User.objects.filter(pk=olga.pk).update(is_active=False)
    elif fate == "editor":
        Membership.objects.filter(user=olga).update(role="editor")
    else:
        Membership.objects.filter(user=olga).delete()
    with pytest.raises(StudyError, match=NO_LONGER):
        invitation_of(secret, NOON)


def test_a_member_neither_uses_a_link_up_nor_changes_their_role_with_it() -> None:
    secret = secret_for("viewer")
    with pytest.raises(StudyError, match="You are a member of Vases already"):
        join(secret=secret, by=User.objects.get(username="owner"), now=NOON)
    assert roles(make_project()) == {"owner": "owner"}
    join(secret=secret, by=make_person("amaia"), now=NOON)


@pytest.mark.parametrize("guess", ["", "x", "0" * 64, "its hash"])
def test_nobody_guesses_a_link(guess: str) -> None:
    secret_for()
    with pytest.raises(StudyError, match=NO_LONGER):
        invitation_of(Invitation.objects.get().secret_hash if guess == "its hash" else guess, NOON)


@pytest.mark.parametrize(
    ("given", "sentence"),
    [
        ({"role": "king"}, "owner, editor, viewer"),
        ({"role": "researcher"}, "owner, editor, viewer"),
        ({"days": 0}, "1, 7, 30"),
        ({"days": 365}, "1, 7, 30"),
        ({"whom": "a\nb"}, "ends the line"),
        ({"whom": "a" * 201}, "at most 200"),
    ],
)
def test_an_invitation_that_cannot_be_meant_is_refused(given: dict[str, object], sentence: str) -> None:
    meant: dict[str, object] = {"role": "editor", "days": 7, "whom": ""}
    with pytest.raises(StudyError, match=sentence):
        invite(project=make_project(), by=make_person("anna"), now=NOON, **(meant | given))  # type: ignore[arg-type]
    assert not Invitation.objects.exists()


@pytest.mark.django_db(transaction=True)
def test_of_many_who_follow_one_link_at_once_one_joins() -> None:
    secret = secret_for()
    people = [make_person(f"person-{number}") for number in range(8)]

    def follow(place: int) -> bool:
        try:
            join(secret=secret, by=people[place], now=NOON)
        except StudyError:
            return False
        return True

    assert sum(at_once(*(partial(follow, place) for place in range(8)))) == 1
    assert make_project().memberships.count() == 2


def test_the_last_owner_who_can_sign_in_stays() -> None:
    project = make_project()
    olga = make_member(project, "owner", name="olga")
    gone = make_member(project, "owner", name="gone")
    User.objects.filter(pk=gone.pk).update(is_active=False)
    make_member(project, "editor")
    own = project.memberships.get(user=olga)
    with pytest.raises(StudyError, match="olga is the only owner of the project who can sign in"):
        remove_member(membership=own, by=olga, now=NOON)
    with pytest.raises(StudyError, match="Make somebody else an owner first"):
        change_role(membership=own, role="viewer", by=olga, now=NOON)
    change_role(membership=project.memberships.get(user__username="editor"), role="owner", by=olga, now=NOON)
    remove_member(membership=own, by=olga, now=NOON)
    assert roles(project) == {"gone": "owner", "editor": "owner"}


@pytest.mark.django_db(transaction=True)
def test_two_owners_who_end_each_others_membership_at_once_leave_one() -> None:
    project = make_project()
    owners = [make_member(project, "owner", name=name) for name in ("ann", "ben")]
    memberships = [project.memberships.get(user=owner) for owner in owners]

    def end_the_other(place: int) -> None:
        with suppress(StudyError):
            remove_member(membership=memberships[1 - place], by=owners[place], now=NOON)

    at_once(lambda: end_the_other(0), lambda: end_the_other(1))
    assert project.memberships.count() == 1


def test_a_role_that_stays_leaves_no_event() -> None:
    project = make_project()
    owner = make_member(project, "owner")
    change_role(membership=project.memberships.get(), role="owner", by=owner, now=NOON)
    assert not Event.objects.exists()
    with pytest.raises(StudyError, match="owner, editor, viewer"):
        change_role(membership=project.memberships.get(), role="", by=owner, now=NOON)
