"""Imports in the background by script: sent in pieces, asked for, watched, and what becomes of bad rows."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from django.contrib.auth.models import User
from pytest_django.fixtures import Settings

from studies.models import Import, Instance, Project, Upload
from tests.factories import make_member, make_project
from tests.jobs import run_now
from tests.workspace.api.asking import BIRDS, Script, script_of
from tests.workspace.api.test_changing import picture

pytestmark = pytest.mark.django_db
ROW = {"key": "1", "caption": "A vase.", "images": {"image": "vases/a.png"}}


@pytest.fixture(autouse=True)
def _folder(settings: Settings, tmp_path: Path) -> None:
    settings.MEDIA_ROOT = tmp_path


@pytest.fixture
def project() -> Project:
    return make_project("birds")


@pytest.fixture
def script(project: Project) -> Script:
    return script_of(make_member(project, "editor"))


def begin(script: Script) -> str:
    return str(script.post(f"{BIRDS}uploads/").json()["id"])


def piece(script: Script, upload: str, part: str, name: str, data: bytes, offset: int = 0) -> Any:
    address = f"{BIRDS}uploads/{upload}/{part}/?name={name}&offset={offset}"
    return script.ask("PUT", address, data, type="application/octet-stream")


def lines(*rows: dict[str, Any]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()


def zipped(**files: bytes) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("vases/a.png", files["a"])
    return out.getvalue()


def ask(script: Script, upload: str, **more: Any) -> Any:
    return script.post(f"{BIRDS}imports/", {"upload": upload, "format": "jsonl"} | more)


def run() -> None:
    job = Import.objects.latest("pk").job
    assert job is not None
    run_now(job)


def test_files_in_pieces_are_looked_over_and_then_imported(script: Script) -> None:
    upload, rows = begin(script), lines(ROW)
    assert piece(script, upload, "rows", "rows.jsonl", rows[:10]).json() == {"have": 10}
    # Its answer was lost, and it is sent again.
    again = piece(script, upload, "rows", "rows.jsonl", rows[:10])
    assert (again.status_code, again.json()["type"]) == (409, "urn:lineup:problem:misplaced")
    assert script.get(f"{BIRDS}uploads/{upload}/").json()["rows"] == {"rows.jsonl": 10}
    assert piece(script, upload, "rows", "rows.jsonl", rows[10:], 10).json() == {"have": len(rows)}
    piece(script, upload, "images", "all.zip", zipped(a=picture()))
    asked = ask(script, upload, dry_run=True)
    assert (asked.status_code, asked.json()["state"]) == (202, "waiting")
    run()
    told = script.get(asked["Location"]).json()
    assert (told["state"], told["dry_run"], told["results"][0]["added"]) == ("done", True, 1)
    assert Instance.objects.count() == 0
    again = script.post(f"{asked['Location']}again/")
    run()
    told = script.get(again["Location"]).json()
    assert (told["state"], told["results"][0]["sentence"][:17]) == ("done", "1 record: 1 added")
    assert Instance.objects.get().key == "1"
    assert not Upload.objects.exists()
    assert [each["id"] for each in script.get(f"{BIRDS}imports/").json()["results"]] == [told["id"], told["id"] - 1]


def test_a_table_comes_with_the_mapping_of_its_columns(script: Script) -> None:
    upload, mapping = begin(script), {"nr": "key", "words": "caption:caption"}
    piece(script, upload, "rows", "rows.csv", b"nr,words\n7,A vase.\n")
    assert ask(script, upload, format="table").status_code == 422
    assert ask(script, upload, mapping=mapping).status_code == 422
    assert ask(script, upload, format="table", mapping={"nr": ["key"]}).status_code == 400
    asked = ask(script, upload, format="table", mapping=mapping)
    run()
    told = script.get(asked["Location"]).json()
    assert (told["state"], told["mapping"]) == ("done", mapping)
    assert Instance.objects.get().captions == {"caption": "A vase."}


def test_the_mapping_of_an_import_is_changed_until_a_study_asks(script: Script) -> None:
    upload, mapping = begin(script), {"nr": "key", "words": "caption:caption"}
    piece(script, upload, "rows", "rows.csv", b"nr,words\n7,A vase.\n")
    asked = ask(script, upload, format="table", mapping=mapping)
    run()
    change = f"{asked['Location']}mapping/"
    refused = script.post(change, {"mapping": mapping})
    assert (refused.status_code, refused.json()["detail"]) == (409, "Nothing was changed.")
    changed = script.post(change, {"mapping": mapping | {"words": "caption:text"}})
    assert (changed.status_code, changed.json()["changes"]) == (202, asked.json()["id"])
    assert script.get(asked["Location"]).json()["changes"] is None
    run()
    assert script.get(changed["Location"]).json()["state"] == "done"
    assert Instance.objects.get().captions == {"text": "A vase."}


def test_every_bad_row_is_told_page_by_page(script: Script) -> None:
    upload = begin(script)
    piece(script, upload, "rows", "rows.jsonl", lines({"caption": "A."}, {"caption": "B."}, {"caption": "C."}))
    asked = ask(script, upload)
    run()
    told = script.get(asked["Location"]).json()
    assert (told["state"], told["problems"]) == ("failed", 3)
    assert told["error"] == "Nothing was imported: 3 problems were found."
    first = script.get(f"{told['problems_url']}?limit=2").json()
    rest = script.get(first["next"]).json()
    assert [row["record"] for row in [*first["results"], *rest["results"]]] == [1, 2, 3]
    assert rest["next"] is None
    assert {row["file"] for row in first["results"]} == {"rows.jsonl"}


def test_an_import_is_cancelled_and_asked_for_once(script: Script) -> None:
    upload = begin(script)
    assert ask(script, upload).status_code == 409
    piece(script, upload, "rows", "rows.jsonl", lines(ROW))
    one, two = ask(script, upload), ask(script, upload)
    assert one.json()["id"] == two.json()["id"]
    told = script.post(f"{one['Location']}cancel/").json()
    assert told["state"] == "cancelled"
    assert script.post(f"{one['Location']}cancel/").status_code == 409


def test_nobody_adds_to_or_imports_what_another_member_sends(script: Script, project: Project) -> None:
    upload, other = begin(script), script_of(make_member(project, "editor", name="other"))
    assert piece(other, upload, "rows", "a", b"x").status_code == 404
    assert ask(other, upload).status_code == 404
    second = make_project("vases", members=[User.objects.get(username="editor")])
    owner = script_of(User.objects.get(username="editor"))
    answer = owner.post(f"/api/v1/projects/{second.slug}/imports/", {"upload": upload, "format": "jsonl"})
    assert answer.status_code == 404


@pytest.mark.parametrize("name", ["../a", "/etc/passwd", "a//b", "%00"])
def test_a_file_lies_where_files_of_uploads_lie(script: Script, name: str, tmp_path: Path) -> None:
    assert piece(script, begin(script), "rows", name, b"x").status_code in {400, 409}
    assert [path for path in tmp_path.rglob("*") if path.is_file()] == []


def test_a_part_that_there_is_not_is_refused(script: Script) -> None:
    assert piece(script, begin(script), "secrets", "a", b"x").status_code == 409
