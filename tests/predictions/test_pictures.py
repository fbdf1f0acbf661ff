"""Where a worker gets pictures from, and that it never looks at another one than it was told."""

import errno
import hashlib
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from io import BytesIO
from pathlib import Path
from threading import Thread

import pytest
from PIL import Image

from predictions.pictures import (
    PAUSES_SECONDS,
    CannotReadPictures,
    SourceUnavailable,
    _FromBucket,
    opener,
    reader_of,
)
from predictions.s3 import Account, headers_to_get
from predictions.scorers import NoPicture

TOKEN = "a long random text"


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """For how long somebody would have waited."""
    found: list[float] = []
    monkeypatch.setattr("predictions.pictures.time.sleep", found.append)
    return found


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


def test_a_folder_that_is_not_there_says_nothing_about_its_pictures(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match=r"cannot read the folder .* \(No such file.* Check that it is mounted"):
        open_in(str(tmp_path / "unmounted"), "a" * 64)


@pytest.mark.parametrize("number", [errno.EIO, errno.ESTALE, errno.EACCES])
def test_a_disk_that_fails_says_nothing_about_its_pictures(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = keep(tmp_path, picture())

    def fail(path: Path) -> bytes:
        raise OSError(number, "the disk")

    monkeypatch.setattr(Path, "read_bytes", fail)
    with pytest.raises(SourceUnavailable, match=r"\(the disk\)"):
        open_in(str(tmp_path), name)


def test_what_is_not_there_or_not_the_picture_is_told_in_a_sentence(tmp_path: Path) -> None:
    gone = "a" * 64
    (tmp_path / "images").mkdir()
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


@contextmanager
def serving(handler: type[BaseHTTPRequestHandler]) -> Iterator[str]:
    """Answer requests for the length of the block; yields the address."""
    server = ThreadingHTTPServer(("127.0.0.1", 0), handler)
    thread = Thread(target=server.serve_forever)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_port}"
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


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
                self.send_header("Location", "/elsewhere")
                self.end_headers()
            else:
                self.send_response(404)
                self.end_headers()

        def log_message(self, format: str, *args: object) -> None:
            pass

    with serving(Site) as address:
        yield address, asked


def test_the_site_gives_pictures_to_who_has_the_token_and_is_asked_again_when_it_is_busy(
    site: tuple[str, list[tuple[str, str]]],
) -> None:
    address, asked = site
    name = hashlib.sha256(picture()).hexdigest()
    assert open_in(f"{address}/", name, TOKEN).size == (8, 6)
    assert asked == [(f"/worker/images/{name}", f"Bearer {TOKEN}")] * 2


