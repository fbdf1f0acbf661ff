import pytest
from django.test import Client

from studies.models import Study
from tests.factories import make_person, questions
from tests.pages import signed_in, words_of


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
