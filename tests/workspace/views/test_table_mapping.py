"""A table in a form of its own: recognised, its columns assigned on a page, remembered, checked and imported."""

import hashlib
import json
import re
import zipfile
from io import BytesIO
from typing import Any

import pyarrow as pa
import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from django.test import Client

from studies.models import Import, Instance, Membership, Project, Upload
from tests.factories import make_member, make_project
from tests.pages import signed_in, words_of
from tests.studies.source_files import arrow_bytes, parquet_bytes
from tests.workspace.views.test_uploads import NEW, begin, jpeg, row, send, work, zipped

pytestmark = pytest.mark.django_db
TABLE = b"nr,picture,text,wrong,mood\n7,red.jpg,A red vase.,A blue vase.,calm\n8,blue.jpg,A blue vase.,A red vase.,\n"
WIDE = "\n".join(",".join(f"{row}{n}" for n in range(201)) for row in "ab").encode()
AS_IN_TABLE = {
    "nr": "key",
    "picture": "image:image",
    "text": "caption:caption",
    "wrong": "caption:negative_caption",
    "mood": "other",
}


@pytest.fixture(autouse=True)
def _not_sent(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("workspace.views.projects.imports.send", lambda job: None)


@pytest.fixture
def editor() -> Client:
    return signed_in(make_member(make_project(), "editor"))


def upload(client: Client, content: bytes = TABLE, name: str = "vases.csv", **form: Any) -> Any:
    images = SimpleUploadedFile("all.zip", zipped(red=jpeg("red"), blue=jpeg("blue")))
    return client.post(NEW, {"rows": SimpleUploadedFile(name, content), "images": images} | form)


def columns(mapping: dict[str, str]) -> dict[str, str]:
    """Return what the form says of the columns in this order."""
    form = {}
    for number, target in enumerate(mapping.values()):
        form[f"target-{number}"], _, form[f"role-{number}"] = target.partition(":")
    return form


def chosen(page: Any) -> list[str]:
    return re.findall(r'<option value="([a-z]+)" selected>', page.content.decode())


def test_a_table_of_no_known_format_is_mapped_checked_and_imported(editor: Client) -> None:
    address = upload(editor)["Location"]
    page = editor.get(address)
    assert chosen(page) == ["other", "image", "caption", "caption", "other"]
    # The pictures of the zip, small.
    assert page.content.decode().count('<img src="data:image/webp;base64,') == 2
    form = columns(AS_IN_TABLE) | {"caption_rule": "keep-case-v1"}
    assert editor.post(address, form)["Location"] == "/projects/vases/imports/"
    work()
    assert "2 records: 2 would be added" in words_of(editor.get("/projects/vases/imports/"))
    checked = Import.objects.get()
    assert address.split("?")[0] in editor.get("/projects/vases/imports/").content.decode()
    assert (checked.mapping, checked.caption_rule, checked.dry_run) == (AS_IN_TABLE, "keep-case-v1", True)
    editor.post(f"/imports/{checked.pk}/again/")
    work()
    first, second = Instance.objects.order_by("key")
    assert (first.key, first.captions) == ("7", {"caption": "A red vase.", "negative_caption": "A blue vase."})
    assert first.reference == {"other": {"mood": "calm"}}
    assert second.reference == {}
    assert [use.role for use in first.images.all()] == ["image"]
    assert "negative_caption" in words_of(editor.get("/projects/vases/imports/"))


def test_the_next_file_with_the_same_columns_is_filled_in_as_the_last(editor: Client) -> None:
    form = columns(AS_IN_TABLE) | {"caption_rule": "keep-case-v1", "images_later": "on"}
    editor.post(upload(editor)["Location"], form)
    other = TABLE.replace(b"7,", b"17,").replace(b"8,", b"18,")
    page = editor.get(upload(editor, other, "more.csv")["Location"])
    assert chosen(page) == ["key", "image", "caption", "caption", "other"]
    assert 'value="negative_caption"' in page.content.decode()
    assert 'value="keep-case-v1" checked' in page.content.decode()
    # Another project, or other columns, begin with a guess.
    assert chosen(editor.get(upload(editor, TABLE.replace(b"mood", b"air"))["Location"]))[0] == "other"


def test_a_column_of_names_of_other_pictures_is_guessed_to_be_a_note(editor: Client) -> None:
    rows = b"picture,origin,text\nred.jpg,elsewhere/1.jpg,A red vase.\n"
    assert chosen(editor.get(upload(editor, rows)["Location"])) == ["image", "other", "caption"]


def test_images_that_were_not_chosen_are_not_called_damaged(editor: Client) -> None:
    table = SimpleUploadedFile("vases.csv", TABLE)
    page = words_of(editor.get(editor.post(NEW, {"rows": table})["Location"]))
    assert "red.jpg: no images chosen yet" in page
    assert "damaged" not in page
    rows = TABLE.replace(b"blue.jpg", b"green.jpg")
    assert "green.jpg: missing, damaged or too large" in words_of(editor.get(upload(editor, rows)["Location"]))


def test_formats_have_titles_in_words(editor: Client) -> None:
    page = words_of(editor.get(NEW))
    assert '<option value="sugarcrepe">SugarCrepe (sugarcrepe)</option>' in page
    assert "Any table, by its columns (table)" in page


@pytest.mark.parametrize(
    ("wrong", "place", "sentence"),
    [
        ({"wrong": "caption:caption"}, 3, "The column 'text' is also the caption caption."),
        ({"mood": "key"}, 4, "The column 'nr' is also the key."),
        ({"text": "caption:Große Rolle"}, 2, "is not a name of at most 30 small letters"),
        ({"mood": "nonsense"}, 4, "'nonsense' is unknown."),
    ],
)
def test_a_wrong_assignment_is_refused_at_its_column_and_nothing_typed_is_lost(
    editor: Client, wrong: dict[str, str], place: int, sentence: str
) -> None:
    address = upload(editor)["Location"]
    answer = editor.post(address, columns(AS_IN_TABLE | wrong) | {"images_later": "on"})
    assert answer.status_code == 409
    told = re.findall(r'id="problem-(\d)">(.*?)</p>', answer.content.decode().replace("&#x27;", "'"))
    assert [(number, sentence in text) for number, text in told] == [(str(place), True)]
    assert 'name="images_later" checked' in answer.content.decode()
    assert 'value="negative_caption"' in answer.content.decode() or "wrong" in wrong
    assert not Import.objects.exists()


def test_columns_without_a_caption_or_an_image_are_refused(editor: Client) -> None:
    answer = editor.post(upload(editor)["Location"], columns(dict.fromkeys(AS_IN_TABLE, "other")))
    assert "No column is a caption or an image. Assign at least one." in words_of(answer)


def test_a_file_of_another_format_than_chosen_is_told_and_the_likely_one_offered(editor: Client) -> None:
    answer = upload(editor, row("red", "red.jpg"), "vases.jsonl", format="bivlc-manifest")
    page = words_of(answer)
    assert answer.status_code == 409
    assert "vases.jsonl does not look like bivlc-manifest." in page
    assert 'name="instead" value="jsonl"' in page
    # What was sent is still there, and the other format needs no second upload.
    form = {"upload": Upload.objects.get().pk, "format": "bivlc-manifest"}
    assert editor.post(NEW, form | {"instead": "jsonl"}).status_code == 302
    assert Import.objects.get().format == "jsonl"
    # Somebody who insists gets the list of problems.
    assert editor.post(NEW, form | {"tried": "bivlc-manifest"}).status_code == 302
    assert Import.objects.latest("pk").format == "bivlc-manifest"


def test_a_table_is_offered_its_mapping_where_another_format_was_chosen(editor: Client) -> None:
    page = words_of(upload(editor, format="sugarcrepe"))
    assert 'name="instead" value="table"' in page
    answer = editor.post(NEW, {"upload": Upload.objects.get().pk, "format": "sugarcrepe", "instead": "table"})
    assert answer["Location"].startswith(f"/uploads/{Upload.objects.get().pk}/mapping/")


def test_a_format_that_is_not_chosen_is_found_out(editor: Client) -> None:
    assert upload(editor, row("red", "red.jpg"), "vases.jsonl")["Location"] == "/projects/vases/imports/"
    assert Import.objects.get().format == "jsonl"


def test_rows_with_pictures_that_a_format_would_leave_are_mapped(editor: Client) -> None:
    lines = b'{"id": 1, "caption": "A red vase.", "photo": "red.jpg"}\n'
    assert "/mapping/" in upload(editor, lines, "vases.jsonl")["Location"]


@pytest.mark.parametrize(
    "content", [b"", b"\xff\xd8\xff\xe0 a photo", b"\0\1\2", b"PAR1 no table", b"a,a\n1,2\n", WIDE]
)
def test_a_file_that_is_no_table_is_refused_with_a_sentence(editor: Client, content: bytes) -> None:
    answer = upload(editor, content, "vases.xyz", format="table")
    assert answer.status_code == 409
    assert 'class="problems"' in words_of(answer)
    assert not Import.objects.exists()


def test_a_zip_may_hold_the_rows_too(editor: Client) -> None:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("vases/metadata.jsonl", b'{"file_name": "1.jpg", "text": "A red vase."}\n')
        made.writestr("vases/1.jpg", jpeg("red"))
        made.writestr("vases/dataset_infos.json", b"{}")
        made.writestr("vases/2.jpg", b"")
    address = editor.post(NEW, {"images": SimpleUploadedFile("vases.zip", out.getvalue())})["Location"]
    page = editor.get(address).content.decode()
    assert 'alt="1.jpg"' in page
    editor.post(address, columns({"file_name": "image:image", "text": "caption:caption"}) | {"at_once": "1"})
    work()
    assert Instance.objects.get().images.get().image_id == hashlib.sha256(jpeg("red")).hexdigest()


def test_tables_of_a_zip_that_are_not_read_are_named(editor: Client) -> None:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        for name in ("vases/metadata.csv", "vases/pairs.json", "vases/dataset_infos.json"):
            made.writestr(name, TABLE)
    answer = editor.post(NEW, {"images": SimpleUploadedFile("vases.zip", out.getvalue())}, follow=True)
    said = "The rows are read from metadata.csv. Not read: vases/pairs.json. To import one of these, choose it"
    assert said in words_of(answer)


def test_two_zips_with_the_same_table_are_told(editor: Client) -> None:
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("rows.csv", TABLE)
    answer = editor.post(NEW, {"images": [SimpleUploadedFile(f"{name}.zip", out.getvalue()) for name in "ab"]})
    assert "Another zip also contains rows.csv. Rename one of the two files." in words_of(answer)


@pytest.mark.parametrize("content", [b"", b"PK\3\4 cut", zipped(red=b"no rows here")])
def test_a_zip_without_rows_is_told(editor: Client, content: bytes) -> None:
    answer = editor.post(NEW, {"images": SimpleUploadedFile("vases.zip", content)})
    assert answer.status_code == 409
    assert 'class="problems"' in words_of(answer)


@pytest.mark.parametrize("sign", ["\0", "\ud800"])
def test_signs_that_cannot_be_stored_are_told(editor: Client, sign: str) -> None:
    rows = [{"text": f"A{sign} vase.", "image": f"{sign}.jpg"}]
    address = upload(editor, json.dumps(rows).encode(), "vases.json")["Location"]
    assert editor.get(address).status_code == 200
    editor.post(address, columns({"text": "caption:caption", "image": "image:image"}))
    work()
    assert Import.objects.get().problem_count == 2
    answer = upload(editor, json.dumps([rows[0] | {sign: 1}]).encode(), "vases.json")
    assert "cannot be stored. The text has" in words_of(answer)


def test_nobody_else_maps_an_upload(editor: Client) -> None:
    address = upload(editor)["Location"]
    colleague = signed_in(make_member(make_project(), "owner"))
    stranger = signed_in(make_member(make_project("fish"), "owner", name="stranger"))
    assert [client.get(address).status_code for client in (colleague, stranger)] == [404, 404]
    Membership.objects.filter(user__username="editor").update(role="viewer")
    assert editor.get(address).status_code == 403
    assert editor.post(address, columns(AS_IN_TABLE)).status_code == 403
    assert not Import.objects.exists()
    assert Project.objects.count() == 2


def test_a_parquet_file_brings_its_own_pictures(editor: Client) -> None:
    rows = [{"image": {"bytes": jpeg(colour), "path": None}, "text": f"A {colour} vase."} for colour in ("red", "blue")]
    upload = begin(editor)
    for part, one in zip(("train", "test"), rows, strict=True):
        send(editor, upload, "rows", f"{part}/0.parquet", parquet_bytes([one, one], row_group_size=1))
    address = editor.post(NEW, {"upload": upload.split("/")[2]})["Location"]
    page = editor.get(address)
    assert chosen(page) == ["image", "caption"]
    assert page.content.decode().count('<img src="data:image/webp;base64,') == 2
    editor.post(address, columns({"image": "image:image", "text": "caption:caption"}) | {"at_once": "1"})
    work()
    assert Import.objects.get().error == ""
    keys = dict(Instance.objects.values_list("key", "images__image"))
    red, blue = (hashlib.sha256(jpeg(colour)).hexdigest() for colour in ("red", "blue"))
    assert keys == {"train/0/0": red, "train/0/1": red, "test/0/0": blue, "test/0/1": blue}


def test_a_parquet_file_with_paths_alone_is_told_what_to_do(editor: Client) -> None:
    rows = [{"image": {"bytes": None, "path": "a.jpg"}, "text": "A vase."}]
    schema = pa.schema([("image", pa.struct([("bytes", pa.binary()), ("path", pa.string())])), ("text", pa.string())])
    file = SimpleUploadedFile("test.parquet", parquet_bytes(rows, schema))
    address = editor.post(NEW, {"rows": file})["Location"]
    editor.post(address, columns({"image": "image:image", "text": "caption:caption"}))
    work()
    (told,) = Import.objects.get().first_problems
    assert "holds only the path 'a.jpg' of an image. Save the dataset with its images inside" in told


def test_a_folder_of_images_with_its_metadata_is_read_as_the_datasets_library_reads_it(editor: Client) -> None:
    """Each split has its folder, in which the names of its images begin."""
    address = begin(editor)
    for split, colour in (("train", "red"), ("test", "blue")):
        metadata = f"file_name,text\n1.jpg,A {colour} vase.\n".encode()
        send(editor, address, "rows", f"{split}/metadata.csv", metadata)
        send(editor, address, "images", f"{split}/1.jpg", jpeg(colour))
    mapped = editor.post(NEW, {"upload": address.split("/")[2]})["Location"]
    assert editor.get(mapped).content.decode().count('<img src="data:image/webp;base64,') == 1
    editor.post(mapped, columns({"file_name": "image:image", "text": "caption:caption"}) | {"at_once": "1"})
    work()
    assert Import.objects.get().error == ""
    assert list(Instance.objects.order_by("key").values_list("key", "split", "images__image")) == [
        ("test/metadata/0", "test", hashlib.sha256(jpeg("blue")).hexdigest()),
        ("train/metadata/0", "train", hashlib.sha256(jpeg("red")).hexdigest()),
    ]


def test_a_second_file_of_another_format_is_named_and_nothing_is_imported(editor: Client) -> None:
    files = [SimpleUploadedFile("a.jsonl", row("red", "red.jpg")), SimpleUploadedFile("b.csv", TABLE)]
    images = SimpleUploadedFile("all.zip", zipped(red=jpeg("red"), blue=jpeg("blue")))
    answer = editor.post(NEW, {"rows": files, "images": images})
    page = words_of(answer)
    assert answer.status_code == 409
    assert "b.csv does not look like jsonl, the format of a.jsonl." in page
    assert "Import files of different formats one after the other." in page
    assert not Import.objects.exists()


def test_tables_of_several_kinds_are_mapped_together(editor: Client) -> None:
    """A table of commas and one of JSON lines have the columns of both."""
    files = [
        SimpleUploadedFile("a.csv", TABLE),
        SimpleUploadedFile("b.jsonl", b'{"number": 7, "sentence": "A cube."}\n'),
    ]
    answer = editor.post(NEW, {"rows": files}, follow=True)
    assert {"number", "sentence", *AS_IN_TABLE} == {column["name"] for column in answer.context["columns"]}


def test_a_dataset_that_was_saved_to_disk_is_read_with_its_pictures(editor: Client) -> None:
    """A folder for each split with an Arrow file and a description of it."""
    upload = begin(editor)
    send(editor, upload, "rows", "dataset_dict.json", b'{"splits": ["train", "test"]}')
    for split, colour in (("train", "red"), ("test", "blue")):
        row = {"image": {"bytes": jpeg(colour), "path": None}, "text": f"A {colour} vase."}
        send(editor, upload, "rows", f"{split}/data-00000-of-00001.arrow", arrow_bytes([row, row]))
        send(editor, upload, "rows", f"{split}/state.json", b"{}")
    address = editor.post(NEW, {"upload": upload.split("/")[2]})["Location"]
    page = editor.get(address)
    assert page.context["files"] == ["data-00000-of-00001.parquet"] * 2
    assert page.content.decode().count('<img src="data:image/webp;base64,') == 2
    editor.post(address, columns({"image": "image:image", "text": "caption:caption"}) | {"at_once": "1"})
    work()
    assert Import.objects.get().error == ""
    assert sorted(Instance.objects.values_list("split", flat=True)) == ["test", "test", "train", "train"]


def test_a_damaged_arrow_file_is_named(editor: Client) -> None:
    answer = editor.post(NEW, {"rows": SimpleUploadedFile("data.arrow", b"\xff\xff\xff\xff broken")})
    assert answer.status_code == 409
    assert "data.arrow: It cannot be read as an Arrow file." in words_of(answer)


def test_an_arrow_file_that_is_too_large_is_refused(editor: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("studies.actions.imports.uploads.LARGEST_ARROW", 10)
    answer = editor.post(NEW, {"rows": SimpleUploadedFile("data.arrow", arrow_bytes([{"text": "A vase."}]))})
    assert "data.arrow is too large to be converted here." in words_of(answer)


def test_a_first_row_that_names_a_picture_may_be_no_header(editor: Client) -> None:
    address = upload(editor, b"7,red.jpg,A red vase.\n8,blue.jpg,A blue vase.\n")["Location"]
    assert "The first row was read as the names of the columns, and red.jpg looks like a file." in words_of(
        editor.get(address)
    )
    assert "looks like a file" not in words_of(editor.get(upload(editor)["Location"]))


TEN = "id,words," + ",".join(f"image_{n}" for n in range(1, 11))
SET = f"{TEN}\nkitchen,A red vase.,{','.join(['red.jpg'] * 9)},blue.jpg\n".encode()


def roles_of(page: Any) -> list[str]:
    return re.findall(r'name="role-\d+" value="([a-z_0-9]*)"', page.content.decode())[2:]


def test_ten_numbered_images_become_an_image_set(editor: Client) -> None:
    address = upload(editor, SET, "sets.csv")["Location"]
    page = editor.get(address)
    assert "image_1 … image_10</strong>: 10 images in a row. An image set, in this order, in the role set" in words_of(
        page
    )
    form = {"target-0": "key", "target-1": "caption", "role-1": "caption", "at_once": "1"}
    form |= {f"target-{n}": "image" for n in range(2, 12)} | {
        f"role-{n}": role for n, role in enumerate(roles_of(page), 2)
    }
    editor.post(address, form)
    work()
    images = Instance.objects.get().images.order_by("position")
    assert [(use.role, use.position) for use in images] == [("set", position) for position in range(10)]
    assert images[9].filename == "blue.jpg"


@pytest.mark.parametrize(
    ("way", "roles", "told"),
    [
        ("candidates", ["candidate"] * 10, "Images to choose from, called candidate-0 to candidate-9 in this order."),
        ("separately", [f"image_{n}" for n in range(1, 11)], "Images with their own roles"),
    ],
)
def test_a_button_changes_how_all_images_of_a_group_are_used(
    editor: Client, way: str, roles: list[str], told: str
) -> None:
    address = upload(editor, SET, "sets.csv")["Location"]
    page = editor.post(address, {"target-0": "key", "target-1": "other", "images_later": "on", "group": f"0:{way}"})
    assert page.status_code == 200
    assert roles_of(page) == roles
    assert told in words_of(page)
    # What else was chosen stays, and nothing is imported.
    assert chosen(page) == ["key", "other", *["image"] * 10]
    assert 'name="images_later" checked' in page.content.decode()
    assert not Import.objects.exists()
    back = editor.post(address, columns(dict.fromkeys(TEN.split(","), "other")) | {"group": "0:set"})
    assert roles_of(back) == ["set"] * 10


@pytest.mark.parametrize("group", ["", "7:set", "0:sets", "-1:set", "²:set", "set"])
def test_an_unknown_group_changes_nothing(editor: Client, group: str) -> None:
    address = upload(editor, SET, "sets.csv")["Location"]
    page = editor.post(address, columns(dict.fromkeys(TEN.split(","), "other")) | {"group": group})
    assert page.status_code == 200
    assert chosen(page) == ["other"] * 12
    assert "These are not all images." in words_of(page)


def test_a_missing_picture_does_not_take_a_column_out_of_its_group(editor: Client) -> None:
    rows = b"img_1,img_2,origin,words\nred.jpg,gone.jpg,elsewhere/1.jpg,A red vase.\n"
    assert chosen(editor.get(upload(editor, rows)["Location"])) == ["image", "image", "other", "caption"]