def answering(status: int, body: bytes = b"", *, asked: list[str] | None = None) -> type[BaseHTTPRequestHandler]:
    """Return what answers every request so, and notes what was asked."""

    class Answering(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if asked is not None:
                asked.append(self.path)
            self.send_response(status)
            self.end_headers()
            self.wfile.write(body)

        def log_message(self, format: str, *args: object) -> None:
            pass

    return Answering


@pytest.mark.parametrize("status", [404, 410])
def test_a_picture_is_missing_where_the_site_says_so(status: int, pauses: list[float]) -> None:
    with serving(answering(status)) as address, pytest.raises(NoPicture, match=rf"answered {status}\. Import the pict"):
        open_in(address, "c" * 64, TOKEN)
    assert pauses == []


@pytest.mark.parametrize("status", [401, 403])
def test_a_site_that_refuses_says_nothing_about_its_pictures(status: int, pauses: list[float]) -> None:
    with (
        serving(answering(status)) as address,
        pytest.raises(SourceUnavailable, match=rf"answered {status}\. Check the worker's LINEUP_WORKER_TOKEN"),
    ):
        open_in(address, "c" * 64, TOKEN)
    assert pauses == []


@pytest.mark.parametrize("status", [500, 502, 503, 504])
def test_a_site_that_is_down_is_tried_again_and_then_says_nothing_about_its_pictures(
    status: int, pauses: list[float]
) -> None:
    asked: list[str] = []
    with (
        serving(answering(status, asked=asked)) as address,
        pytest.raises(SourceUnavailable, match=rf"answered {status}\. Check that the site runs"),
    ):
        open_in(address, "c" * 64, TOKEN)
    assert (len(asked), pauses) == (len(PAUSES_SECONDS) + 1, list(PAUSES_SECONDS))


def test_a_site_that_does_not_answer_says_nothing_about_its_pictures(pauses: list[float]) -> None:
    with serving(answering(200)) as address:
        pass
    with pytest.raises(SourceUnavailable, match="did not answer"):
        open_in(address, "c" * 64, TOKEN)
    assert pauses == list(PAUSES_SECONDS)


DENIED = b"<Error><Code>AccessDenied</Code></Error>"


@pytest.mark.parametrize(
    ("status", "code", "missing"),
    [
        (404, b"<Error><Code>NoSuchKey</Code></Error>", True),
        (404, b"", True),
        (404, b"<Error><Code>NoSuchBucket</Code></Error>", False),
        (403, DENIED, False),
        (403, b"<Error><Code>SignatureDoesNotMatch</Code></Error>", False),
        (400, b"<Error><Code>ExpiredToken</Code></Error>", False),
        (503, b"<Error><Code>SlowDown</Code></Error>", False),
    ],
)
def test_a_picture_is_missing_where_the_bucket_says_so(status: int, code: bytes, missing: bool) -> None:
    with (
        serving(answering(status, code)) as address,
        pytest.raises(
            NoPicture if missing else SourceUnavailable, match=f"the bucket birds answered {status}|The buck"
        ),
    ):
        open_in_bucket("s3://birds/media", "c" * 64, replace(READER, endpoint=address))


def test_a_bucket_that_may_not_be_listed_denies_what_is_not_there(storage: str) -> None:
    """S3 answers 403 for a missing object to who may read and not list: known by what was read before."""
    name = hashlib.sha256(picture()).hexdigest()
    read = reader_of("s3://birds/media", token="", account=replace(READER, endpoint=storage))
    assert read(name) == picture()
    with serving(answering(403, DENIED)) as address:
        reader = read
        assert isinstance(reader, _FromBucket)
        reader.account = replace(READER, endpoint=address)
        with pytest.raises(NoPicture, match=r"answered 403 \(AccessDenied\)"):
            read("c" * 64)


def test_the_token_is_carried_nowhere_else(site: tuple[str, list[tuple[str, str]]]) -> None:
    address, asked = site
    with pytest.raises(SourceUnavailable, match="answered 302"):
        open_in(address, "b" * 64, TOKEN)
    assert [path for path, _ in asked] == [f"/worker/images/{'b' * 64}"]


READER = Account(key="AKIDREADER", secret="of the bucket", region="eu-west-1")


@pytest.fixture
def storage() -> Iterator[str]:
    """What speaks like S3 and has one picture in the bucket "birds", for who signs what it asks as the reader."""
    data = picture()
    name = hashlib.sha256(data).hexdigest()
    asked: list[str] = []

    class Storage(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            asked.append(self.path)
            at = datetime.strptime(self.headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
            # Of what arrived, not of what was meant.
            expected = headers_to_get(f"http://{self.headers['Host']}{self.path}", READER, at)["Authorization"]
            if self.headers["Authorization"] != expected or abs(datetime.now(UTC) - at) > timedelta(minutes=15):
                self.send_response(403)
                self.end_headers()
            elif self.path != f"/birds/media/images/{name[:2]}/{name}":
                self.send_response(404)
                self.end_headers()
            else:
                # Busy at first.
                self.send_response(200 if len(asked) > 1 else 503)
                self.end_headers()
                self.wfile.write(data)

        def log_message(self, format: str, *args: object) -> None:
            pass

    with serving(Storage) as address:
        yield address


def open_in_bucket(where: str, name: str, account: Account) -> Image.Image:
    return opener(reader_of(where, token="", account=account), max_pixels=1_000)(name)


@pytest.mark.parametrize("where", ["s3://birds/media", "s3://birds/media/"])
def test_a_bucket_gives_pictures_to_who_signs_and_is_asked_again_when_it_is_busy(storage: str, where: str) -> None:
    name = hashlib.sha256(picture()).hexdigest()
    assert open_in_bucket(where, name, replace(READER, endpoint=storage)).size == (8, 6)


def test_what_a_bucket_does_not_give_is_told_with_what_to_do(storage: str) -> None:
    name, reader = hashlib.sha256(picture()).hexdigest(), replace(READER, endpoint=storage)
    with pytest.raises(
        NoPicture, match=r"the bucket birds answered 404\. Copy the picture there, or check the worker's LINEUP_IMAGES"
    ):
        open_in_bucket("s3://birds/elsewhere", name, reader)
    with pytest.raises(SourceUnavailable, match=r"The bucket birds answered 403\. Check .* and what it has of AWS_"):
        open_in_bucket("s3://birds/media", name, replace(reader, secret="of another one"))
    with pytest.raises(CannotReadPictures, match="names no bucket"):
        reader_of("s3:///media", token="", account=reader)
