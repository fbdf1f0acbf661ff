"""Datasets that come from the Hub by their names, tried against a stand-in of its protocol."""

import gzip
import io
import json
import shutil
import time
from collections.abc import Callable
from datetime import datetime, timedelta
from http.server import BaseHTTPRequestHandler
from types import SimpleNamespace
from typing import Any

import pytest
from celery.exceptions import SoftTimeLimitExceeded
from django.contrib.auth.models import User
from django.core import serializers
from PIL import Image

from background.hub_commits import HubRefused
from background.job_runner import run
from background.jobs import cancel
from background.models import Job, JobState
from studies.actions.imports.uploads import IMAGES, ROWS, folder_of, receive, received_bytes, rows_of
from studies.models import Event, Upload
from tests.factories import NOON, make_person, make_project
from tests.hub import TOKEN, Hub, Repository
from tests.jobs import run_now
from tests.receivers import Request, answer_with, receiving
from workspace.actions.hub_datasets import DownloadRefused, request_download
from workspace.hub_repository import HubFile, Source, importable_files
from workspace.models import HubDownload

pytestmark = [pytest.mark.django_db, pytest.mark.filterwarnings("ignore:Use 'content=:DeprecationWarning")]
ROWS_CSV = b"key,caption\r\none,A red ball.\r\n"


def picture() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (8, 8), "red").save(out, "PNG")
    return out.getvalue()


@pytest.fixture
def balls(hub: Hub) -> Repository:
    """A public dataset of a table and a picture, with files about it."""
    files = {"README.md": b"# Balls", ".gitattributes": b"", "dataset_infos.json": b"{}"}
    files |= {"data/train.csv": ROWS_CSV, "data/one.png": picture()}
    hub.repositories["lab/balls"] = Repository(private=False, files=files, commits=["first"])
    return hub.repositories["lab/balls"]


@pytest.fixture(autouse=True)
def slept(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """Return the pauses between attempts, which cost nothing."""
    pauses: list[float] = []
    monkeypatch.setattr("workspace.actions.hub_datasets.sleep", pauses.append)
    return pauses


def ask(**changes: Any) -> HubDownload:
    told = {"repository": "lab/balls", "revision": "", "folder": "", "token": "", **changes}
    project = make_project() if not Upload.objects.exists() else Upload.objects.latest("made_at").project
    by = User.objects.filter(username="cora").first() or make_person("cora")
    return request_download(project=project, **told, by=by, now=NOON)


def done(download: HubDownload) -> HubDownload:
    assert download.job
    run_now(download.job, now=NOON)
    download.refresh_from_db()
    return download


@pytest.mark.usefixtures("balls")
def test_tables_and_pictures_are_received_and_the_commit_is_kept() -> None:
    download = done(ask())
    assert (download.error, download.commit, download.finished_at) == ("", f"{1:040x}", NOON)
    assert received_bytes(download.upload, ROWS) == {"data/train.csv": len(ROWS_CSV)}
    assert received_bytes(download.upload, IMAGES) == {"data/one.png": len(picture())}
    event = Event.objects.get()
    assert (event.what, event.by_name, event.details) == (
        *("dataset download requested", "cora"),
        {"repository": "lab/balls"},
    )


def test_a_private_dataset_needs_a_token_which_is_nowhere_afterwards(hub: Hub, balls: Repository) -> None:
    balls.private = True
    assert "that can be read without a token" in done(ask()).error
    assert "that can be read with this token" in done(ask(token="hf_another")).error
    download = ask(token=TOKEN)
    assert download.sealed_token
    stored = [serializers.serialize("json", model._base_manager.all()) for model in (HubDownload, Job, Event)]
    assert TOKEN not in "".join(stored)
    assert (done(download).error, download.sealed_token) == ("", "")


@pytest.mark.usefixtures("balls")
def test_without_a_token_none_of_the_servers_own_is_sent(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HF_TOKEN", "hf_ofTheServer")
    asked: list[dict[str, str]] = []
    hub.before = lambda request: asked.append(request.headers)
    assert done(ask()).error == ""
    assert asked
    assert not [headers for headers in asked if "authorization" in headers]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        (
            {"repository": "lab/cubes"},
            "The Hub has no dataset lab/cubes that can be read without a token. Check the name.",
        ),
        ({"revision": "v9"}, "lab/balls has no revision v9."),
        ({"folder": "other"}, "The folder other of lab/balls has no CSV, TSV, JSON, JSON lines or Parquet file."),
    ],
)
@pytest.mark.usefixtures("balls")
def test_what_is_not_there_is_said(changes: dict[str, str], sentence: str) -> None:
    download = done(ask(**changes))
    assert download.error == sentence
    assert received_bytes(download.upload, ROWS) == {}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"repository": "balls"}, "Write the dataset as OWNER/NAME"),
        ({"repository": "https://huggingface.co/lab/balls"}, "Write the dataset as OWNER/NAME"),
        ({"repository": "../../etc"}, "Write the dataset as OWNER/NAME"),
        ({"revision": "a b"}, "The revision must be"),
        ({"folder": "../x"}, "Write the folder"),
        ({"token": "hf_a b"}, "This is not a token of the Hub"),
        ({"token": "x" * 501}, "This is not a token of the Hub"),
    ],
)
def test_what_cannot_be_meant_is_refused_before_anything_is_stored(changes: dict[str, str], sentence: str) -> None:
    with pytest.raises(DownloadRefused, match=sentence):
        ask(**changes)
    assert not HubDownload.objects.exists()
    assert not Upload.objects.exists()


