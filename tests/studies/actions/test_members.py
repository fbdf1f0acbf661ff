import pytest

from studies.actions.projects.members import may, owners_of, permitted_projects, rights_in, role_in
from studies.models import Membership, Project
from studies.permissions import ALLOWED, Role, Verb
from tests.factories import make_member, make_person, make_project

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_project("birds")


@pytest.mark.parametrize("role", Role)
def test_a_member_may_what_the_table_says_and_only_there(project: Project, role: Role) -> None:
    person, other = make_member(project, role), make_project("fish")
    assert role_in(person, project) is role
    assert rights_in(person, project) == ALLOWED[role]
    assert rights_in(person, other) == frozenset()
    for verb in Verb:
        assert list(permitted_projects(person, verb)) == ([project] if verb in ALLOWED[role] else [])


def test_whom_the_version_before_calls_a_researcher_is_an_editor(project: Project) -> None:
    person = make_member(project, "researcher")
    assert role_in(person, project) is Role.EDITOR
    assert rights_in(person, project) == ALLOWED[Role.EDITOR]
    assert list(permitted_projects(person, Verb.RUN)) == [project]


@pytest.mark.parametrize("role", ["boss", ""], ids=["a role that nobody knows", "a stranger"])
def test_without_a_known_role_there_is_no_right(project: Project, role: str) -> None:
    person = make_member(project, role) if role else make_person("stranger")
    assert role_in(person, project) is None
    assert rights_in(person, project) == frozenset()
    assert not any(may(person, verb, project) for verb in Verb)
    assert not permitted_projects(person, Verb.VIEW).exists()


def test_a_superuser_may_everything_everywhere_whatever_their_role(project: Project) -> None:
    root, other = make_person("root", superuser=True), make_project("fish")
    Membership.objects.create(project=project, user=root, role=Role.VIEWER)
    for verb in Verb:
        assert may(root, verb, project)
        assert list(permitted_projects(root, verb)) == [project, other]


@pytest.mark.parametrize("superuser", [False, True])
def test_who_has_been_deactivated_may_nothing(project: Project, superuser: bool) -> None:
    gone = make_member(project, Role.OWNER)
    gone.is_active, gone.is_superuser = False, superuser
    gone.save()
    assert rights_in(gone, project) == frozenset()
    assert not permitted_projects(gone, Verb.VIEW).exists()


def test_the_owners_whom_one_can_ask_are_those_who_can_sign_in(project: Project) -> None:
    zoe, anna = make_member(project, Role.OWNER, name="zoe"), make_member(project, Role.OWNER, name="anna")
    gone = make_member(project, Role.OWNER, name="gone")
    gone.is_active = False
    gone.save()
    make_member(project, Role.EDITOR)
    make_member(make_project("fish"), Role.OWNER, name="other")
    assert owners_of(project) == [anna, zoe]
