"""An import in the browser: its files sent in pieces or with the form, looked over, then imported."""

import json
import zipfile
from io import BytesIO
from typing import Any

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client
from PIL import Image as Picture
from pytest_django import Settings

from background.models import Job, JobState
from studies.models import Import, Instance, Membership, Project, Upload
from tests.factories import make_member, make_person, make_project
from tests.jobs import run_now
from tests.pages import signed_in, words_of

pytestmark = pytest.mark.django_db
NEW = "/projects/vases/imports/new/"


@pytest.fixture(autouse=True)
def sent(monkeypatch: pytest.MonkeyPatch) -> list[int]:
    """Return the ids of the jobs that are sent."""
    ids: list[int] = []
    monkeypatch.setattr("workspace.views.projects.imports.send", lambda job: ids.append(job.pk))
    return ids


@pytest.fixture
def editor() -> Client:
    return signed_in(make_member(make_project(), "editor"))


def jpeg(colour: str) -> bytes:
    out = BytesIO()
    Picture.new("RGB", (8, 8), colour).save(out, "JPEG")
    return out.getvalue()


def row(key: str, *images: str) -> bytes:
    return (json.dumps({"key": key, "caption": f"A {key} vase.", "images": images}) + "\n").encode()


def zipped(**images: bytes) -> bytes:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name, content in images.items():
            made.writestr(f"{name}.jpg", content)
    return out.getvalue()


def begin(client: Client) -> str:
    response = client.post("/projects/vases/uploads/")
    assert response.status_code == 201
    return str(response.json()["address"])


def send(client: Client, address: str, part: str, name: str, data: bytes, *, offset: int = 0) -> Any:
    where = f"{address}{part}/?name={name}&offset={offset}"
    return client.post(where, data, content_type="application/octet-stream")


def work() -> None:
    for job in Job.objects.filter(state=JobState.WAITING).order_by("pk"):
        run_now(job)


def test_files_sent_in_pieces_are_looked_over_and_then_imported(editor: Client, sent: list[int]) -> None:
    address = begin(editor)
    rows, images = row("red", "1.jpg"), zipped(**{"1": jpeg("red")})
    assert send(editor, address, "rows", "vases.jsonl", rows[:10]).json() == {"have": 10}
    assert send(editor, address, "rows", "vases.jsonl", rows[10:], offset=10).json() == {"have": len(rows)}
    send(editor, address, "images", "some.zip", images)
    assert editor.get(address).json() == {"rows": {"vases.jsonl": len(rows)}, "images": {"some.zip": len(images)}}
    form = {"upload": address.split("/")[2], "format": "jsonl"}
    assert editor.post(NEW, form)["Location"] == "/projects/vases/imports/"
    assert len(sent) == 1
    work()
    page = editor.get("/projects/vases/imports/").content.decode()
    assert "Checked. Nothing is imported yet." in page
    assert "1 record: 1 would be added, 0 already there. 1 image read" in page
    assert not Instance.objects.exists()
    looked_over = Import.objects.get()
    assert f'action="/imports/{looked_over.pk}/again/"' in page
    editor.post(f"/imports/{looked_over.pk}/again/")
    work()
    assert "1 record: 1 added" in editor.get("/projects/vases/imports/").content.decode()
    assert Instance.objects.get().key == "red"
    # What was imported lies no longer where it was sent to, so that nobody is offered to import it once more.
    assert not Upload.objects.exists()
    assert "Import it now" not in editor.get("/projects/vases/imports/").content.decode()


def test_without_scripts_the_files_come_with_the_form(editor: Client) -> None:
    files = {
        "rows": SimpleUploadedFile("vases.jsonl", row("red", "1.jpg")),
        "images": [SimpleUploadedFile("1.jpg", jpeg("red")), SimpleUploadedFile("2.jpg", jpeg("blue"))],
    }
    assert editor.post(NEW, {"format": "jsonl", "at_once": "1", **files}).status_code == 302
    work()
    assert Instance.objects.get().images.count() == 1


