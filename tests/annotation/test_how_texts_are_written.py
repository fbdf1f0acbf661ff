"""How a text was written: told by the browser, bounded, kept where the study records it, no reason to refuse."""

import csv
import json
import uuid
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client

from annotation.actions.answering import responses
from annotation.forms import read_submission
from annotation.models import Response, Session
from tests.annotation.test_repetitions import describing
from tests.annotation.test_work_pages import post_json
from tests.factories import arrive, arrive_at_work, launch_study, make_person, make_project
from tests.pages import signed_in

pytestmark = [pytest.mark.django_db, pytest.mark.usefixtures("at_noon")]
CONSENT = "We keep your texts."
TOLD = {
    "keys": 31,
    "pastes": 2,
    "pasted": [12, 400],
    "focus_losses": 1,
    "pauses": 3,
    "paused_ms": 9000,
    "from_first_key_ms": 41000,
}
NOTHING = dict.fromkeys(TOLD) | {"pasted": []}
DISCLOSED = "we also record how it is written"


def send(session: Session, writing: object, *, text: str = "", slot: int | None = None, **fields: str) -> Response:
    """Send a description as the page's script does, and return what was stored."""
    slot = slot or responses.open_slots(session=session, limit=1)[0].pk
    fields |= {"slot": str(slot), "submission": str(uuid.uuid4()), "text": text or f"The lid of vase {slot} is open."}
    assert post_json(Client(), session, fields | {"writing": json.dumps(writing)}).json()["saved"]
    return Response.objects.get(slot=slot, is_current=True)


def test_it_is_stored_with_each_version_of_an_answer_that_was_written() -> None:
    session = arrive_at_work(describing(consent=CONSENT))
    stored = send(session, TOLD)
    again = send(session, TOLD | {"keys": 2}, text="It is open.......", slot=stored.slot_id, replaces="1")
    assert (again.version, again.writing) == (2, TOLD | {"keys": 2})
    assert Response.objects.get(version=1).writing == TOLD


@pytest.mark.parametrize(
    "design", [{"consent": CONSENT, "answering": {"record_writing": False}}, {"consent": ""}], ids=["off", "untold"]
)
def test_a_study_that_does_not_record_it_keeps_nothing_and_says_nothing(design: dict[str, Any]) -> None:
    session = arrive_at_work(describing(**design))
    page = Client().get(f"/s/{session.token}/").content.decode()
    assert "data-records-writing" not in page
    assert send(session, TOLD).writing is None


def test_the_consent_says_it_where_it_is_recorded_and_nowhere_else() -> None:
    client = signed_in(make_person("root", superuser=True))
    choosing = launch_study(make_project("choosing"), study="choosing", consent=CONSENT)
    for study, recorded in ((describing(consent=CONSENT), True), (choosing, False)):
        for page in (
            client.get(f"/s/{arrive(study).token}/"),
            client.get(f"/studies/{study.project.slug}/{study.slug}/preview/", follow=True),
        ):
            assert (DISCLOSED in page.content.decode()) is recorded


@pytest.mark.parametrize(
    ("said", "kept"),
    [
        (None, None),
        ("", None),
        ("{", None),
        ("[" * 1500, None),
        ("[1, 2]", None),
        ("null", None),
        (json.dumps(TOLD) + " " * 2000, None),
        ({}, NOTHING),
        (TOLD | {"text": "The lid", "keys_pressed": ["T"]}, TOLD),
        (
            TOLD | {"keys": -1, "pastes": "2", "pauses": 1.5, "paused_ms": True},
            TOLD | dict.fromkeys(["keys", "pastes", "pauses", "paused_ms"]),
        ),
        (TOLD | {"keys": 10**30}, TOLD | {"keys": 2_147_483_647}),
        (TOLD | {"pasted": "all"}, TOLD | {"pasted": []}),
        (TOLD | {"pasted": [1, None, "3", 10**12, *[7] * 30]}, TOLD | {"pasted": [1, 2_147_483_647, *[7] * 16]}),
    ],
)
def test_what_is_none_is_left_unknown_and_never_refused(said: object, kept: object) -> None:
    posted = {"slot": "1", "submission": str(uuid.uuid4()), "text": "The lid is open."}
    if said is not None:
        posted["writing"] = said if isinstance(said, str) else json.dumps(said)
    assert read_submission(posted, records_writing=True).measured["writing"] == kept
    assert read_submission(posted, records_writing=False).measured["writing"] is None


def test_it_stands_in_the_responses_that_leave(tmp_path: Path) -> None:
    study = describing(consent=CONSENT)
    session = arrive_at_work(study)
    send(session, TOLD)
    send(session, "")
    call_command("export", study.project.slug, format="responses", out=tmp_path, verbosity=0)
    (table,) = tmp_path.glob("*responses*.csv")
    with table.open(encoding="utf-8", newline="") as stream:
        first, second = sorted(csv.DictReader(stream), key=lambda row: row["writing_keys"], reverse=True)
    assert {name: first[f"writing_{name}"] for name in TOLD} == {name: str(value) for name, value in TOLD.items()}
    assert {second[f"writing_{name}"] for name in TOLD} == {""}
