import pytest
from django.contrib.auth.models import User
from django.test import Client

from results.models import Pseudonym
from studies.models import Project, Study
from tests.pages import words_of
from tests.removing import exclude
from tests.results.pipelines import STEP_3, open_study, project_of, sit_through

PAGE = "/projects/vases/people/"


@pytest.fixture
def project(researcher: User) -> Project:
    """Ann answers all four questions of two studies, ben those of the first, and he is excluded."""
    project = project_of(researcher)
    for slug in ("step-3", "again"):
        open_study(project, STEP_3 | {"study": slug, "answers": 2})
    for person, slug in (("ann", "step-3"), ("ben", "step-3"), ("ann", "again")):
        sit_through(Study.objects.get(slug=slug), person, "none")
    exclude(project, "ben")
    return project


def name(person: str) -> str:
    return Pseudonym.objects.get(annotator__provider_id=person).name


@pytest.mark.usefixtures("project")
def test_people_stand_there_once_with_their_studies_and_answers_those_excluded_first(client: Client) -> None:
    lines = client.get(PAGE).context["people"].object_list
    assert [(line.name, line.studies, line.counted, line.answers) for line in lines] == [
        (name("ben"), ["step-3"], 0, 4),
        (name("ann"), ["step-3", "again"], 8, 8),
    ]
    page = words_of(client.get(PAGE))
    assert "8 of 8" in page
    assert f"/studies/vases/again/annotators/?who={name('ann')}#people" in page
    assert "Excluded" in page


@pytest.mark.usefixtures("project")
def test_people_are_found_by_pseudonym(client: Client) -> None:
    client.get(PAGE)
    found = client.get(PAGE, {"who": name("ann")}).context["people"].object_list
    assert [line.name for line in found] == [name("ann")]
    assert "No annotator of this name took part." in words_of(client.get(PAGE, {"who": "A-00000\0"}))


def test_a_project_without_people_says_so(client: Client, researcher: User) -> None:
    project_of(researcher)
    assert "Nobody has taken part yet." in words_of(client.get(PAGE))


def test_others_can_be_asked_with_the_exclusion(client: Client, project: Project) -> None:
    client.get(PAGE)
    address = f"/projects/vases/people/{name('ann')}/exclude/"
    assert "(8 answers, paid again)" in words_of(client.get(address))
    done = words_of(client.post(address, {"reason": "Clicked through.", "replace": "yes"}, follow=True))
    assert "Answers excluded: 8" in done.replace("answers excluded", "Answers excluded")
    assert "answers that other people are asked for: 8" in done
