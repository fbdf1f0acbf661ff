"""Bringing images, rows and predictions in, making and running studies, and the sentences of what is refused."""

import hashlib
import io
import json
from typing import Any

import PIL.Image
import pytest
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.core.files.uploadedfile import SimpleUploadedFile
from pytest_django.fixtures import Settings

from predictions.models import Prediction
from studies.actions.images import original_name
from studies.actions.projects.projects import archive_project
from studies.design.model import BlindSolvability, LaunchConditions
from studies.models import Event, Image, Instance, InstanceImage, Membership, Project, Study
from tests.factories import NOON, create_draft, draw_image, launch_study, make_instance, make_project
from tests.workspace.api.asking import API, BIRDS, STUDY, Script, script_of
from workspace.models import UploadedImage

pytestmark = pytest.mark.django_db

STUDIES = f"{BIRDS}studies/"
YAML = "application/yaml"
FILE = """
study: vases
title: Which vase?
contact: Ada Lovelace, ada@example.org
kind: best_of_n
"""


@pytest.fixture
def project(researcher: User) -> Project:
    project = make_project("birds")
    Membership.objects.get_or_create(project=project, user=researcher, role="editor")
    return project


@pytest.fixture
def script(project: Project, researcher: User) -> Script:
    return script_of(researcher)


def picture(shade: int = 1) -> bytes:
    out = io.BytesIO()
    PIL.Image.new("RGB", (4, 3), (shade, 0, 0)).save(out, "PNG")
    return out.getvalue()


