"""Somebody's own table and pictures, from a drop on the form to instances, in a real browser."""

import csv
import zipfile
from io import StringIO
from pathlib import Path

import pytest
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from background.models import Job
from studies.actions.imports.uploads import IMAGES, ROWS, received_bytes
from studies.models import Import, Instance, Upload
from tests.browser.stage import assert_no_wider_than_the_window, sign_in
from tests.browser.test_accessibility import assert_accessible
from tests.factories import make_member, make_project
from tests.jobs import run_now
from tests.studies.real_data import REAL_DATA, needs_real_data
from tests.workspace.views.test_uploads import jpeg

NEW = "/projects/vases/imports/new/"
PHOTOS = 6


@pytest.fixture
def signed_in(page: Page, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> Page:
    monkeypatch.setattr("workspace.views.projects.imports.send", lambda job: None)
    return sign_in(page, live_server.url, make_member(make_project(), "owner"))


def real_table(folder: Path) -> Path:
    """Return the first photos of the real list, with a caption made of where each comes from."""
    with (REAL_DATA / "images/photos.csv").open(encoding="utf-8", newline="") as lines:
        rows = [row for _, row in zip(range(PHOTOS), csv.DictReader(lines), strict=False)]
    out = StringIO()
    made = csv.DictWriter(out, [*rows[0], "words"], lineterminator="\n")
    made.writeheader()
    made.writerows(row | {"words": f"a photo of {row['path'].split('/')[1]}, from {row['repo']}"} for row in rows)
    file = folder / "photos.csv"
    file.write_text(out.getvalue(), encoding="utf-8")
    return file


def pictures(folder: Path) -> Path:
    file = folder / "photos.zip"
    with zipfile.ZipFile(file, "w") as made:
        for photo in sorted((REAL_DATA / "images/photos").iterdir())[: 2 * PHOTOS]:
            made.write(photo, f"photos/{photo.name}")
    return file


def drop(page: Page, *files: Path) -> None:
    """Drop files or folders onto the form, as somebody drags them there from a window of theirs."""
    page.locator("[data-dropped]").scroll_into_view_if_needed()
    data = {"items": [], "files": list(map(str, files)), "dragOperationsMask": 1}
    box = page.locator("[data-dropped]").locator("..").bounding_box()
    assert box is not None
    where = {"x": box["x"] + 20, "y": box["y"] + 10, "data": data}
    devtools = page.context.new_cdp_session(page)
    for event in ("dragEnter", "dragOver", "drop"):
        devtools.send("Input.dispatchDragEvent", {"type": event, **where})


def do_all_jobs() -> None:
    for job in Job.objects.filter(finished_at=None):
        assert run_now(job).error == ""


@needs_real_data
def test_a_table_and_a_zip_are_dropped_mapped_checked_and_imported(
    signed_in: Page, live_server: LiveServer, tmp_path: Path
) -> None:
    page = signed_in
    page.goto(f"{live_server.url}{NEW}")
    drop(page, real_table(tmp_path), pictures(tmp_path))
    expect(page.get_by_text("Dropped: photos.csv, photos.zip.")).to_be_visible()
    page.get_by_role("button", name="Upload and check").click()
    page.wait_for_url("**/mapping/**")
    expect(page.locator(".cells img")).to_have_count(5)
    assert_accessible(page)
    assert_no_wider_than_the_window(page)
    # Two columns cannot be the same thing.
    page.get_by_role("group", name="repo", exact=True).get_by_label("Used as").select_option("licence")
    page.get_by_role("button", name="Check").click()
    told = page.get_by_role("group", name="licence", exact=True).locator(".error")
    expect(told).to_contain_text("The column 'repo' is also the licence of the images.")
    page.get_by_role("group", name="repo", exact=True).get_by_label("Used as").select_option("source")
    page.get_by_role("radio", name="One tidy sentence").check()
    page.get_by_role("button", name="Check").click()
    page.wait_for_url("**/projects/vases/imports/")
    do_all_jobs()
    page.reload()
    page.get_by_role("button", name="Import it now").click()
    do_all_jobs()
    assert Import.objects.count() == 2
    first = Instance.objects.order_by("source_row")[0]
    assert first.captions == {"words": "A photo of backpack, from google/dreambooth."}
    (use,) = first.images.all()
    assert (use.role, use.source, use.licence[:9]) == ("image", "google/dreambooth", "CC-BY-4.0")
    assert Instance.objects.count() == PHOTOS


def test_a_dropped_folder_is_told_apart_into_rows_and_images(
    signed_in: Page, live_server: LiveServer, tmp_path: Path
) -> None:
    """As a Hugging Face dataset lies on somebody's disk; of other files nothing is sent."""
    folder = tmp_path / "dataset"
    (folder / "train").mkdir(parents=True)
    (folder / "train" / "metadata.csv").write_text("file_name,text\n1.jpg,A red vase.\n", encoding="utf-8")
    (folder / "train" / "1.jpg").write_bytes(jpeg("red"))
    for name in ("README.md", "dataset_infos.json", ".gitattributes"):
        (folder / name).write_text("{}", encoding="utf-8")
    signed_in.goto(f"{live_server.url}{NEW}")
    drop(signed_in, folder)
    expect(signed_in.get_by_text("Dropped: train/metadata.csv, train/1.jpg.")).to_be_visible()
    signed_in.get_by_role("button", name="Upload and check").click()
    signed_in.wait_for_url("**/mapping/**")
    expect(signed_in.get_by_role("img", name="train/1.jpg")).to_be_visible()
    upload = Upload.objects.get()
    assert received_bytes(upload, ROWS).keys() == {"train/metadata.csv"}
    assert received_bytes(upload, IMAGES).keys() == {"train/1.jpg"}


def test_of_several_tables_in_a_folder_somebody_says_which_have_the_rows(
    signed_in: Page, live_server: LiveServer, tmp_path: Path
) -> None:
    folder = tmp_path / "dataset"
    folder.mkdir()
    (folder / "metadata.csv").write_text("file_name,text\n1.jpg,A red vase.\n", encoding="utf-8")
    (folder / "pairs.json").write_text('[{"file_name": "1.jpg", "words": "A vase."}]', encoding="utf-8")
    (folder / "1.jpg").write_bytes(jpeg("red"))
    signed_in.goto(f"{live_server.url}{NEW}")
    drop(signed_in, folder)
    found = signed_in.get_by_role("group", name="Tables in what you chose. Tick those with your rows.")
    expect(found.get_by_label("metadata.csv")).to_be_checked()
    expect(found.get_by_label("pairs.json")).not_to_be_checked()
    assert_accessible(signed_in)
    assert_no_wider_than_the_window(signed_in)
    found.get_by_label("metadata.csv").focus()
    signed_in.keyboard.press("Space")
    signed_in.keyboard.press("Tab")
    signed_in.keyboard.press("Space")
    signed_in.get_by_role("button", name="Upload and check").click()
    signed_in.wait_for_url("**/mapping/**")
    assert received_bytes(Upload.objects.get(), ROWS).keys() == {"pairs.json"}


def test_tables_among_the_images_of_a_folder_are_shown_and_left_out_beside_a_chosen_one(
    signed_in: Page, live_server: LiveServer, tmp_path: Path
) -> None:
    folder, rows = tmp_path / "images", tmp_path / "rows.csv"
    folder.mkdir()
    for table in (folder / "old.csv", rows):
        table.write_text("file,text\n1.jpg,A red vase.\n", encoding="utf-8")
    (folder / "1.jpg").write_bytes(jpeg("red"))
    signed_in.goto(f"{live_server.url}{NEW}")
    signed_in.set_input_files("#folder", folder)
    # The only table is taken, and there is nothing to choose.
    expect(signed_in.locator("[data-tables]")).to_be_hidden()
    signed_in.set_input_files("#rows", rows)
    expect(signed_in.locator("[data-tables]").get_by_label("old.csv")).not_to_be_checked()
    signed_in.get_by_role("button", name="Upload and check").click()
    signed_in.wait_for_url("**/mapping/**")
    assert received_bytes(Upload.objects.get(), ROWS).keys() == {"rows.csv"}


def test_a_dropped_file_that_cannot_be_imported_is_told(
    signed_in: Page, live_server: LiveServer, tmp_path: Path
) -> None:
    (tmp_path / "notes.docx").write_bytes(b"PK")
    signed_in.goto(f"{live_server.url}{NEW}")
    drop(signed_in, tmp_path / "notes.docx")
    expect(signed_in.get_by_text("None of these files can be imported.")).to_be_visible()
    signed_in.get_by_role("button", name="Upload and check").click()
    expect(signed_in.get_by_role("alert")).to_contain_text("You chose no files.")
    assert not Upload.objects.exists()


def test_names_of_200_letters_in_any_script_stay_within_the_window(
    signed_in: Page, live_server: LiveServer, tmp_path: Path
) -> None:
    columns = ["key", "text", *(letter * 200 for letter in "x字ع😀")]
    file = tmp_path / f"{'a' * 200}.csv"
    file.write_text(f"{','.join(columns)}\none,A red vase.,{','.join(['y' * 500] * 4)}\n", encoding="utf-8")
    signed_in.goto(f"{live_server.url}{NEW}")
    signed_in.set_input_files("#rows", file)
    signed_in.get_by_role("button", name="Upload and check").click()
    signed_in.wait_for_url("**/mapping/**")
    assert_no_wider_than_the_window(signed_in)
    signed_in.get_by_role("button", name="Check", exact=True).click()
    signed_in.wait_for_url("**/projects/vases/imports/")
    do_all_jobs()
    signed_in.reload()
    signed_in.get_by_text("Columns", exact=True).click()
    assert_no_wider_than_the_window(signed_in)
