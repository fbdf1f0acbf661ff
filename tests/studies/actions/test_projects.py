import pytest
from django.contrib.auth.models import User
from django.core.management import CommandError, call_command

from studies.actions.projects.members import may, permitted_projects
from studies.actions.projects.projects import archive_project, make_project, rename_project, reopen_project
from studies.actions.studies import change_state
from studies.errors import StudyError
from studies.models import Event, Project, StudyState
from studies.permissions import IN_ARCHIVE, Verb
from tests.factories import NOON, create_draft, launch_study, make_member, make_person
from tests.factories import make_project as existing

pytestmark = pytest.mark.django_db


def test_whoever_makes_a_project_owns_it() -> None:
    anna = make_person("anna")
    project = make_project(slug="birds", name="Birds and fish", by=anna, now=NOON)
    assert [(each.user, each.role) for each in project.memberships.all()] == [(anna, "owner")]
    assert list(Event.objects.order_by("pk").values_list("what", flat=True)) == ["project made", "member added"]


@pytest.mark.parametrize(
    ("slug", "name", "sentence"),
    [
        ("", "Birds", "Use letters, digits, hyphens"),
        ("two words", "Birds", "Use letters, digits, hyphens"),
        ("a" * 51, "Birds", "at most 50"),
        ("birds", "", "Name: It is empty"),
        ("birds", "x" * 201, "at most 200"),
        ("birds", "a\u200b", "cannot be seen"),
        ("vases", "Vases", "A project called vases already exists"),
    ],
)
def test_a_project_that_cannot_be_called_so_is_not_made(slug: str, name: str, sentence: str) -> None:
    existing()
    with pytest.raises(StudyError, match=sentence):
        make_project(slug=slug, name=name, by=make_person("anna"), now=NOON)
    assert Project.objects.count() == 1


def test_another_name_leaves_the_addresses_and_an_event() -> None:
    project, anna = existing(), make_person("anna")
    rename_project(project=project, name="Jugs", by=anna, now=NOON)
    rename_project(project=project, name="Jugs", by=anna, now=NOON)
    project.refresh_from_db()
    assert (project.slug, project.name) == ("vases", "Jugs")
    assert Event.objects.get().details == {"name": "Jugs", "before": "Vases"}
    with pytest.raises(StudyError, match="Name: It is empty"):
        rename_project(project=project, name="", by=anna, now=NOON)


def test_a_project_into_which_annotators_can_come_is_not_archived() -> None:
    study, anna = launch_study(), make_person("anna")
    for state in (StudyState.PAUSED, StudyState.OPEN):
        change_state(study=study, to=state, by=anna, now=NOON)
        with pytest.raises(StudyError, match=f"Still open or paused: {study.slug}. Close each of them first"):
            archive_project(project=study.project, by=anna, now=NOON)
    change_state(study=study, to=StudyState.CLOSED, by=anna, now=NOON)
    archive_project(project=study.project, by=anna, now=NOON)
    archive_project(project=study.project, by=anna, now=NOON)
    assert Event.objects.filter(what="project archived").count() == 1


@pytest.mark.parametrize("superuser", [False, True])
def test_in_an_archived_project_nothing_goes_on_but_people_keep_their_rights(superuser: bool) -> None:
    project = create_draft().project
    who = make_person("root", superuser=True) if superuser else make_member(project, "owner")
    archive_project(project=project, by=who, now=NOON)
    project.refresh_from_db()
    assert {verb for verb in Verb if may(who, verb, project)} == IN_ARCHIVE
    assert {verb for verb in Verb if permitted_projects(who, verb).exists()} == IN_ARCHIVE
    assert {Verb.REMOVE_PEOPLE, Verb.FORGET_PEOPLE, Verb.MANAGE_MEMBERS} <= IN_ARCHIVE
    assert not {Verb.IMPORT, Verb.PREDICT, Verb.DESIGN, Verb.RUN, Verb.SETTLE, Verb.RELEASE} & IN_ARCHIVE
    reopen_project(project=project, by=who, now=NOON)
    project.refresh_from_db()
    assert {verb for verb in Verb if may(who, verb, project)} == set(Verb)
    reopen_project(project=project, by=User.objects.get(pk=who.pk), now=NOON)
    assert Event.objects.filter(what="project reopened").count() == 1


def test_a_command_in_the_name_of_an_owner_is_refused_in_an_archived_project() -> None:
    study = create_draft()
    owner = make_member(study.project, "owner")
    archive_project(project=study.project, by=owner, now=NOON)
    with pytest.raises(CommandError, match="vases is archived, so nobody may launch, pause, close and extend studies"):
        call_command("launch_study", study.slug, by="owner")
