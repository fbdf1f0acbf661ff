import pytest
from django.contrib.auth.models import User
from django.test import Client
from pytest_django import DjangoAssertNumQueries

from results.models import Pseudonym
from studies.models import Project, Study
from tests.factories import create_draft
from tests.people import digest_of
from tests.removing import withdraw
from tests.results.pipelines import STEP_3, by_key, open_study, project_of, sit_through

PAGE = "/studies/vases/step-3/annotators/"


@pytest.fixture
def step_3(researcher: User) -> Study:
    """Two people on one survey: the same image, another image, an image and None, None and None."""
    study = open_study(project_of(researcher), STEP_3 | {"answers": 2})
    sit_through(study, "ann", by_key(vase_0="candidate-0", vase_1="candidate-0", vase_2="candidate-0", vase_3="none"))
    sit_through(study, "ben", by_key(vase_0="candidate-0", vase_1="candidate-1", vase_2="none", vase_3="none"))
    return study


def rows(client: Client) -> dict[str, list[str]]:
    (table,) = client.get(PAGE).context["tables"]
    return {cells[0]: cells[1:] for cells in ([cell.text for cell in row] for row in table.cells)}


@pytest.mark.usefixtures("step_3")
def test_everybody_but_who_withdrew_stands_there_by_pseudonym_with_what_their_answers_say(client: Client) -> None:
    found = rows(client)
    names = {person: Pseudonym.objects.get(annotator__id_digest=digest_of(person)).name for person in ("ann", "ben")}
    # Same choice on the first and the last of four questions: Wilson's interval of 2 of 4 is 15.0 to 85.0. Each took
    # 4.2 s; ann says None once, ben twice.
    assert [found[names["ann"]][column] for column in range(7)] == [
        *("50.0", "15.0–85.0", "4", "4 answers of others", "4", "4.20", "4.20–4.20")
    ]
    assert [found[name][8] for name in names.values()] == ["25.0", "50.0"]
    assert set(found) == set(names.values())
    withdraw(Project.objects.get(), "ben")
    assert set(rows(client)) == {names["ann"]}


@pytest.mark.usefixtures("step_3")
def test_who_withdrew_stands_last_in_the_list(client: Client) -> None:
    first, last = client.get(PAGE).context["people"].object_list
    withdraw(Project.objects.get(), Pseudonym.objects.get(name=first.name).annotator.provider_id)
    assert [line.name for line in client.get(PAGE).context["people"].object_list] == [last.name, first.name]


def test_a_study_that_nobody_has_answered_says_so(client: Client, step_3: Study) -> None:
    create_draft(step_3.project, study="later")
    page = client.get("/studies/vases/later/annotators/")
    assert page.context["tables"] == []
    assert "No answers yet." in page.content.decode()


def test_more_answers_take_no_more_queries(
    client: Client, step_3: Study, django_assert_num_queries: DjangoAssertNumQueries
) -> None:
    client.get(PAGE)
    # Session, user, study; who has no name yet; what can be answered, to the first question and to all; unlikely times;
    # names, answers, who is simulated. Of who counts: how many people, those of the page, their answers, removals,
    # unlikely times; events; whether an owner asks. In the frame the size of the project, answers (2) and cost.
    with django_assert_num_queries(32):
        client.get(PAGE)
    open_study(step_3.project, STEP_3 | {"study": "again", "answers": 2})
    for person in ("ann", "cleo"):
        sit_through(Study.objects.get(slug="again"), person, "none")
    client.get("/studies/vases/again/annotators/")
    with django_assert_num_queries(32):
        client.get("/studies/vases/again/annotators/")
