"""Exports and releases: asked for, watched, fetched whole and in ranges."""

import pytest
from django.contrib.auth.models import User
from django.utils import timezone

from annotation.actions.removing.removals import withdraw
from annotation.models import Session
from results.actions.exports import make_export
from results.models import Export, Release
from studies.models import Study
from tests.factories import NOON, answer, questions, sit_down
from tests.workspace.api.asking import BIRDS, STUDY, Script, content, script_of

pytestmark = pytest.mark.django_db


@pytest.fixture
def script(study: Study, researcher: User) -> Script:
    return script_of(researcher)


def make(export: Export) -> None:
    make_export(export=export, now=lambda: NOON)


@pytest.fixture
def made(script: Script, study: Study) -> str:
    """Make an export of some bytes; return where its file is."""
    answer(sit_down(study, "ann"), questions(study)[0], "candidate-1")
    script.post(f"{STUDY}exports/", {"format": "jsonl"})
    make(Export.objects.get())
    return f"{BIRDS}exports/{Export.objects.get().pk}/file/"


def test_an_export_is_asked_for_watched_and_fetched(script: Script, study: Study) -> None:
    asked = script.post(f"{STUDY}exports/", {"format": "responses"})
    assert (asked.status_code, asked.json()["state"], asked.json()["file_url"]) == (202, "waiting", None)
    assert script.get(f"{asked['Location']}file/").status_code == 404
    make(Export.objects.get())
    told = script.get(asked["Location"]).json()
    assert (told["state"], told["format"], told["study"]) == ("ready", "responses", "birds-step-3")
    file = script.get(told["file_url"])
    assert file["Content-Disposition"] == 'attachment; filename="birds-step-3-responses.csv"'
    assert content(file).decode().startswith("task,worker,label")


def test_an_export_that_waits_is_cancelled(script: Script) -> None:
    asked = script.post(f"{STUDY}exports/", {"format": "csv"}).json()
    told = script.post(f"{BIRDS}exports/{asked['id']}/cancel/").json()
    assert (told["state"], told["error"]) == ("failed", "It was cancelled.")
    assert script.post(f"{BIRDS}exports/{asked['id']}/cancel/").status_code == 409


@pytest.mark.parametrize(
    ("asked", "first", "last"),
    [("bytes=0-9", 0, 9), ("bytes=10-", 10, None), ("bytes=-5", -5, None), ("bytes=3-999999", 3, None)],
)
def test_a_range_is_that_part_of_the_file(script: Script, made: str, asked: str, first: int, last: int | None) -> None:
    whole = content(script.get(made))
    part = script.get(made, Range=asked)
    expected = whole[first : None if last is None else last + 1]
    assert (part.status_code, content(part)) == (206, expected)
    start = whole.index(expected)
    assert part["Content-Range"] == f"bytes {start}-{start + len(expected) - 1}/{len(whole)}"
    assert part["Content-Length"] == str(len(expected))


@pytest.mark.parametrize("asked", ["bytes=999999-", "bytes=5-2", "bytes=-0", "bytes=-"])
def test_a_range_that_the_file_does_not_have_is_refused(script: Script, made: str, asked: str) -> None:
    whole = content(script.get(made))
    refused = script.get(made, Range=asked)
    assert (refused.status_code, refused["Content-Range"]) == (416, f"bytes */{len(whole)}")


@pytest.mark.parametrize("asked", ["bytes=0-1,4-5", "rows=0-1", "nonsense"])
def test_what_is_no_single_range_is_answered_with_the_whole(script: Script, made: str, asked: str) -> None:
    answer = script.get(made, Range=asked)
    assert (answer.status_code, content(answer)) == (200, content(script.get(made)))


def test_a_range_of_another_file_than_one_has_is_the_whole(script: Script, made: str) -> None:
    etag = script.get(made)
    content(etag)
    same = script.get(made, Range="bytes=1-2", If_Range=etag["ETag"])
    other = script.get(made, Range="bytes=1-2", If_Range='"other"')
    assert (same.status_code, other.status_code) == (206, 200)
    content(same), content(other)
    assert script.get(made, If_None_Match=etag["ETag"]).status_code == 304


def test_who_withdraws_is_in_no_file_any_more(script: Script, study: Study, made: str) -> None:
    somebody = Session.objects.get().annotator
    withdraw(annotator=somebody, project=study.project, by="tests", now=timezone.now())
    gone = script.get(made)
    assert (gone.status_code, gone.json()["type"]) == (410, "urn:lineup:problem:no-longer-given-out")
    (told,) = script.get(f"{STUDY}exports/").json()["results"]
    assert (told["state"], told["file_url"]) == ("withdrawn", None)


def test_a_release_is_frozen_and_its_file_fetched(script: Script, study: Study) -> None:
    answer(sit_down(study, "65f000000000000000000abc"), questions(study)[0], "candidate-1")
    asked = script.post(f"{STUDY}releases/", {"name": "v1", "format": "jsonl", "licence": "CC0-1.0"})
    assert (asked.status_code, asked.json()["release"]) == (202, "v1")
    make(Export.objects.get())
    (told,) = script.get(f"{STUDY}releases/").json()["results"]
    release = Release.objects.get()
    assert (told["name"], told["sha256"], told["licence"]) == ("v1", release.sha256, "CC0-1.0")
    assert [each["state"] for each in told["exports"]] == ["ready"]
    assert content(script.get(told["exports"][0]["file_url"]))[:2] == b"PK"


def test_a_release_that_cannot_be_is_refused_and_leaves_nothing(script: Script) -> None:
    refused = script.post(f"{STUDY}releases/", {"name": "v 1", "format": "jsonl"})
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:lineup:problem:not-now")
    assert "cannot name a release" in refused.json()["detail"]
    unknown = script.post(f"{STUDY}releases/", {"name": "v1", "format": "responses"})
    assert (unknown.status_code, unknown.json()["errors"][0]["field"]) == (400, "format")
    assert not Release.objects.exists()
