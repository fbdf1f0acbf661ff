import pytest
from django.test import Client

from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from studies.models import Instance, Study
from tests.factories import make_person, questions, sit_down
from tests.pages import signed_in, words_of
from workspace.views import search


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("BIRDS-step", "/studies/birds/birds-step-3/"),
        ("birds", "/projects/birds/"),
        ("activ", "/projects/birds/events/"),
    ],
    ids=["study", "project", "page"],
)
def test_search_finds_studies_projects_and_pages(client: Client, study: Study, words: str, address: str) -> None:
    assert f'href="{address}"' in words_of(client.get("/search/", {"q": words}))


def test_search_finds_instances_by_key(client: Client, study: Study) -> None:
    key = questions(study)[0].instance.key
    assert f">{key}</a>" in words_of(client.get("/search/", {"q": key}))


@pytest.mark.parametrize("words", ["", "birds", "<script>", "nothing at all"])
def test_strangers_find_nothing(study: Study, words: str) -> None:
    page = words_of(signed_in(make_person("stranger")).get("/search/", {"q": words}))
    assert "/studies/birds/" not in page
    assert "/projects/birds/" not in page
    assert "<script>" not in page.partition("<main")[2]


def test_whoever_is_signed_out_signs_in_first(client: Client, study: Study) -> None:
    assert Client().get("/search/?q=birds").status_code == 302


def test_search_finds_people_by_pseudonym(client: Client, study: Study) -> None:
    sit_down(study, "one")
    name_annotators(project=study.project)
    name = Pseudonym.objects.get().name
    for words in (name, name.lower()[2:]):
        page = words_of(client.get("/search/", {"q": words}))
        assert f'<a href="/projects/birds/people/{name}/">{name}</a>' in page
    assert "/people/" not in words_of(signed_in(make_person("stranger")).get("/search/", {"q": name}))


def test_search_finds_instances_by_words_of_their_captions(client: Client, study: Study) -> None:
    instance = questions(study)[0].instance
    Instance.objects.filter(pk=instance.pk).update(captions={"a": "A tree", "b": "A red Mushroom under a tree"})
    page = words_of(client.get("/search/", {"q": "mushroom"}))
    assert f'/projects/birds/instances/{instance.key}/">{instance.key}</a>' in page
    assert "A red Mushroom under a tree" in page
    stranger = signed_in(make_person("stranger"))
    assert "A red Mushroom" not in words_of(stranger.get("/search/", {"q": "mushroom"}))


def test_many_captions_lead_to_the_filtered_list(client: Client, study: Study, monkeypatch: pytest.MonkeyPatch) -> None:
    Instance.objects.update(captions={"a": "A red mushroom"})
    monkeypatch.setattr(search, "MOST_SHOWN", 2)
    page = words_of(client.get("/search/", {"q": "red mush"}))
    assert '<a href="/projects/birds/instances/?words=red+mush">All instances with “red mush”</a>' in page


def test_captions_of_large_projects_are_not_read_but_linked(
    client: Client, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    Instance.objects.update(captions={"a": "A red mushroom"})
    monkeypatch.setattr(search, "MOST_READ", 3)
    page = words_of(client.get("/search/", {"q": "mushroom"}))
    assert '<a href="/projects/birds/instances/?words=mushroom">Instances with “mushroom”</a>' in page
    assert "captions of small projects" in page
    assert "A red mushroom" not in page


def test_search_leads_from_an_outcome_to_its_instances(client: Client, study: Study) -> None:
    page = words_of(client.get("/search/", {"q": "conflicting"}))
    assert '<a href="/projects/birds/instances/?state=conflicting">Conflicting</a>' in page


def test_search_says_what_it_reads_when_it_finds_nothing(client: Client, study: Study) -> None:
    page = words_of(client.get("/search/", {"q": "zzzz"}))
    assert "This search covers projects, studies, pages, outcomes, pseudonyms, keys and captions." in page