def test_images_that_are_missing_come_later_with_the_same_file(editor: Client) -> None:
    rows = row("red", "1.jpg") + row("blue", "2.jpg")

    def bring(*images: SimpleUploadedFile) -> None:
        form = {"format": "jsonl", "at_once": "1", "images_later": "on", "images": list(images)}
        editor.post(NEW, form | {"rows": SimpleUploadedFile("vases.jsonl", rows)})
        work()

    bring(SimpleUploadedFile("1.jpg", jpeg("red")))
    waiting = '?images=awaited" title="The instances that wait for these images">1 image</a>'
    assert waiting in editor.get(NEW).content.decode()
    bring(SimpleUploadedFile("2.jpg", jpeg("blue")))
    assert "still wait for" not in editor.get(NEW).content.decode()
    assert Instance.objects.count() == 2


def test_bad_rows_are_told_and_nothing_is_imported(editor: Client) -> None:
    files = {"rows": SimpleUploadedFile("vases.jsonl", row("red", "1.jpg") + b"{}\n")}
    editor.post(NEW, {"format": "jsonl", "images": [SimpleUploadedFile("1.jpg", b"no picture")], **files})
    work()
    page = editor.get("/projects/vases/imports/").content.decode()
    assert "Nothing was imported" in page
    assert "/problems/" in page
    assert not Instance.objects.exists()


def test_an_archive_that_leads_out_is_refused_with_a_sentence(editor: Client) -> None:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("../../1.jpg", jpeg("red"))
    files = {"rows": SimpleUploadedFile("vases.jsonl", row("red", "1.jpg"))}
    editor.post(NEW, {"format": "jsonl", "images": [SimpleUploadedFile("a.zip", out.getvalue())], **files})
    work()
    page = editor.get("/projects/vases/imports/").content.decode()
    assert "a.zip: file 1, " in page
    assert "Nothing was imported." in page


def test_images_without_rows_are_kept_and_the_rows_follow(editor: Client) -> None:
    sent = {"images": [SimpleUploadedFile("a.zip", zipped(red=jpeg("red")))]}
    response = editor.post(NEW, {"format": "jsonl", **sent})
    page = response.content.decode()
    assert response.status_code == 409
    assert "Your images arrived, but there is no file with rows" in page
    assert "images: a.zip" in page
    upload = Upload.objects.get()
    rows = SimpleUploadedFile("vases.jsonl", row("red", "red.jpg"))
    editor.post(NEW, {"format": "jsonl", "upload": str(upload.pk), "rows": [rows], "at_once": "1"})
    work()
    assert Instance.objects.get().images.get().image is not None


def _failed_without_images(editor: Client, **form: str) -> Import:
    rows = SimpleUploadedFile("vases.jsonl", row("red", "red.jpg"))
    editor.post(NEW, {"format": "jsonl", "rows": [rows], **form})
    work()
    failed = Import.objects.get()
    assert failed.first_problems == [
        "The file: The rows name images, but there are none: red.jpg. "
        "Choose their folder or zip, or choose to let images come later."
    ]
    return failed


def test_missing_images_are_added_without_sending_the_rows_again(editor: Client) -> None:
    failed = _failed_without_images(editor, at_once="1")
    page = editor.get("/projects/vases/imports/").content.decode()
    assert f'href="/imports/{failed.pk}/images/"' in page
    assert "--images" not in page.partition("Import files from the server")[0]
    address = f"/imports/{failed.pk}/images/"
    page = editor.get(address).content.decode()
    assert "Add images" in page
    assert "The rows name images, but there are none: red.jpg." in page
    refused = editor.post(address)
    assert refused.status_code == 409
    assert "You chose no images." in refused.content.decode()
    editor.post(address, {"images": [SimpleUploadedFile("a.zip", zipped(red=jpeg("red")))]})
    work()
    assert Instance.objects.get().images.get().image is not None
    # The failed attempt is a part of the history, with nothing to do.
    page = editor.get("/projects/vases/imports/").content.decode()
    assert "These files were tried again later." in page
    assert f'action="/imports/{failed.pk}/again/"' not in page
    assert f'href="/imports/{failed.pk}/problems/"' in page


def test_the_page_for_more_images_names_the_first_missing_ones_and_counts_them(editor: Client) -> None:
    colors = ("red", "blue", "green", "black", "white", "brown", "pink")
    rows = SimpleUploadedFile("vases.jsonl", b"".join(row(color, f"{color}.jpg") for color in colors))
    images = SimpleUploadedFile("a.zip", zipped(red=jpeg("red")))
    editor.post(NEW, {"format": "jsonl", "rows": [rows], "images": [images]})
    work()
    page = words_of(editor.get(f"/imports/{Import.objects.get().pk}/images/"))
    assert "6 files are missing: blue.jpg, green.jpg, black.jpg, white.jpg, brown.jpg and 1 more." in page