@pytest.mark.usefixtures("balls")
def test_a_dataset_that_is_too_large_is_refused_before_it_is_sent(hub: Hub, settings: Any) -> None:
    settings.UPLOAD_MAX_BYTES = 20
    download = done(ask())
    assert "at most 20 are taken at once" in download.error
    assert not [sent for sent in hub.sent if "/resolve/" in sent]


def test_a_hub_that_is_away_is_said(settings: Any) -> None:
    settings.HUB_URL = "http://127.0.0.1:9"
    assert done(ask()).error == "http://127.0.0.1:9 cannot be reached, or closed the connection. Try again later."


@pytest.mark.usefixtures("balls")
def test_a_hub_that_fails_in_between_is_asked_again(hub: Hub) -> None:
    failing = [True]
    hub.before = lambda request: (503, {"error": "Away"}) if failing[0] and request.path.endswith("train.csv") else None
    assert done(ask()).error == "The Hub answered 503. Try again later."
    failing[0] = False
    assert done(ask()).error == ""


@pytest.mark.usefixtures("balls")
def test_a_later_worker_goes_on_where_the_first_was_lost(hub: Hub) -> None:
    download = done(ask())
    # As if the first worker had been lost after the picture and a part of the table.
    (table,) = rows_of(download.upload)
    table.write_bytes(ROWS_CSV[:7])
    HubDownload.objects.update(finished_at=None)
    Job.objects.update(state=JobState.WAITING, finished_at=None)
    hub.sent.clear()
    assert done(download).error == ""
    assert table.read_bytes() == ROWS_CSV
    assert not [sent for sent in hub.sent if sent.endswith("one.png")]


@pytest.mark.usefixtures("balls")
def test_a_cancelled_download_keeps_no_token() -> None:
    download = ask(token=TOKEN)
    assert download.job
    cancel(job=download.job, now=NOON + timedelta(seconds=1))
    download.refresh_from_db()
    assert (download.error, download.sealed_token) == ("It was cancelled.", "")


def listing(*files: tuple[Any, Any], sha: Any = "0" * 40) -> bytes:
    return json.dumps(
        {"id": "lab/balls", "sha": sha, "siblings": [{"rfilename": name, "size": size} for name, size in files]}
    ).encode()


def answering(hub: Hub, path: str, answer: Callable[[BaseHTTPRequestHandler, Request], None]) -> None:
    """Let the Hub answer requests whose path contains `path` so."""

    def instead(handler: BaseHTTPRequestHandler, request: Request) -> bool:
        if is_asked := path in request.path:
            answer(handler, request)
        return is_asked

    hub.instead = instead


LISTS, FILES = "/api/datasets/", "/resolve/"
UNLIKE = "does not respond like the Hugging Face Hub"


@pytest.mark.parametrize(
    ("name", "reason"),
    [
        ("/etc/a.csv", 'Remove "."'),
        ("a\\b.csv", "Remove backslashes"),
        ("a\0b.csv", "Remove backslashes"),
        ("a\ud800.csv", "Remove backslashes"),
        ("x" * 5000 + ".csv", "Use at most 1000 bytes"),
        ("a\0/b.csv", "Remove backslashes"),
    ],
)
@pytest.mark.usefixtures("balls")
def test_a_name_that_cannot_be_stored_is_refused_before_anything_comes(hub: Hub, name: str, reason: str) -> None:
    answering(hub, LISTS, answer_with(200, listing((name, 10), ("b/b.csv", 10), ("c/c.csv", 10))))
    error = done(ask()).error
    assert error.startswith("The file '")
    assert reason in error
    assert len(error) < 400
    assert not [sent for sent in hub.sent if FILES in sent]


