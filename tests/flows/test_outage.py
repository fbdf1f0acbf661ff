"""A real PostgreSQL goes away and comes back, behind gunicorn: pages say so meanwhile, and work again after."""

import re
from collections.abc import Iterator
from pathlib import Path

import httpx
import pytest

from tests.databases import MIGRATED
from tests.flows.conftest import AT_HOME_ON_POSTGRESQL
from tests.flows.site import Site, running_site
from tests.servers import Cluster

pytestmark = AT_HOME_ON_POSTGRESQL
PASSWORD = "a password of the tests"
TOKEN = re.compile(r'name="csrfmiddlewaretoken" value="([^"]+)"')
ANSWER = "/s/a-token/answer/"
ANSWERED = {"slot": "1", "submission": "00000000-0000-4000-8000-000000000001", "choice": "1"}


@pytest.fixture
def site(cluster: Cluster, tmp_path: Path) -> Iterator[Site]:
    url = cluster.url("outage", like=MIGRATED)
    with running_site(database_url=url, data_dir=tmp_path, workers=1) as running:
        yield running


def sign_in(site: Site, browser: httpx.Client) -> None:
    site.environment["DJANGO_SUPERUSER_PASSWORD"] = PASSWORD
    site.run("manage.py", "createsuperuser", "--no-input", "--username", "researcher", "--email", "r@lineup.example")
    token = TOKEN.search(browser.get("/sign-in/").text)
    assert token is not None
    form = {"username": "researcher", "password": PASSWORD, "csrfmiddlewaretoken": token[1]}
    assert browser.post("/sign-in/", data=form).headers["Location"] == "/"


def statuses(browser: httpx.Client) -> list[int]:
    """What a researcher, an annotator, the script of the annotator's page and somebody who arrives are told."""
    asked = [
        browser.get("/"),
        browser.get("/admin/"),
        browser.get("/s/a-token/"),
        browser.post(ANSWER, data=ANSWERED, headers={"Accept": "application/json"}),
        browser.get("/take/birds/"),
    ]
    return [response.status_code for response in asked]


def test_pages_say_that_the_database_is_away_and_work_again_when_it_is_back(cluster: Cluster, site: Site) -> None:
    with httpx.Client(base_url=site.url, timeout=30) as browser:
        sign_in(site, browser)
        assert statuses(browser) == [200, 200, 404, 404, 404]
        written = len(site.log.read_text(encoding="utf-8").splitlines())
        cluster.stop()
        try:
            assert statuses(browser) == [503] * 5
            answer = browser.post(ANSWER, data=ANSWERED, headers={"Accept": "application/json"})
            assert int(answer.headers["Retry-After"]) > 0
            assert answer.json()["error"].startswith("Everything you saved is safe.")
            assert browser.get("/healthz").status_code == 200
            ready = browser.get("/readyz")
            assert (ready.status_code, ready.json()["database"]) == (503, "failing")
        finally:
            cluster.start()
        lines = site.log.read_text(encoding="utf-8").splitlines()[written:]
        assert [line for line in lines if " ERROR " not in line] == []
        assert sum("Service Unavailable: /s/.../answer/" in line for line in lines) == 2
        # Six pages, and /readyz.
        assert len(lines) == 7
        assert statuses(browser) == [200, 200, 404, 404, 404]
