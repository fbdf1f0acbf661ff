"""Pages of what has many answers say of when their numbers are, and have them made in the background."""

import pytest
from django.test import Client

from background.jobs import fail
from background.models import Job
from results.actions import cached_statistics
from results.models import KeptNumbers
from studies.models import Study
from tests.factories import NOON, answer, make_instance, questions, sit_down
from tests.jobs import run_now

STUDY = "/studies/birds/birds-step-3/"
PAGES = [STUDY, f"{STUDY}results/", f"{STUDY}annotators/", "/projects/birds/results/"]
LIVE = f"{STUDY}progress/"


@pytest.fixture(autouse=True)
def sent(study: Study, monkeypatch: pytest.MonkeyPatch) -> list[Job]:
    """Take one answer for many, and catch the jobs that are sent for the page itself, not for the frame around it."""
    answer(sit_down(study, "ann"), questions(study)[0], "none", send_ms=4000)
    caught: list[Job] = []

    def catch(job: Job) -> None:
        if KeptNumbers.objects.get(pk=job.arguments["kept"]).page != KeptNumbers.Page.INSTANCES:
            caught.append(job)

    monkeypatch.setattr(cached_statistics, "MADE_AT_ONCE", 0)
    monkeypatch.setattr("results.views.cached_statistics.send", catch)
    monkeypatch.setattr("results.views.charts.send", lambda job: None)
    return caught


@pytest.mark.parametrize("address", PAGES)
def test_a_page_says_how_old_its_numbers_are(client: Client, study: Study, sent: list[Job], address: str) -> None:
    page = client.get(address)
    assert page.status_code == 200
    assert "in the background" in page.content.decode()
    assert len(sent) == 1
    run_now(sent.pop())
    page = client.get(address)
    assert "nothing has changed since" in page.content.decode()
    assert page.context.get("cards") or page.context.get("tables") or page.context["progress"].answers.given == 1
    assert sent == []
    answer(sit_down(study, "ben"), questions(study)[1], "none", send_ms=4000)
    assert "Something has changed since" in client.get(address).content.decode()


def test_the_live_part_of_the_monitor_says_it_too(client: Client) -> None:
    assert "in the background" in client.get(LIVE).content.decode()


@pytest.mark.parametrize("address", PAGES)
def test_what_has_few_answers_is_made_at_once(
    client: Client, sent: list[Job], address: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(cached_statistics, "MADE_AT_ONCE", 1)
    page = client.get(address)
    assert "computed in the background" not in page.content.decode()
    assert page.context["kept"] is None
    assert sent == []


def test_people_of_a_large_project_are_compared_by_numbers_made_in_the_background(
    client: Client, sent: list[Job]
) -> None:
    page = client.get("/projects/birds/people/")
    assert "computed in the background" in page.content.decode()
    ((line, cells, *_),) = page.context["rows"]
    assert (line.counted, cells[4].text) == (1, "—")
    run_now(sent.pop())
    page = client.get("/projects/birds/people/")
    assert "nothing has changed since" in page.content.decode()
    ((line, cells, *_),) = page.context["rows"]
    assert (line.counted, cells[4].text) == (1, "4.00")


@pytest.mark.parametrize("address", PAGES)
def test_numbers_that_could_not_be_made_say_why(client: Client, sent: list[Job], address: str) -> None:
    client.get(address)
    fail(job=sent.pop(), error="The server could not compute these numbers.", now=NOON)
    assert "The server could not compute these numbers." in client.get(address).content.decode()


def test_a_count_of_numbers_that_are_older_than_the_list_it_leads_to_is_told_there(
    client: Client, study: Study, sent: list[Job]
) -> None:
    client.get("/projects/birds/results/")
    run_now(sent.pop())
    count = study.project.instances.count()
    page = client.get("/projects/birds/results/").content.decode()
    address = f"/projects/birds/instances/?&amp;counted={count}"
    assert f'<a href="{address}">{count}</a>' in page
    assert "That page" not in client.get(address.replace("&amp;", "&")).content.decode()
    make_instance(study.project, "came-later")
    told = f"The page you came from counted {count}, this list {count + 1}."
    assert told in client.get(address.replace("&amp;", "&")).content.decode()
