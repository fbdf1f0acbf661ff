"""What owners decide, by the client."""

import pytest

from lineup_client import LineupError
from results.models import Pseudonym
from studies.actions.projects.membership import join
from studies.models import Membership, Study
from tests.factories import NOON, answer, make_member, make_person, questions, sit_down
from tests.lineup_client.inside import client_of

pytestmark = pytest.mark.django_db


def test_a_project_and_its_members(study: Study) -> None:
    project = client_of(make_member(study.project, "owner")).project("birds")
    assert project.rename("Finches")["name"] == "Finches"
    made, open_one = project.invite("viewer", whom="Amaia"), project.invite("viewer")
    amaia = make_person("amaia")
    join(secret=made["link"].split("/")[-2], by=amaia, now=NOON)
    assert [each["id"] for each in project.invitations()] == [open_one["id"]]
    project.cancel_invitation(open_one["id"])
    assert project.change_role("amaia", "editor")["role"] == "editor"
    project.remove_member("amaia")
    assert not Membership.objects.filter(user=amaia).exists()
    project.study("birds-step-3").close()
    assert project.archive()["archived_at"]
    assert project.reopen()["archived_at"] is None


def test_people_and_questions(study: Study) -> None:
    answer(sit_down(study, "ann"), questions(study)[0], "candidate-1")
    project = client_of(make_member(study.project, "editor")).project("birds")
    (person,) = project.people()
    name = Pseudonym.objects.get().name
    assert (person["name"], person["counts"]) == (name, True)
    assert project.withdraw(name, dry_run=True)["answers"] == project.exclude(name, "clicked")["answers"] == 1
    assert project.reopen_slots(name, dry_run=True)["slots"] == 1
    assert project.include(name)["answers"] == 1
    decided = project.study("birds-step-3")
    waiting = next(each for each in decided.decisions() if not each["settled"] and not each["answers"])
    assert decided.settle(waiting["id"], "candidate-2", "Clear.")["winner"] == "candidate-2"
    assert decided.unsettle(waiting["id"])["winner"] == ""
    with pytest.raises(LineupError, match="Nobody has settled"):
        decided.unsettle(waiting["id"])


def test_tags_of_instances(study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineup_client.instances.TAGGED_AT_ONCE", 2)
    project = client_of(make_member(study.project, "editor")).project("birds")
    ids = [each["id"] for each in project.instances()]
    assert len(ids) > 2
    assert project.instances.tag("look again", ids) == len(ids)
    assert project.instances.tag("look again", ids) == 0
    assert project.instances.untag("look again", ids[:1]) == 1
    assert {each["id"] for each in project.instances(tag="look again")} == set(ids[1:])
    project.instances.tag("few", ids[:1])
    # The tag is gone before the second request.
    assert project.instances.untag("few", ids) == 1
    with pytest.raises(LineupError, match="has the tag odd"):
        project.instances.untag("odd", ids)


def test_ratings_and_what_is_owed(study: Study) -> None:
    answer(sit_down(study, "ann"), questions(study)[0], "candidate-1")
    client = client_of(make_member(study.project, "viewer")).project("birds").study("birds-step-3")
    assert client.ratings() == []
    (person,) = client.owed()
    assert (person["name"], person["sessions"], person["answers"]) == (Pseudonym.objects.get().name, 1, 1)
    assert (person["amount"], person["items"]) == ("0.00", [])
    assert person["why"].startswith("Still open")