@pytest.mark.parametrize(
    "told",
    [
        b"<html>Maintenance</html>",
        b"{",
        b"[]",
        b"\xff\xfe",
        b"[" * 100_000,
        b'{"siblings": []}',
        b'{"sha": null, "siblings": []}',
        b'{"sha": "%s", "siblings": [{"size": 1}]}' % (b"0" * 40),
        listing(("a.csv", 1), sha="x" * 1000),
        listing(("a.csv", -1)),
        listing(("a.csv", None)),
        listing(("a.csv", "10")),
        listing((7, 1)),
        listing(("a.csv", 1), ("a.csv", 1)),
    ],
)
@pytest.mark.usefixtures("balls")
def test_a_list_unlike_the_hubs_is_said_to_be_so(hub: Hub, told: bytes) -> None:
    answering(hub, LISTS, answer_with(200, told))
    assert UNLIKE in done(ask()).error


@pytest.mark.usefixtures("balls")
def test_names_that_differ_in_case_or_composition_are_two_files(hub: Hub, balls: Repository) -> None:
    balls.files = {"a.csv": b"x\n1\n", "A.csv": b"x\n22\n", "\u00e9.csv": b"x\n333\n", "e\u0301.csv": b"x\n4444\n"}
    download = done(ask())
    assert received_bytes(download.upload, ROWS) == {"a.csv": 4, "A.csv": 5, "\u00e9.csv": 6, "e\u0301.csv": 7}


def endless(handler: BaseHTTPRequestHandler, request: Request) -> None:
    handler.send_response(200)
    handler.end_headers()
    if request.method != "HEAD":
        for _ in range(20_000):
            handler.wfile.write(b"x" * 10_000)
        raise AssertionError("200 MB were taken")


@pytest.mark.usefixtures("balls")
def test_a_file_without_end_is_taken_no_further_than_its_listed_size(hub: Hub) -> None:
    answering(hub, FILES, endless)
    download = done(ask())
    assert download.error.startswith("The Hub sends more than the 30 bytes of data/train.csv that it lists.")
    assert received_bytes(download.upload, ROWS) == {}


