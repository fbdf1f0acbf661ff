"""The page of the questions on which people and all models part."""

import pytest
from django.contrib.auth.models import User
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from studies.models import Membership, Project
from tests.databases import kept
from tests.factories import make_person
from tests.pages import signed_in, words_of
from tests.results.parting import make_parting_project, predict

PAGE = "/projects/birds/people-and-models/"


def make_it() -> str:
    project = make_parting_project()
    Membership.objects.create(project=project, user=make_person("researcher"), role="viewer")
    return project.slug


made = kept(make_it)


@pytest.fixture
def client(project: Project) -> Client:
    return signed_in(User.objects.get(username="researcher"))


def listed(client: Client, **query: str) -> list[str]:
    page = client.get(PAGE, query)
    return [f"{line.disagreement.study} {line.instance.key}" for line in page.context["lines"].object_list]


@pytest.mark.usefixtures("project")
@pytest.mark.parametrize(
    ("query", "expected"),
    [
        ({}, ["people row-1", "people row-2", "people row-8"]),
        ({"way": "nonsense"}, ["people row-1", "people row-2", "people row-8"]),
        ({"way": "models"}, ["people row-4", "again row-4"]),
        ({"way": "models", "study": "again"}, ["again row-4"]),
        ({"type": "swap"}, ["people row-8"]),
        ({"type": "swap", "subtype": "rel"}, []),
        ({"asked": "image_to_text: image"}, ["people row-1", "people row-2", "people row-8"]),
        ({"asked": "image_to_text"}, []),
        ({"page": "7"}, ["people row-1", "people row-2", "people row-8"]),
        ({"study": "\0"}, []),
    ],
)
def test_the_list_is_what_was_wanted(client: Client, query: dict[str, str], expected: list[str]) -> None:
    assert listed(client, **query) == expected


@pytest.mark.usefixtures("project")
def test_counts_and_lists_are_the_same(client: Client) -> None:
    page = client.get(PAGE, {"way": "models"})
    text = words_of(page)
    there = "/projects/birds/instances/?parted=models"
    assert f'2 questions about <a href="{there}">1 instance</a>.' in text
    assert client.get(there).context["count"] == 1
    assert "1 question about 1 instance." in words_of(
        client.get(PAGE, {"way": "models", "study": "again", "asked": "image_to_text: image"})
    )
    option = '<option value="image_to_text: image">Pick the caption that describes an image · image</option>'
    assert option in text
    assert "Pick the caption that describes an image · image · again" in text
    assert [count for _, _, count, _ in page.context["ways"]] == [3, 2]
    for _, _, count, query in page.context["ways"]:
        assert client.get(f"{PAGE}?{query}").context["lines"].paginator.count == count
    assert "1 of 3 answers right, 33 % · 2 models" in text
    assert 'href="/projects/birds/instances/row-4/#question-' in text


@pytest.mark.usefixtures("project")
def test_the_results_lead_to_them_from_every_count(client: Client) -> None:
    text = client.get("/projects/birds/results/").content.decode()
    for query, count in (
        ("way=people&amp;study=people", 3),
        ("way=models&amp;study=people&amp;type=replace", 1),
        ("way=models&amp;study=again", 1),
    ):
        assert f'<a href="{PAGE}?{query}">{count}</a>' in text
        assert len(listed(client, **dict(pair.split("=") for pair in query.split("&amp;")))) == count
    alone = client.get("/studies/birds/again/results/").content.decode()
    assert f'<a href="{PAGE}?way=models&amp;study=again">1</a>' in alone


def test_a_project_without_models_says_so(client: Client, project: Project) -> None:
    project.models.all().delete()
    assert "no question on which people and models disagree" in client.get(PAGE).content.decode()
    assert PAGE not in client.get("/projects/birds/results/").content.decode()


def test_more_questions_ask_no_more_queries(client: Client, project: Project) -> None:
    with CaptureQueriesContext(connection) as few:
        client.get(PAGE)
    study, (clip, siglip) = project.studies.get(slug="people"), project.models.order_by("name")
    project.instances.get(key="row-3").predictions.all().delete()
    for model in (clip, siglip):
        predict(model, study, "row-3", right=False, content=None)
    with CaptureQueriesContext(connection) as more:
        client.get(PAGE)
    assert len(more) == len(few)
    assert len(listed(client)) == 4


@pytest.mark.both
@pytest.mark.parametrize("few", [500, 0])
@pytest.mark.parametrize(
    ("query", "rows"),
    [
        # What it was shown is no matter: 7 and 8 were other pictures.
        ({"model": "CLIP"}, [1, 2, 3, 4, 5, 6, 7, 8]),
        ({"model": "SigLIP"}, [1, 3, 4, 5]),
        ({"model": "SigLIP", "study": "again"}, [1, 4]),
        ({"model": "SigLIP", "type": "swap"}, [5]),
        ({"model": "Sig"}, []),
        ({"question": "several"}, [1, 2, 3, 4, 5, 7, 8]),
        ({"question": "several", "study": "again"}, []),
        ({"question": "answered", "study": "again"}, [1, 4]),
    ],
)
def test_instances_are_found_by_the_models_and_people_who_answered_about_them(
    client: Client, project: Project, monkeypatch: pytest.MonkeyPatch, query: dict[str, str], rows: list[int], few: int
) -> None:
    monkeypatch.setattr("results.queries.instances.explorer.FEW", few)
    named = {model.name: str(model) for model in project.models.all()}
    if "model" in query:
        query = {**query, "model": named.get(query["model"], query["model"])}
    found = client.get("/projects/birds/instances/", query).context
    assert [line.instance.key for line in found["page"].rows] == [f"row-{number}" for number in rows]
    assert found["count"] == len(rows)
