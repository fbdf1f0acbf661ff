"""The report to take away from the results page."""

import io
import zipfile

import pytest
import time_machine
from django.test import Client

from results.reports.formats import FORMATS
from tests.annotation.test_responses import next_slot, send
from tests.factories import NOON, arrive_at_work, create_draft, launch_study, make_person

pytestmark = pytest.mark.django_db


@pytest.fixture
def owner(client: Client) -> Client:
    client.force_login(make_person("owner", superuser=True))
    return client


def test_the_report_comes_as_a_file_that_is_the_same_when_made_again(owner: Client) -> None:
    session = arrive_at_work(launch_study())
    send(session, next_slot(session))
    for format in FORMATS:
        with time_machine.travel(NOON, tick=False):
            first, again = (owner.get(f"/projects/vases/report/{format}/") for _ in range(2))
        assert first["Content-Type"] == "application/zip"
        assert f"vases-report-{format}.zip" in first["Content-Disposition"]
        assert first.content == again.content
        with zipfile.ZipFile(io.BytesIO(first.content)) as archive:
            assert "best-vase" in archive.read(archive.namelist()[0]).decode()
    assert owner.get("/projects/vases/report/docx/").status_code == 404


def test_without_a_launched_study_there_is_a_sentence_instead(owner: Client) -> None:
    create_draft()
    page = owner.get("/projects/vases/report/md/", follow=True)
    assert "There is nothing to report yet: no study has been launched, no model has answered." in page.content.decode()