@pytest.mark.usefixtures("balls")
def test_a_list_without_end_is_not_read_to_the_end(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workspace.hub_repository.LARGEST_LIST", 100_000)
    answering(hub, LISTS, endless)
    assert done(ask()).error == "lab/balls has too many files to be downloaded. Import it on the server."


@pytest.mark.usefixtures("balls")
def test_a_list_that_unpacks_to_much_more_is_not_read_to_the_end(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workspace.hub_repository.LARGEST_LIST", 1_000_000)
    bomb = gzip.compress(b" " * 50_000_000)
    answering(hub, LISTS, answer_with(200, bomb, **{"Content-Encoding": "gzip"}))
    assert "too many files" in done(ask()).error
    answering(hub, LISTS, answer_with(200, b"x", **{"Content-Encoding": "zstd"}))
    assert UNLIKE in done(ask()).error


@pytest.mark.usefixtures("balls")
def test_a_file_that_ends_early_is_asked_for_again_and_then_said(hub: Hub, slept: list[float]) -> None:
    answering(hub, FILES, answer_with(200, ROWS_CSV[:7]))
    download = done(ask())
    assert download.error == "The Hub sent 7 of the 30 bytes of data/train.csv. Try again later."
    assert sum(slept) == 21


def test_a_line_that_breaks_is_resumed_where_it_broke(hub: Hub, balls: Repository) -> None:
    whole = ROWS_CSV + b"two,A blue ball.\r\n" * 10_000
    balls.files["data/train.csv"] = whole
    asked: list[str] = []

    def broken_once(handler: BaseHTTPRequestHandler, request: Request) -> bool:
        if "train.csv" not in request.path:
            return False
        asked.append(request.headers.get("range", "from the start"))
        if len(asked) > 1:
            return False
        handler.send_response(200)
        handler.send_header("Content-Length", str(len(whole)))
        handler.end_headers()
        handler.wfile.write(whole[:100_000])
        return True

    hub.instead = broken_once
    download = done(ask())
    assert (download.error, asked) == ("", ["from the start", "bytes=65536-"])
    (table,) = rows_of(download.upload)
    assert table.read_bytes() == whole


@pytest.mark.usefixtures("balls")
def test_a_silent_and_a_dripping_hub_are_left_soon(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workspace.hub_repository.SILENCE", 0.2)
    answering(hub, LISTS, lambda handler, request: time.sleep(1))
    assert "cannot be reached, or closed the connection" in done(ask()).error

    def drip(handler: BaseHTTPRequestHandler, request: Request) -> None:
        handler.send_response(200)
        handler.end_headers()
        for _ in range(100):
            handler.wfile.write(b" ")
            time.sleep(0.1)
        raise AssertionError("a hundred drops were waited for")

    answering(hub, LISTS, drip)
    assert done(ask()).error == "The Hub sends less than 1,000 bytes a second. Try again later."


@pytest.mark.parametrize(
    ("status", "headers", "sentence", "pause"),
    [
        (429, {"Retry-After": "7"}, "The Hub answered 429. Try again later.", 7 + 7 + 16),
        (429, {"Retry-After": "100000"}, "The Hub answered 429. Try again in 1440 minutes.", 0),
        (429, {"Retry-After": "Wed, 21 Oct 2026 07:28:00 GMT"}, "The Hub answered 429. Try again later.", 21),
        (500, {}, "The Hub answered 500. Try again later.", 21),
        (400, {}, "The Hub answered 400. Try again later.", 0),
        (401, {}, "The Hub has no dataset lab/balls that can be read without a token. Check the name.", 0),
        (403, {}, "The Hub has no dataset lab/balls that can be read without a token. Check the name.", 0),
        (403, {"X-Error-Code": "GatedRepo"}, "Accept the terms of this dataset at ", 0),
    ],
)
@pytest.mark.usefixtures("balls")
def test_what_the_hub_refuses_is_said_after_waiting_as_long_as_makes_sense(
    hub: Hub, slept: list[float], status: int, headers: dict[str, str], sentence: str, pause: int
) -> None:
    answering(hub, LISTS, answer_with(status, b"<html>" * 1000, **headers))
    assert done(ask()).error.startswith(sentence)
    assert sum(slept) == pause


@pytest.mark.parametrize("where", ["http://127.0.0.1:{port}/", "http://localhost:{port}/", "http://169.254.169.254/"])
@pytest.mark.usefixtures("balls")
def test_a_redirect_into_the_own_network_is_not_followed(hub: Hub, where: str) -> None:
    with receiving(answer_with(200, b"secret,of\nthe,server\n")) as inside:
        target = where.format(port=inside.port)
        moved = answer_with(302, Location=target)
        answering(hub, FILES, moved)
        assert "is in a private network, or is this machine itself" in done(ask(token="")).error
        answering(hub, LISTS, moved)
        assert "is in a private network, or is this machine itself" in done(ask(token="")).error
        assert inside.requests == []


@pytest.mark.usefixtures("balls")
def test_another_server_gets_no_token(hub: Hub, settings: Any) -> None:
    settings.WEBHOOKS_TO_PRIVATE_ADDRESSES = True
    with receiving(answer_with(200, ROWS_CSV)) as storage:
        moved = answer_with(302, Location=storage.url)
        answering(hub, "train.csv", moved)
        download = done(ask(token=TOKEN))
    assert (download.error, received_bytes(download.upload, ROWS)) == ("", {"data/train.csv": 30})
    assert storage.requests
    assert not [request for request in storage.requests if "authorization" in request.headers]


@pytest.mark.parametrize(
    ("where", "sentence"),
    [
        ("file:///etc/passwd", UNLIKE),
        ("ftp://example.org/a.csv", UNLIKE),
        ("http://[", UNLIKE),
        ("//:80", UNLIKE),
        ("", "redirects without end"),
        ("/api/datasets/lab/balls", "redirects without end"),
    ],
)
@pytest.mark.usefixtures("balls")
def test_a_redirect_to_nowhere_is_said(hub: Hub, where: str, sentence: str) -> None:
    answering(hub, LISTS, answer_with(307, Location=where))
    assert sentence in done(ask()).error


@pytest.mark.usefixtures("balls")
def test_a_dataset_that_was_renamed_is_found(hub: Hub) -> None:
    answering(hub, "/datasets/lab/cubes", answer_with(307, Location="/api/datasets/lab/balls?blobs=true"))
    renamed = hub.instead
    hub.instead = lambda handler, request: "/resolve/" not in request.path and renamed(handler, request)
    hub.repositories["lab/cubes"] = hub.repositories["lab/balls"]
    assert done(ask(repository="lab/cubes")).error == ""


def test_no_log_has_the_token(hub: Hub, balls: Repository, caplog: pytest.LogCaptureFixture) -> None:
    balls.private = True
    caplog.set_level("INFO")
    answering(hub, LISTS, answer_with(400, TOKEN.encode(), **{"X-Error-Message": TOKEN}))
    assert TOKEN not in done(ask(token=TOKEN)).error
    answering(hub, LISTS, answer_with(200, TOKEN.encode()))
    assert TOKEN not in done(ask(token=TOKEN)).error
    assert TOKEN not in caplog.text


def test_what_came_of_a_failed_or_cancelled_download_is_removed(hub: Hub, balls: Repository) -> None:
    balls.files["data/two.csv"] = b"key\n"
    answering(hub, "two.csv", answer_with(404))
    failed = done(ask())
    assert failed.error == "The Hub lists the file data/two.csv of lab/balls, but does not have it. Try again later."
    assert (received_bytes(failed.upload, ROWS), received_bytes(failed.upload, IMAGES)) == ({}, {})


@pytest.mark.usefixtures("balls")
def test_a_download_is_cancelled_within_a_file(hub: Hub) -> None:
    hub.repositories["lab/balls"].files["data/train.csv"] = b"x" * 150_000_000
    download = ask()
    assert download.job
    job = download.job
    answering(hub, FILES, endless)
    seconds = iter(range(10**6))

    def clock() -> datetime:
        # Progress is told, and a wish to cancel heard, once a second.
        second = next(seconds)
        if second == 5:
            cancel(job=job, now=NOON)
        return NOON + timedelta(seconds=second)

    run(job_id=job.pk, message="", now=clock)
    download.refresh_from_db()
    assert download.error == "It was cancelled."
    assert received_bytes(download.upload, ROWS) == {}


@pytest.mark.usefixtures("balls")
def test_a_download_that_runs_out_of_time_after_a_file_goes_on_later(monkeypatch: pytest.MonkeyPatch) -> None:
    names: list[str] = []

    def receive_one(upload: Upload, part: str, name: str, *rest: Any, **more: Any) -> int:
        names.append(name)
        if len(names) == 2:
            raise SoftTimeLimitExceeded
        return receive(upload, part, name, *rest, **more)

    monkeypatch.setattr("workspace.actions.hub_datasets.receive", receive_one)
    download = done(ask())
    assert download.job
    assert (download.job.state, download.error, download.finished_at) == (JobState.WAITING, "", None)
    assert (done(download).error, names) == ("", ["data/train.csv", "data/one.png", "data/one.png"])


@pytest.mark.usefixtures("balls")
def test_a_nearly_full_disk_is_said_and_freed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(shutil, "disk_usage", lambda path: SimpleNamespace(free=1000))
    download = done(ask())
    assert download.error.startswith("The disk of the server is nearly full.")
    assert not folder_of(download.upload, ROWS).exists()


@pytest.mark.usefixtures("balls")
def test_the_same_dataset_is_downloaded_once_at_a_time() -> None:
    first = ask()
    assert ask() == first
    assert ask(folder="data") != first
    done(first)
    assert ask() != first


def names(*files: str, folder: str = "") -> list[str]:
    found = importable_files([HubFile(name, 1) for name in files], Source("lab/x", "", folder, ""))
    return [file.name for file in found]


def test_parquet_files_come_alone_and_files_about_the_dataset_not_at_all() -> None:
    assert names("a.csv", "b.parquet", "c.png") == ["b.parquet"]
    assert names("README.md", "state.json", ".cache/x.json", "a.JSONL", "p/q.JPG") == ["a.JSONL", "p/q.JPG"]
    assert names("../a.csv", "a/../../b.csv", "a/.git/c.csv", "d.csv") == ["d.csv"]
    assert names("train/a.csv", "test/b.csv") == ["train/a.csv", "test/b.csv"]
    assert names("en/a.csv", "de/b.csv", folder="en") == ["en/a.csv"]


def test_several_folders_are_asked_about_and_scripts_are_not_run() -> None:
    with pytest.raises(HubRefused, match=r"tables in several folders\. Name one: de, en\."):
        names("en/a.csv", "de/b.csv")
    with pytest.raises(HubRefused, match=r"It is a script, which is not run here\."):
        names("x.py", "README.md")
