"""Where a worker gets pictures from, and that it never looks at another one than it was told."""

import hashlib
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import Thread

import pytest
from PIL import Image

from predictions.pictures import CannotReadPictures, opener, reader_of
from predictions.scorers import NoPicture

TOKEN = "a long random text"


def picture(colour: str = "red", orientation: int = 1) -> bytes:
    out, exif = BytesIO(), Image.Exif()
    exif[0x0112] = orientation
    Image.new("RGB", (8, 6), colour).save(out, "JPEG", exif=exif)
    return out.getvalue()


def keep(folder: Path, data: bytes, sha256: str = "") -> str:
    """Store bytes as the site does, under their own SHA-256 or a wrong one."""
    name = sha256 or hashlib.sha256(data).hexdigest()
    file = folder / "images" / name[:2] / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return name


def open_in(where: str, name: str, token: str = "") -> Image.Image:
    return opener(reader_of(where, token=token), max_pixels=1_000)(name)


def test_a_picture_of_the_folder_is_seen_upright(tmp_path: Path) -> None:
    name = keep(tmp_path, picture(orientation=6))
    image = open_in(str(tmp_path), name)
    assert (image.size, image.mode) == ((6, 8), "RGB")


def test_what_is_not_there_or_not_the_picture_is_told_in_a_sentence(tmp_path: Path) -> None:
    gone = "a" * 64
    with pytest.raises(NoPicture, match=r"The picture aaaaaaaaaaaa cannot be read on the worker \(No such file"):
        open_in(str(tmp_path), gone)
    keep(tmp_path, picture("blue"), gone)
    with pytest.raises(NoPicture, match="has other bytes than those imported"):
        open_in(str(tmp_path), gone)
    with pytest.raises(NoPicture, match="cannot be used: The file is not an image"):
        open_in(str(tmp_path), keep(tmp_path, b"no picture"))
    out = BytesIO()
    Image.new("RGB", (100, 11)).save(out, "PNG")
    with pytest.raises(NoPicture, match="more than the 1,000 that are allowed"):
        open_in(str(tmp_path), keep(tmp_path, out.getvalue()))


@pytest.mark.parametrize("name", ["../../etc/passwd", "A" * 64, "a" * 63, "", "a" * 64 + "/x"])
def test_what_is_no_sha256_is_never_looked_for(tmp_path: Path, name: str) -> None:
    with pytest.raises(NoPicture, match="is no SHA-256 of a picture"):
        open_in(str(tmp_path), name)


def test_a_place_that_cannot_be_meant_is_refused() -> None:
    with pytest.raises(CannotReadPictures, match="gives pictures to nobody without a token"):
        reader_of("https://lineup.example", token="")
    with pytest.raises(CannotReadPictures, match="LINEUP_IMAGES is 'gopher://x'"):
        reader_of("gopher://x", token=TOKEN)


@pytest.fixture
def site() -> Iterator[tuple[str, list[tuple[str, str]]]]:
    """A site that has one picture, is tired at first, and sends whoever asks for 'b...' elsewhere; and who asked."""
    asked: list[tuple[str, str]] = []
    data = picture()
    own = f"/worker/images/{hashlib.sha256(data).hexdigest()}"

    class Site(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append((self.path, self.headers.get("Authorization", "")))
            if self.path == own and len(asked) == 1:
                self.send_response(503)
                self.end_headers()
            elif self.path == own:
                self.send_response(200)
                self.end_headers()
                self.wfile.write(data)
            elif self.path.startswith("/worker/images/b"):
                self.send_response(302)
                self.send_header("Location", f"http://127.0.0.1:{server.server_port}/elsewhere")
                self.end_headers()
            else:
                self.send_response(404)
                self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Site)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}", asked
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def test_the_site_gives_pictures_to_who_has_the_token_and_is_asked_again_when_it_is_busy(
    site: tuple[str, list[tuple[str, str]]],
) -> None:
    address, asked = site
    name = hashlib.sha256(picture()).hexdigest()
    assert open_in(f"{address}/", name, TOKEN).size == (8, 6)
    assert asked == [(f"/worker/images/{name}", f"Bearer {TOKEN}")] * 2


def test_what_the_site_does_not_give_is_told_with_what_to_do(site: tuple[str, list[tuple[str, str]]]) -> None:
    address, asked = site
    with pytest.raises(NoPicture, match=r"answered 404\. Check the worker's LINEUP_IMAGES and LINEUP_WORKER_TOKEN"):
        open_in(address, "c" * 64, TOKEN)
    assert len(asked) == 1


def test_the_token_is_carried_nowhere_else(site: tuple[str, list[tuple[str, str]]]) -> None:
    address, asked = site
    with pytest.raises(NoPicture, match="answered 302"):
        open_in(address, "b" * 64, TOKEN)
    assert [path for path, _ in asked] == [f"/worker/images/{'b' * 64}"]
