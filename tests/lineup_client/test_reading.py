import pytest

from lineup_client import LineupError
from studies.models import Study
from tests.factories import answer, make_person, make_project, questions, sit_down
from tests.lineup_client.inside import client_of

pytestmark = pytest.mark.django_db


def test_the_studies_of_a_project_are_listed(study: Study) -> None:
    site = client_of(study.project.memberships.get().user)
    (told,) = site.project("birds").studies()
    assert (told["slug"], told["state"]) == ("birds-step-3", "open")


def test_instances_are_narrowed_as_on_their_page(study: Study) -> None:
    answer(sit_down(study, "ann"), questions(study)[1], "none", send_ms=4000)
    instances = client_of(study.project.memberships.get().user).project("birds").instances
    found = instances(study="birds-step-3", question="answered", shorter=4.5).to_list()
    assert [told["key"] for told in found] == [questions(study)[1].instance.key]
    assert instances(longer=4.5).to_list() == []
    with pytest.raises(LineupError) as refused:
        instances(state="done").to_list()
    assert refused.value.errors[0]["field"] == "state"


def test_a_stranger_is_told_that_there_is_nothing(study: Study) -> None:
    with pytest.raises(LineupError) as refused:
        client_of(make_person("stranger")).project("birds").studies()
    assert (refused.value.status, refused.value.type) == (404, "not-found")


def test_projects_are_those_that_the_token_opens() -> None:
    ann = make_person("ann")
    birds, vases = make_project("birds", members=[ann]), make_project("vases", members=[ann])
    make_project("maps")
    assert [told["slug"] for told in client_of(ann).projects()] == ["birds", "vases"]
    only = client_of(ann, project=vases)
    assert [told["slug"] for told in only.projects()] == ["vases"]
    with pytest.raises(LineupError):
        only.project(birds.slug).read()