def named(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()


def send_picture(script: Script, data: bytes, sha256: str = "") -> Any:
    return script.ask("PUT", f"{BIRDS}images/{sha256 or named(data)}/", data, type="application/octet-stream")


def send_rows(script: Script, *rows: dict[str, Any], images: dict[str, str] | None = None, **fields: str) -> Any:
    lines = "".join(json.dumps(row) + "\n" for row in rows).encode()
    parts: dict[str, Any] = {"format": "jsonl", "manifest": SimpleUploadedFile("rows.jsonl", lines), **fields}
    if images is not None:
        parts["images"] = SimpleUploadedFile("images.json", json.dumps(images).encode())
    return script.send_form(f"{BIRDS}instances/", parts)


ROW = {"key": "1", "caption": "A vase.", "images": {"image": "a.png"}}


def test_pictures_are_sent_first_and_rows_then_name_them(script: Script, researcher: User) -> None:
    data = picture()
    asked = {"sha256": [named(data), "0" * 64, named(data)]}
    missing = script.post(f"{BIRDS}images/missing/", asked).json()
    assert missing == {"missing": [named(data), "0" * 64]}
    sent = send_picture(script, data)
    assert (sent.status_code, sent.json()) == (
        201,
        {"sha256": named(data), "width": 4, "height": 3, "format": "PNG", "byte_size": len(data)},
    )
    assert send_picture(script, data).status_code == 200
    assert script.post(f"{BIRDS}images/missing/", asked).json() == {"missing": ["0" * 64]}
    told = send_rows(script, ROW, images={"a.png": named(data)}).json()
    assert (told["records"], told["added"], told["images"], told["waiting"]) == (1, 1, 1, 0)
    assert told["sentence"].startswith("1 record: 1 added, 0 already there. 1 image read.")
    use = InstanceImage.objects.get()
    assert (use.filename, use.image_id) == ("a.png", named(data))
    assert UploadedImage.objects.get().uploaded_by == researcher
    assert Event.objects.get(what="instances imported").by == researcher


def test_what_is_not_the_picture_that_its_address_names_is_refused_and_leaves_nothing(script: Script) -> None:
    other = send_picture(script, picture(1), named(picture(2)))
    assert (other.status_code, other.json()["type"]) == (422, "urn:lineup:problem:image-refused")
    assert "not that of the address" in other.json()["detail"]
    text = send_picture(script, b"no picture at all")
    assert text.status_code == 422
    assert send_picture(script, picture(), "ABC").status_code == 404
    assert not Image.objects.exists()
    assert not default_storage.exists(original_name(named(b"no picture at all")))


def test_who_knows_the_digest_of_another_projects_picture_does_not_get_it(script: Script) -> None:
    theirs = draw_image(7)
    InstanceImage.objects.create(
        instance=make_instance(make_project("vases"), "theirs", candidates=0), role="image", filename="7", image=theirs
    )
    asked = script.post(f"{BIRDS}images/missing/", {"sha256": [theirs.pk]}).json()
    assert asked == {"missing": [theirs.pk]}
    refused = send_rows(script, ROW, images={"a.png": theirs.pk})
    assert refused.status_code == 422
    assert "was not uploaded to this project" in refused.json()["errors"][0]["reason"]
    assert not Instance.objects.filter(project__slug="birds").exists()


def test_rows_may_wait_for_their_pictures(script: Script) -> None:
    refused = send_rows(script, ROW).json()
    assert refused["errors"] == [
        {
            "record": 1,
            "field": "image",
            "reason": "No image was uploaded as a.png. Upload it and name it in `images`, or let it wait with "
            "`images_later`.",
        }
    ]
    assert send_rows(script, ROW, images_later="true").json()["waiting"] == 1
    data = picture()
    send_picture(script, data)
    told = send_rows(script, ROW, images={"a.png": named(data)}).json()
    assert (told["added"], told["already_there"], told["images"]) == (0, 1, 1)
    assert InstanceImage.objects.get().image_id == named(data)


def test_every_bad_row_is_told_with_its_number_and_field_and_none_is_kept(script: Script) -> None:
    refused = send_rows(
        script, {"key": "1", "caption": "A vase."}, {"key": "2", "caption": " "}, {"caption": "No key."}
    )
    assert (refused.status_code, refused["Content-Type"]) == (422, "application/problem+json")
    told = refused.json()
    assert (told["type"], told["status"]) == ("urn:lineup:problem:import-refused", 422)
    assert told["detail"] == "Nothing was imported: 2 problems were found."
    assert [(error["record"], error["field"]) for error in told["errors"]] == [(2, "caption"), (3, "key")]
    assert not Instance.objects.exists()


def test_rows_are_looked_over_without_keeping_them(script: Script) -> None:
    told = send_rows(script, {"key": "1", "caption": "A vase."}, dry_run="true").json()
    assert (told["dry_run"], told["added"], Instance.objects.count()) == (True, 1, 0)


@pytest.mark.parametrize("images", [b"[]", b"{", b'{"a.png": "abc"}', b'{"a.png": 1}', b"\xff"])
def test_names_of_pictures_that_cannot_be_read_are_refused(script: Script, images: bytes) -> None:
    parts = {
        "format": "jsonl",
        "manifest": SimpleUploadedFile("rows.jsonl", json.dumps(ROW).encode()),
        "images": SimpleUploadedFile("images.json", images),
    }
    refused = script.send_form(f"{BIRDS}instances/", parts)
    assert (refused.status_code, refused.json()["errors"][0]["field"]) == (400, "images")


def test_what_says_that_it_is_too_large_is_not_read(script: Script) -> None:
    large = script.browser.generic(
        "POST", f"{BIRDS}instances/", b"x", "multipart/form-data; boundary=x", CONTENT_LENGTH="100000001"
    )
    assert (large.status_code, large.json()["type"]) == (413, "urn:lineup:problem:too-large")


def test_a_models_scores_come_in_as_records_and_are_told_again(script: Script, project: Project) -> None:
    make_instance(project, "row-1")
    scores = {"caption": 0.9, "negative_caption": 0.1}
    row = {"key": "row-1", "kind": "image_to_text", "variant": "image", "scores": scores}
    lines = json.dumps(row).encode()
    parts = {"format": "scores", "model": "CLIP", "version": "1", "file": SimpleUploadedFile("scores.jsonl", lines)}
    told = script.send_form(f"{BIRDS}predictions/", parts)
    assert told.status_code == 200, told.json()
    assert (told.json()["added"], told.json()["model"]) == (1, "CLIP 1")
    (row,) = script.get(f"{BIRDS}predictions/?model=CLIP").json()["results"]
    # The file names no pictures.
    assert (row["content_hash"], row["conditions"], row["trained_here"]) == ("", "", False)
    assert (row["key"], row["is_right"], row["scores"]) == ("row-1", True, {"caption": 0.9, "negative_caption": 0.1})
    assert script.get(f"{BIRDS}predictions/?model=other").json()["results"] == []
    bad = parts | {"file": SimpleUploadedFile("scores.jsonl", b'{"key": "row-1"}\n')}
    refused = script.send_form(f"{BIRDS}predictions/", bad)
    assert (refused.status_code, refused.json()["type"]) == (422, "urn:lineup:problem:predictions-refused")
    assert Prediction.objects.count() == 1


def test_a_study_is_made_from_its_file_launched_paused_and_closed(script: Script, project: Project) -> None:
    make_instance(project, "vase-1")
    made = script.ask("POST", STUDIES, FILE.encode(), type=YAML)
    assert made.status_code == 201, made.json()
    assert made["Location"].endswith(f"{STUDIES}vases/")
    assert (made.json()["state"], made.json()["source"]) == ("draft", FILE)
    states = [
        script.post(f"{STUDIES}vases/{change}/").json()["state"] for change in ("launch", "pause", "resume", "close")
    ]
    assert states == ["open", "paused", "open", "closed"]
    refused = script.post(f"{STUDIES}vases/pause/")
    assert (refused.status_code, refused.json()["type"]) == (409, "urn:lineup:problem:not-now")
    assert refused.json()["detail"] == "Study vases is closed; it cannot be changed to paused."


def test_a_study_file_in_json_is_the_same_study(script: Script, project: Project) -> None:
    values = {"study": "vases", "title": "Which vase? \ud83c\udffa", "kind": "best_of_n", "contact": "On 2026-01-01."}
    script.post(STUDIES, values)
    script.ask("POST", STUDIES, FILE.replace("vases", "maps").encode(), type=YAML)
    vases, maps = Study.objects.order_by("pk")
    assert (vases.title, vases.design.contact) == ("Which vase? \U0001f3fa", "On 2026-01-01.")
    assert vases.design.parts == maps.design.parts


def test_a_bad_study_file_is_refused_with_its_lines(script: Script) -> None:
    refused = script.ask("POST", STUDIES, b"study: vases\ntitle: Which vase?\nkind: none_such\n", type=YAML)
    told = refused.json()
    assert (refused.status_code, told["type"]) == (422, "urn:lineup:problem:study-file-refused")
    assert [error["line"] for error in told["errors"]] == [3]
    assert not Study.objects.exists()


def test_a_study_file_is_checked_without_making_anything(script: Script, project: Project) -> None:
    told = script.ask("POST", f"{BIRDS}check-study/", FILE.encode(), type=YAML).json()
    assert told["plan"] is None
    assert told["obstacles"]
    for number in range(3):
        make_instance(project, f"vase-{number}")
    told = script.ask("POST", f"{BIRDS}check-study/", FILE.encode(), type=YAML).json()
    assert (told["slug"], told["plan"]["questions"], told["obstacles"]) == ("vases", 3, [])
    assert not Study.objects.exists()
    assert not Event.objects.exists()


@pytest.mark.parametrize(
    ("type", "body"),
    [
        (YAML, b"\xff\xfe"),
        (YAML, b"study: \0"),
        ("application/json", b"{"),
        ("application/json", b'{"study": "\\ud800"}'),
        ("application/json", b"[" * 100_000),
        ("application/json", b"NaN"),
    ],
)
def test_what_is_no_text_is_no_study_file(script: Script, type: str, body: bytes) -> None:
    answer = script.ask("POST", STUDIES, body, type=type)
    assert answer.status_code in {400, 422}
    assert answer["Content-Type"] == "application/problem+json"


def test_a_draft_is_changed_and_deleted_and_a_launched_study_is_not(script: Script, project: Project) -> None:
    make_instance(project, "vase-1")
    script.ask("POST", STUDIES, FILE.encode(), type=YAML)
    changed = script.ask("PUT", f"{STUDIES}vases/", FILE.replace("Which", "What").encode(), type=YAML)
    assert changed.json()["title"] == "What vase?"
    assert script.ask("DELETE", f"{STUDIES}vases/").status_code == 204
    assert not Study.objects.exists()
    script.ask("POST", STUDIES, FILE.encode(), type=YAML)
    script.post(f"{STUDIES}vases/launch/")
    assert script.ask("DELETE", f"{STUDIES}vases/").status_code == 409
    assert script.ask("PUT", f"{STUDIES}vases/", FILE.encode(), type=YAML).status_code == 409


def test_who_may_makes_a_project_and_owns_it(script: Script, researcher: User, settings: Settings) -> None:
    settings.ANYBODY_MAKES_PROJECTS = False
    wanted = {"slug": "vases", "name": "Vases"}
    assert script.post(f"{API}projects/", wanted).status_code == 403
    settings.ANYBODY_MAKES_PROJECTS = True
    only = script_of(researcher, project=Project.objects.get())
    reading = script_of(researcher, scope="read")
    assert {each.post(f"{API}projects/", wanted).status_code for each in (only, reading)} == {403}
    made = script.post(f"{API}projects/", wanted)
    assert (made.status_code, made.json()["name"], made["Location"].endswith("/projects/vases/")) == (
        201,
        "Vases",
        True,
    )
    assert Membership.objects.get(project__slug="vases", user=researcher).role == "owner"
    assert script.post(f"{API}projects/", wanted).status_code == 409
    assert script.post(f"{API}projects/", {"slug": "No slug", "name": ""}).status_code == 400


def test_in_the_archive_nothing_goes_on(script: Script, project: Project, researcher: User) -> None:
    archive_project(project=project, by=researcher, now=NOON)
    assert script.get(BIRDS).json()["archived_at"] == "2026-11-20T12:00:00Z"
    refused = script.post(STUDIES, {"study": "vases"})
    assert refused.status_code == 403
    assert "is archived, so nobody may" in refused.json()["detail"]


def test_of_another_project_nothing_is_found_by_its_number(script: Script) -> None:
    theirs = make_instance(make_project("vases"), "theirs")
    assert script.get(f"{BIRDS}instances/{theirs.pk}/").status_code == 404
    assert script.get(f"{API}projects/vases/instances/{theirs.pk}/").status_code == 404
    assert script.get(f"{BIRDS}instances/{10**30}/").status_code == 404
    assert script.get(STUDY).status_code == 404


def test_more_is_asked_of_a_study_once_it_was_looked_at(script: Script, project: Project) -> None:
    create_draft(project, study="vases", instances=1)
    more = f"{STUDIES}vases/more/"
    assert script.ask("POST", more, {"what": "answers"}).status_code == 409
    script.ask("POST", f"{STUDIES}vases/launch/")
    # One survey about one instance, with two more seats.
    brought: dict[str, Any] = {"seats": 2, "answers": 2, "questions": 0, "left_out": 0}
    brought |= {"decisions": 0, "undone": 0, "restored": 0, "untried": ""}
    assert script.ask("POST", more, {"what": "answers", "number": 2, "dry_run": True}).json() == brought
    assert Study.objects.get().answers == 1
    assert script.ask("POST", more, {"what": "answers", "number": 2}).json() == brought
    assert script.ask("POST", more, {"what": "undecided", "number": 5}).status_code == 200
    assert script.ask("POST", more, {"what": "instances"}).status_code == 409
    told = script.ask("GET", f"{STUDIES}vases/").json()
    assert (told["answers"], told["most_answers"], told["completed_at"]) == (3, 5, None)


def test_which_condition_new_instances_are_not_held_against_is_told(script: Script, project: Project) -> None:
    study = launch_study(project, instances=1, study="vases")
    blind = BlindSolvability(baselines=("text-only:ngrams",), at_most=0.6)
    study.design = study.design.model_copy(update={"conditions": LaunchConditions(blind_solvability=blind)})
    study.save()
    make_instance(project, "came-later")
    for wish in ({"what": "instances", "dry_run": True}, {"what": "instances"}):
        told = script.post(f"{STUDIES}vases/more/", wish).json()
        assert told["questions"] == 1
        assert "see only a part of each question (text-only:ngrams) are right on at most 60.0 %" in told["untried"]
    assert script.post(f"{STUDIES}vases/more/", {"what": "answers"}).json()["untried"] == ""


def test_instances_are_tagged_and_untagged_and_those_of_others_are_not(script: Script, project: Project) -> None:
    own, other = make_instance(project, "own"), make_instance(project, "other")
    theirs = make_instance(make_project("vases"), "theirs")
    put, take = (f"{BIRDS}instances/{change}/" for change in ("tag", "untag"))
    told = {"tag": "look again", "instances": [own.pk, other.pk, theirs.pk, 2**63 - 1]}
    assert script.post(put, told, Idempotency_Key="once").json() == {"changed": 2}
    assert script.post(put, told, Idempotency_Key="once").json() == {"changed": 2}
    assert script.post(put, told).json() == {"changed": 0}
    assert script.get(f"{BIRDS}instances/{own.pk}/").json()["tags"] == ["look again"]
    assert not theirs.tags.exists()
    assert script.post(put, {"tag": "nobody's", "instances": [theirs.pk]}).json() == {"changed": 0}
    assert list(project.tags.values_list("name", flat=True)) == ["look again"]
    assert script.post(take, told | {"instances": [own.pk]}).json() == {"changed": 1}
    assert script.get(f"{BIRDS}instances/{own.pk}/").json()["tags"] == []
    refused = script.post(take, told | {"tag": "no such"})
    assert (refused.status_code, refused.json()["detail"]) == (
        409,
        f"No instance of {project.name} has the tag no such.",
    )
    assert script.post(put, told | {"instances": [2**63]}).status_code == 400
    assert script.post(put, told | {"tag": "two\nlines"}).status_code == 409
    events = Event.objects.filter(project=project, what__contains="tag").order_by("pk")
    assert list(events.values_list("what", flat=True)) == [
        "instances tagged",
        "instances untagged",
    ]
