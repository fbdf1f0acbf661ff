"""The list of instances by script: narrowed by what the page is narrowed by, to the same instances."""

import pytest
from django.contrib.auth.models import User
from django.test import Client

from background.jobs import fail
from background.models import Job
from predictions.models import Prediction
from results.actions import cached_statistics
from results.actions.pseudonyms import name_annotators
from results.models import Pseudonym
from results.queries.instances.explorer import InstanceFilters
from studies.models import Project
from tests.databases import kept
from tests.factories import NOON, make_model
from tests.jobs import run_now
from tests.pages import signed_in
from tests.people import digest_of
from tests.results.pipelines import make_pipeline
from tests.results.views.test_instances import NARROWED
from tests.workspace.api.asking import API, Script, script_of
from workspace.api.explorer import InstanceQuery

LIST = "/projects/vases/instances/"
ENDPOINT = f"{API}projects/vases/instances/"
# What the page takes for no filter, or for one that nothing matches, and a script is told.
REFUSED = [
    {"words": "a\0b"},
    {"study": "no-such-study"},
    {"model": "no such model"},
    {"person": "nobody"},
    {"survey": "1x"},
    {"survey": "1000000000"},
    {"shorter": "٤"},
    {"longer": "nan"},
    {"longer": "-1"},
    {"reason": "no-such-reason"},
    {"longer": "4.1234"},
    {"progress": "half"},
    {"sate": "accepted"},
    {"order": "newest"},
]
# How the page shows what it lists.
OF_THE_PAGE = {"order", "look", "page"}

made = kept(make_pipeline)


@pytest.fixture
def project(made: str) -> Project:
    return Project.objects.get(slug=made)


@pytest.fixture
def researcher(project: Project) -> User:
    return User.objects.get(username="researcher")


@pytest.fixture
def script(researcher: User) -> Script:
    return script_of(researcher)


def keys_of(script: Script, query: dict[str, str]) -> list[str]:
    answer = script.browser.get(ENDPOINT, query)
    assert answer.status_code == 200, (query, answer.content)
    assert answer.json()["as_of"] is None
    return [row["key"] for row in answer.json()["results"]]


def keys_on_page(client: Client, query: dict[str, str]) -> list[str]:
    return [line.instance.key for line in client.get(LIST, query).context["page"].rows]


def test_every_filter_of_the_page_is_one_of_the_api() -> None:
    assert {*InstanceFilters.__dataclass_fields__, "key", "cursor", "limit"} == set(InstanceQuery().fields)


def test_a_filter_gives_the_instances_that_it_gives_on_the_page(
    script: Script, researcher: User, project: Project
) -> None:
    for query, keys in NARROWED:
        if query not in REFUSED and not OF_THE_PAGE & query.keys():
            assert keys_of(script, query) == keys, query
    instance = project.instances.get(key="vase-3")
    model = make_model(project, version="2")
    about = {"kind": "image_to_text", "caption_rule": instance.caption_rule, "source_row": 1, "created_at": NOON}
    Prediction.objects.create(model=model, instance=instance, is_right=True, **about)
    name_annotators(project=project)
    ann = Pseudonym.objects.get(annotator__id_digest=digest_of("ann")).name
    client = signed_in(researcher)
    for query, keys in (({"model": "CLIP 2"}, ["vase-3"]), ({"person": ann}, ["vase-0", "vase-1"])):
        assert keys_of(script, query) == keys_on_page(client, query) == keys


@pytest.mark.both
@pytest.mark.parametrize("query", REFUSED)
def test_what_is_no_filter_is_refused_by_its_name(script: Script, query: dict[str, str]) -> None:
    refused = script.browser.get(ENDPOINT, query)
    assert (refused.status_code, refused["Content-Type"]) == (400, "application/problem+json")
    (error,) = refused.json()["errors"]
    assert (error["field"], error["reason"][-1]) == (*query, ".")


def test_what_is_not_counted_yet_is_refused_and_then_says_of_when_it_is(
    script: Script, monkeypatch: pytest.MonkeyPatch
) -> None:
    jobs: list[Job] = []
    monkeypatch.setattr(cached_statistics, "MADE_AT_ONCE", 0)
    monkeypatch.setattr("results.views.cached_statistics.send", jobs.append)
    refused = script.get(f"{ENDPOINT}?progress=complete")
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:lineup:problem:not-now")
    assert "still being computed" in refused.json()["detail"]
    fail(job=jobs.pop(), error="The server could not compute these numbers.", now=NOON)
    refused = script.get(f"{ENDPOINT}?progress=complete")
    assert (refused.status_code, refused.json()["detail"]) == (409, "The server could not compute these numbers.")
    run_now(jobs.pop(), now=NOON)
    told = script.get(f"{ENDPOINT}?progress=complete").json()
    assert ([row["key"] for row in told["results"]], told["as_of"]) == (["vase-0", "vase-1"], "2026-11-20T12:00:00Z")
    # What rests on no figures waits for none.
    assert script.get(f"{ENDPOINT}?question=answered").json()["as_of"] is None
