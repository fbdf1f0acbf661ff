"""Datasets that come from the Hub by their names, tried against a stand-in of its protocol."""

import io
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth.models import User
from django.core import serializers
from PIL import Image

from background.jobs import cancel
from background.models import Job, JobState
from studies.actions.imports.uploads import IMAGES, ROWS, received, rows_of
from studies.models import Event, Upload
from tests.factories import NOON, make_person, make_project
from tests.hub import TOKEN, Hub, Repository
from tests.jobs import run_now
from workspace.actions.hub_datasets import DownloadRefused, request_download
from workspace.hub_repository import HubFile, HubRefused, Source, importable_files
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
    assert received(download.upload, ROWS) == {"data/train.csv": len(ROWS_CSV)}
    assert received(download.upload, IMAGES) == {"data/one.png": len(picture())}
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
        ({"repository": "lab/cubes"}, "The Hub has no dataset lab/cubes that can be read without a token."),
        ({"revision": "v9"}, "lab/balls has no revision v9."),
        ({"folder": "other"}, "The folder other of lab/balls has no CSV, TSV, JSON, JSON lines or Parquet file."),
    ],
)
@pytest.mark.usefixtures("balls")
def test_what_is_not_there_is_said(changes: dict[str, str], sentence: str) -> None:
    download = done(ask(**changes))
    assert download.error == sentence
    assert received(download.upload, ROWS) == {}


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"repository": "balls"}, "Write the dataset as OWNER/NAME"),
        ({"repository": "https://huggingface.co/lab/balls"}, "Write the dataset as OWNER/NAME"),
        ({"repository": "../../etc"}, "Write the dataset as OWNER/NAME"),
        ({"revision": "a b"}, "The revision must be"),
        ({"folder": "../x"}, "Write the folder"),
        ({"token": "hf_a b"}, "The token is no token"),
        ({"token": "x" * 501}, "The token is no token"),
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
    assert done(ask()).error == "http://127.0.0.1:9 cannot be reached, or answers otherwise than the Hub."


@pytest.mark.usefixtures("balls")
def test_a_hub_that_fails_in_between_costs_nothing_that_has_come(hub: Hub, monkeypatch: pytest.MonkeyPatch) -> None:
    failing = [True]
    hub.before = lambda request: (503, {"error": "Away"}) if failing[0] and request.path.endswith("train.csv") else None
    monkeypatch.setattr("huggingface_hub.utils._http.time.sleep", lambda seconds: None, raising=False)
    failed = done(ask())
    assert failed.error
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


def names(*files: str, folder: str = "") -> list[str]:
    found = importable_files([HubFile(name, 1) for name in files], Source("lab/x", "", folder, ""))
    return [file.name for file in found]


def test_parquet_files_come_alone_and_files_about_the_dataset_not_at_all() -> None:
    assert names("a.csv", "b.parquet", "c.png") == ["b.parquet"]
    assert names("README.md", "state.json", ".cache/x.json", "a.JSONL", "p/q.JPG") == ["a.JSONL", "p/q.JPG"]
    assert names("train/a.csv", "test/b.csv") == ["train/a.csv", "test/b.csv"]
    assert names("en/a.csv", "de/b.csv", folder="en") == ["en/a.csv"]


def test_several_folders_are_asked_about_and_scripts_are_not_run() -> None:
    with pytest.raises(HubRefused, match=r"tables in several folders\. Name one: de, en\."):
        names("en/a.csv", "de/b.csv")
    with pytest.raises(HubRefused, match=r"It is a script, which is not run here\."):
        names("x.py", "README.md")
