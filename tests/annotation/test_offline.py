"""What a browser may keep of a sitting, and how what annotators get is compressed."""

import gzip
import json
import uuid

import pytest
from django.test import Client

from annotation.actions import sessions
from annotation.actions.answering import advance_session
from annotation.models import Session
from tests.annotation.test_work_pages import form_at, page_of, post_json, slots_in
from tests.factories import NOON, arrive, arrive_at_work, launch_study

pytestmark = pytest.mark.django_db


def test_only_the_page_of_questions_may_be_kept(client: Client) -> None:
    session = arrive(launch_study(consent="Agree?", instances=1))
    page = page_of(session)
    assert client.get(page)["Lineup-Page"] == "other"
    sessions.consent(session=session, agreed=True, now=NOON)
    assert client.get(page)["Lineup-Page"] == "other"
    advance_session.begin(session=session, part=0, now=NOON)
    working = client.get(page)
    assert (working["Lineup-Page"], b"/s/worker.js" in working.content) == ("work", True)
    assert "Lineup-Page" not in post_json(client, session, form_at(client, session) | {"choice": "none"})
    ended = client.get(page)
    assert (ended["Lineup-Page"], b"worker.js" in ended.content) == ("other", False)


def test_the_worker_knows_the_files_of_its_release_and_is_asked_for_anew(client: Client) -> None:
    worker = client.get("/s/worker.js")
    files = json.loads(worker.content.decode().splitlines()[0].removeprefix("const FILES = ").removesuffix(";"))
    assert worker["Content-Type"] == "text/javascript"
    assert worker["Cache-Control"] == "no-cache"
    assert "/static/js/whole/work.js" in files


def test_a_sitting_opens_as_an_app_where_it_is(client: Client, session: Session) -> None:
    manifest = client.get(f"{page_of(session)}app.webmanifest")
    assert manifest["Content-Type"] == "application/manifest+json"
    assert (manifest.json()["start_url"], manifest.json()["name"]) == (page_of(session), "Which vase?")
    assert client.get("/s/no-such-token/app.webmanifest").status_code == 404


def test_a_page_and_what_its_script_gets_are_compressed_where_the_browser_reads_it(client: Client) -> None:
    session = arrive_at_work(launch_study(instances=6))
    whole = client.get(page_of(session))
    assert (whole.get("Content-Encoding"), "Accept-Encoding" in whole["Vary"]) == (None, True)
    packed = client.get(page_of(session), headers={"Accept-Encoding": "gzip, br"})
    assert packed["Content-Encoding"] == "gzip"
    assert slots_in(gzip.decompress(packed.content)) == slots_in(whole.content)
    assert len(packed.content) * 4 < len(whole.content)
    fields = {"slot": slots_in(whole.content)[0], "submission": str(uuid.uuid4()), "choice": "1"}
    address = f"{page_of(session)}answer/"
    answered = client.post(address, fields, headers={"Accept": "application/json", "Accept-Encoding": "gzip"})
    assert json.loads(gzip.decompress(answered.content))["saved"] is True
    assert answered["Content-Length"] == str(len(answered.content))