def test_whether_images_lack_is_stored_and_known_of_older_imports_by_their_sentence(editor: Client) -> None:
    failed = _failed_without_images(editor)
    assert (failed.is_without_images, failed.lacks_images) == (True, True)
    # In other words, and as an older version stored it.
    failed.first_problems = ["The file: There are no images."]
    assert failed.lacks_images
    failed.is_without_images = None
    assert not failed.lacks_images
    failed.first_problems = ["The file: Choose their folder or zip, or choose to let images come later."]
    assert failed.lacks_images


def test_a_failed_import_lets_its_images_come_later(editor: Client) -> None:
    failed = _failed_without_images(editor)
    assert 'name="images_later"' in editor.get("/projects/vases/imports/").content.decode()
    editor.post(f"/imports/{failed.pk}/again/", {"images_later": "1"})
    work()
    again = Import.objects.exclude(pk=failed.pk).get()
    assert (again.error, again.images_later, again.dry_run) == ("", True, True)


@pytest.mark.parametrize(
    ("form", "sentence"),
    [
        ({"format": "jsonl"}, "Choose the file with the rows to import."),
        ({"format": "odd", "rows": SimpleUploadedFile("a.jsonl", b"{}")}, "The format &#x27;odd&#x27; is unknown."),
        (
            {"format": "jsonl", "rows": SimpleUploadedFile("a.jsonl", b"{}" * 100)},
            "An upload can have at most 100 bytes.",
        ),
    ],
)
def test_what_cannot_be_imported_is_told_on_the_form(
    editor: Client, settings: Settings, form: dict[str, Any], sentence: str
) -> None:
    settings.UPLOAD_MAX_BYTES = 100
    response = editor.post(NEW, form)
    assert response.status_code == 409
    assert sentence in response.content.decode()
    assert not Import.objects.exists()


def test_a_piece_that_does_not_fit_is_told_where_to_go_on(editor: Client) -> None:
    address = begin(editor)
    send(editor, address, "rows", "a.jsonl", b"1234")
    response = send(editor, address, "rows", "a.jsonl", b"34", offset=2)
    assert (response.status_code, response.json()) == (409, {"have": 4})
    response = send(editor, address, "rows", "../a", b"34")
    assert response.status_code == 422
    assert "is not allowed" in response.json()["problem"]
    for query in ("", "?name=a", "?name=a&offset=-1", "?name=a&offset=x", "?name=a&offset=9999999999999999"):
        assert editor.post(f"{address}rows/{query}", b"x", content_type="application/octet-stream").status_code == 422
    assert editor.post(f"{address}other/?name=a&offset=0", b"x", content_type="text/plain").status_code == 422


def test_nobody_else_sees_an_upload_or_adds_to_it(editor: Client) -> None:
    address = begin(editor)
    send(editor, address, "rows", "a.jsonl", row("red"))
    colleague = signed_in(make_member(make_project(), "owner"))
    assert colleague.get(address).status_code == 404
    assert send(colleague, address, "rows", "a.jsonl", b"x").status_code == 404
    form = {"upload": address.split("/")[2], "format": "jsonl"}
    assert colleague.post(NEW, form).status_code == 404
    for named in ("x", "../../etc", "00000000-0000-4000-8000-000000000000"):
        assert editor.post(NEW, form | {"upload": named}).status_code == 404
    # Its own maker takes it into no other project.
    other = make_project("fish")
    Membership.objects.create(project=other, user=Upload.objects.get().made_by, role="owner")
    assert editor.post("/projects/fish/imports/new/", form).status_code == 404


def test_who_is_no_editor_any_more_adds_nothing(editor: Client) -> None:
    address = begin(editor)
    Membership.objects.update(role="viewer")
    assert send(editor, address, "rows", "a.jsonl", b"x").status_code == 403
    Membership.objects.all().delete()
    assert send(editor, address, "rows", "a.jsonl", b"x").status_code == 404
    assert editor.get(address).status_code == 404


def test_a_piece_needs_the_token_of_our_own_form() -> None:
    guarded = Client(enforce_csrf_checks=True)
    guarded.force_login(make_person("root", superuser=True))
    assert Project.objects.count() == 0
    make_project()
    assert guarded.post("/projects/vases/uploads/").status_code == 403
