"""An import sent from a real browser over a line that breaks; and how the pages for members and new things look."""

import random
import zipfile
from io import BytesIO
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from playwright.sync_api import FilePayload, Page, Request, Route, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from studies.actions.imports.uploads import IMAGES, ROWS, folder_of, received_bytes, rows_of
from studies.models import Import, Membership, Upload
from tests.browser.stage import assert_no_wider_than_the_window, hurry, sign_in
from tests.browser.test_accessibility import assert_accessible
from tests.factories import PASSWORD, make_member, make_person, make_project
from tests.workspace.views.test_uploads import jpeg, row, work

NEW = "/projects/vases/imports/new/"


@pytest.fixture
def signed_in(page: Page, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> Page:
    monkeypatch.setattr("workspace.views.projects.imports.send", lambda job: None)
    return sign_in(page, live_server.url, make_member(make_project(), "owner"))


def large_zip() -> bytes:
    """Return an archive of more than one piece that a second packing would make no smaller."""
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("1.jpg", jpeg("red"))
        made.writestr("noise.bin", random.Random(1).randbytes(400_000))
    return out.getvalue()


def choose(page: Page, rows: bytes, images: bytes) -> None:
    page.get_by_label("Format", exact=True).select_option("jsonl")
    page.set_input_files("#rows", FilePayload(name="vases.jsonl", mimeType="text/plain", buffer=rows))
    page.set_input_files("#images", FilePayload(name="some.zip", mimeType="application/zip", buffer=images))


class Weather:
    """Of four pieces one arrives, one is lost on its way, one arrives and its reply is lost, and one meets a 502."""

    def __init__(self) -> None:
        self.pieces = 0

    def __call__(self, route: Route, request: Request) -> None:
        if request.method != "POST":
            route.continue_()
            return
        self.pieces += 1
        if self.pieces % 4 == 1:
            route.continue_()
        elif self.pieces % 4 == 2:
            route.abort()
        elif self.pieces % 4 == 3:
            route.fetch()
            route.abort()
        else:
            route.fulfill(status=502, body="Bad gateway")


def test_a_line_that_breaks_costs_nothing(signed_in: Page, live_server: LiveServer) -> None:
    rows, images, weather = row("red", "1.jpg"), large_zip(), Weather()
    hurry(signed_in)
    signed_in.route("**/uploads/**", weather)
    signed_in.goto(f"{live_server.url}{NEW}")
    choose(signed_in, rows, images)
    signed_in.get_by_role("button", name="Upload and check").click()
    signed_in.wait_for_url("**/projects/vases/imports/", timeout=60_000)
    assert weather.pieces > 8
    upload = Upload.objects.get()
    assert (folder_of(upload, ROWS) / "vases.jsonl").read_bytes() == rows
    assert (folder_of(upload, IMAGES) / "some.zip").read_bytes() == images
    wanted = Import.objects.get()
    assert (wanted.upload, wanted.format, wanted.dry_run) == (upload, "jsonl", True)


def choose_files(page: Page, *files: Path) -> None:
    """Choose files on a disk, which keep their times: the first holds the rows, the others the images."""
    page.get_by_label("Format", exact=True).select_option("jsonl")
    page.set_input_files("#rows", files[0])
    page.set_input_files("#images", files[1:])


def break_off(page: Page, address: str, files: list[Path]) -> None:
    """Send files until the table is there and the line breaks, then load the page again."""
    page.route("**/uploads/*/images/?*", lambda route: route.abort())
    page.goto(address)
    choose_files(page, *files)
    with page.expect_response("**/uploads/*/rows/?*"):
        page.get_by_role("button", name="Upload and check").click()
    expect(page.get_by_role("status")).to_contain_text("The connection was lost.")
    page.goto(address)
    page.unroute("**/uploads/*/images/?*")


@pytest.mark.parametrize("name", ["right.jsonl", "wrong.jsonl"])
def test_other_files_after_a_break_come_without_the_first(
    signed_in: Page, live_server: LiveServer, tmp_path: Path, name: str
) -> None:
    """Neither beside them nor, where a file was mended, as its beginning."""
    wrong, images = tmp_path / "wrong.jsonl", tmp_path / "1.jpg"
    wrong.write_bytes(row("wrong", "1.jpg"))
    images.write_bytes(jpeg("red"))
    break_off(signed_in, f"{live_server.url}{NEW}", [wrong, images])
    mended = row("right", "1.jpg") + row("another", "1.jpg")
    (tmp_path / name).write_bytes(mended)
    choose_files(signed_in, tmp_path / name, images)
    signed_in.get_by_role("button", name="Upload and check").click()
    signed_in.wait_for_url("**/projects/vases/imports/")
    upload = Import.objects.get().upload
    assert upload is not None
    (table,) = rows_of(upload)
    assert (table.name, table.read_bytes()) == (name, mended)


def test_a_file_that_changed_since_it_was_chosen_is_told_and_chosen_again(
    signed_in: Page, live_server: LiveServer, tmp_path: Path
) -> None:
    rows, photo = tmp_path / "vases.jsonl", tmp_path / "1.jpg"
    rows.write_bytes(row("red", "1.jpg"))
    photo.write_bytes(jpeg("red"))
    signed_in.goto(f"{live_server.url}{NEW}")
    choose_files(signed_in, rows, photo)
    rows.write_bytes(row("red", "1.jpg") + row("blue", "1.jpg"))
    signed_in.get_by_role("button", name="Upload and check").click()
    expect(signed_in.get_by_role("status")).to_have_text(
        "vases.jsonl cannot be read: it was changed, moved or deleted since you chose it. Choose it again."
    )
    choose_files(signed_in, rows, photo)
    signed_in.get_by_role("button", name="Upload and check").click()
    signed_in.wait_for_url("**/projects/vases/imports/")


def test_whoever_was_signed_out_signs_in_elsewhere_and_goes_on_with_the_files_chosen(
    signed_in: Page, live_server: LiveServer, tmp_path: Path
) -> None:
    rows, photo = tmp_path / "vases.jsonl", tmp_path / "1.jpg"
    rows.write_bytes(row("red", "1.jpg"))
    photo.write_bytes(jpeg("red"))
    signed_in.goto(f"{live_server.url}{NEW}")
    choose_files(signed_in, rows, photo)
    signed_in.get_by_label("Images come later").check()
    signed_in.context.clear_cookies()
    signed_in.get_by_role("button", name="Upload and check").click()
    told = signed_in.get_by_role("alert")
    expect(told).to_contain_text("You may be signed out. Sign in in a new tab, then press the button again.")
    signed_in.get_by_role("button", name="Upload and check").click()
    expect(told).to_contain_text("Your files and entries stay here.")
    with signed_in.context.expect_page() as opened:
        told.get_by_role("link", name="Sign in in a new tab").click()
    other = opened.value
    other.get_by_label("Name").fill(User.objects.get().username)
    other.get_by_label("Password").fill(PASSWORD)
    other.keyboard.press("Enter")
    other.get_by_role("heading", name="New import").wait_for()
    other.close()
    signed_in.get_by_role("button", name="Upload and check").click()
    signed_in.wait_for_url("**/projects/vases/imports/")
    made = Import.objects.get()
    assert made.images_later
    assert made.upload is not None
    assert received_bytes(made.upload, IMAGES) == {"1.jpg": photo.stat().st_size}


def test_two_files_of_one_name_are_not_mixed(signed_in: Page, live_server: LiveServer, tmp_path: Path) -> None:
    rows, photo, folder = tmp_path / "vases.jsonl", tmp_path / "1.jpg", tmp_path / "set"
    folder.mkdir()
    rows.write_bytes(row("red", "1.jpg"))
    for file in (photo, folder / "1.jpg"):
        file.write_bytes(jpeg("red"))
    signed_in.goto(f"{live_server.url}{NEW}")
    choose_files(signed_in, rows, photo)
    signed_in.set_input_files("#folder", folder)
    signed_in.get_by_role("button", name="Upload and check").click()
    expect(signed_in.get_by_role("status")).to_have_text("Two files are called 1.jpg. Choose one of them.")
    assert not Upload.objects.exists()


def test_a_smaller_choice_after_a_refusal_comes_without_the_first(
    signed_in: Page, live_server: LiveServer, settings: Settings, tmp_path: Path
) -> None:
    settings.UPLOAD_MAX_BYTES = 100_000
    rows, large, small = tmp_path / "vases.jsonl", tmp_path / "large.zip", tmp_path / "small.jpg"
    rows.write_bytes(row("red", "small.jpg"))
    large.write_bytes(large_zip())
    small.write_bytes(jpeg("red"))
    signed_in.goto(f"{live_server.url}{NEW}")
    choose_files(signed_in, rows, large)
    signed_in.get_by_role("button", name="Upload and check").click()
    expect(signed_in.get_by_role("status")).to_contain_text("An upload can have at most 100,000 bytes.")
    choose_files(signed_in, rows, small)
    signed_in.get_by_role("button", name="Upload and check").click()
    signed_in.wait_for_url("**/projects/vases/imports/")
    upload = Import.objects.get().upload
    assert upload is not None
    assert received_bytes(upload, IMAGES) == {"small.jpg": small.stat().st_size}


def test_after_a_reload_only_what_is_missing_is_sent(signed_in: Page, live_server: LiveServer, tmp_path: Path) -> None:
    rows, images = tmp_path / "vases.jsonl", tmp_path / "some.zip"
    rows.write_bytes(row("red", "1.jpg"))
    images.write_bytes(large_zip())
    signed_in.goto(f"{live_server.url}{NEW}")
    # Half of it comes through, then nothing.
    sent: list[int] = []

    def half(route: Route, request: Request) -> None:
        if sum(sent) > images.stat().st_size / 2:
            route.abort()
        else:
            sent.append(len(request.post_data_buffer or b""))
            route.continue_()

    signed_in.route("**/uploads/*/*/?*", half)
    choose_files(signed_in, rows, images)
    signed_in.get_by_role("button", name="Upload and import").click()
    expect(signed_in.get_by_role("status")).to_contain_text(
        "The connection was lost. The upload continues automatically."
    )
    # First, or what the line held up goes on before the page is left.
    signed_in.goto(f"{live_server.url}{NEW}")
    signed_in.unroute("**/uploads/*/*/?*")
    again: list[int] = []
    signed_in.on("request", lambda request: again.append(len(request.post_data_buffer or b"")))
    choose_files(signed_in, rows, images)
    signed_in.get_by_role("button", name="Upload and import").click()
    signed_in.wait_for_url("**/projects/vases/imports/", timeout=60_000)
    assert Import.objects.get().dry_run is False
    assert (folder_of(Upload.objects.get(), IMAGES) / "some.zip").read_bytes() == images.read_bytes()
    assert sum(again) < images.stat().st_size * 0.75


def test_what_the_server_refuses_is_told_and_can_be_mended(
    signed_in: Page, live_server: LiveServer, settings: Settings
) -> None:
    settings.UPLOAD_MAX_BYTES = 1000
    signed_in.goto(f"{live_server.url}{NEW}")
    choose(signed_in, row("red", "1.jpg"), large_zip())
    signed_in.get_by_role("button", name="Upload and check").click()
    expect(signed_in.get_by_role("status")).to_have_text(
        "An upload can have at most 1,000 bytes. Send less, or import on the server."
    )
    expect(signed_in.get_by_role("button", name="Upload and check")).to_be_enabled()
    settings.UPLOAD_MAX_BYTES = 10**9
    signed_in.get_by_role("button", name="Upload and check").click()
    signed_in.wait_for_url("**/projects/vases/imports/", timeout=60_000)


def test_images_without_rows_are_not_sent_and_stay_chosen(signed_in: Page, live_server: LiveServer) -> None:
    signed_in.goto(f"{live_server.url}{NEW}")
    signed_in.get_by_role("button", name="Upload and check").click()
    expect(signed_in.get_by_role("alert")).to_contain_text("You chose no files.")
    images = FilePayload(name="some.zip", mimeType="application/zip", buffer=large_zip())
    signed_in.set_input_files("#images", images)
    signed_in.get_by_role("button", name="Upload and check").click()
    expect(signed_in.get_by_role("alert")).to_contain_text("You chose images, but no data file.")
    expect(signed_in.get_by_role("alert")).to_be_focused()
    assert not Upload.objects.exists()
    assert signed_in.locator("#images").evaluate("field => field.files.length") == 1
    # A zip that contains a table needs no other file.
    out = BytesIO()
    with zipfile.ZipFile(out, "w") as made:
        made.writestr("1.jpg", jpeg("red"))
        made.writestr("rows.jsonl", row("red", "1.jpg"))
    both = FilePayload(name="both.zip", mimeType="application/zip", buffer=out.getvalue())
    signed_in.set_input_files("#images", both)
    signed_in.get_by_role("button", name="Upload and check").click()
    signed_in.wait_for_url("**/projects/vases/imports/")


def test_images_are_added_to_a_failed_import(signed_in: Page, live_server: LiveServer) -> None:
    signed_in.goto(f"{live_server.url}{NEW}")
    signed_in.get_by_label("Format", exact=True).select_option("jsonl")
    rows = FilePayload(name="vases.jsonl", mimeType="text/plain", buffer=row("red", "1.jpg"))
    signed_in.set_input_files("#rows", rows)
    signed_in.get_by_role("button", name="Upload and check").click()
    signed_in.wait_for_url("**/projects/vases/imports/")
    work()
    signed_in.reload()
    signed_in.get_by_role("link", name="Add images").click()
    assert_accessible(signed_in)
    signed_in.get_by_role("button", name="Upload and check").click()
    expect(signed_in.get_by_role("alert")).to_contain_text("You chose no images.")
    images = FilePayload(name="some.zip", mimeType="application/zip", buffer=large_zip())
    signed_in.set_input_files("#images", images)
    signed_in.get_by_role("button", name="Upload and check").click()
    signed_in.wait_for_url("**/projects/vases/imports/")
    assert received_bytes(Upload.objects.get(), IMAGES).keys() == {"some.zip"}
    work()
    assert [wanted.error for wanted in Import.objects.order_by("pk")][-1] == ""


def test_what_is_refused_stays_told_while_another_file_arrives(
    signed_in: Page, live_server: LiveServer, settings: Settings
) -> None:
    settings.UPLOAD_MAX_BYTES = 1000
    arriving: list[Route] = []
    signed_in.route("**/uploads/*/rows/?*", lambda route: arriving.append(route))
    signed_in.goto(f"{live_server.url}{NEW}")
    choose(signed_in, row("red", "1.jpg"), large_zip())
    signed_in.get_by_role("button", name="Upload and check").click()
    told = signed_in.get_by_role("status")
    expect(told).to_contain_text("An upload can have at most 1,000 bytes.")
    with signed_in.expect_response("**/uploads/*/rows/?*"):
        arriving.pop().continue_()
    # Long enough for the page to have heard of it.
    signed_in.evaluate("() => new Promise((resolve) => setTimeout(resolve, 300))")
    expect(told).to_contain_text("An upload can have at most 1,000 bytes.")


def test_the_pages_for_members_and_new_things_are_accessible_and_as_wide_as_the_window(
    signed_in: Page, live_server: LiveServer
) -> None:
    make_member(make_project(), "viewer")
    other = Membership.objects.get(role="viewer").pk
    members = "/projects/vases/members/"
    for address in ("/", "/new-project/", members, f"{members}{other}/remove/", "/projects/vases/new-study/", NEW):
        signed_in.set_viewport_size({"width": 360, "height": 640})
        signed_in.goto(f"{live_server.url}{address}")
        assert signed_in.evaluate("document.documentElement.scrollWidth") <= 360, address
        assert_no_wider_than_the_window(signed_in)
        assert_accessible(signed_in)


def test_somebody_joins_by_keyboard_alone(signed_in: Page, live_server: LiveServer) -> None:
    make_person("benat")
    signed_in.goto(f"{live_server.url}/projects/vases/members/")
    signed_in.get_by_label("For (a note for you)").focus()
    signed_in.keyboard.type("Amaia")
    for _ in range(3):
        signed_in.keyboard.press("Tab")
    signed_in.keyboard.press("Enter")
    link = signed_in.get_by_label("Link for Amaia").input_value()
    signed_in.context.clear_cookies()
    signed_in.goto(f"{live_server.url}/invitations/{link.rstrip('/').rpartition('/')[2]}/")
    expect(signed_in.get_by_label("Name to sign in with")).to_be_focused()
    signed_in.keyboard.type("amaia")
    for typed in ("Amaia", "", "a long password", "a long password"):
        signed_in.keyboard.press("Tab")
        signed_in.keyboard.type(typed)
    signed_in.keyboard.press("Enter")
    expect(signed_in.get_by_text("You are a member of Vases now.")).to_be_visible()
    assert Membership.objects.get(user__username="amaia").role == "editor"
