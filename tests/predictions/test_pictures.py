"""Where a worker gets pictures from, and that it never looks at another one than it was told."""

import errno
import hashlib
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from http.server import BaseHTTPRequestHandler
from io import BytesIO
from pathlib import Path

import pytest
from PIL import Image

from predictions.pictures import PAUSES_SECONDS, CannotReadPictures, Pictures, SourceUnavailable, reader_of
from predictions.s3 import Account, headers_to_get
from predictions.scorers import NoPicture
from tests.certificates import with_certificate
from tests.receivers import Answer, Receiver, Request, answer_with, receiving

TOKEN = "a long random text"
READER = Account(key="AKIDREADER", secret="of the bucket", region="eu-west-1")
DENIED = b"<Error><Code>AccessDenied</Code></Error>"


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


DATA = picture()
NAME = hashlib.sha256(DATA).hexdigest()


def keep(folder: Path, data: bytes, sha256: str = "") -> str:
    """Store bytes as the site does, under their own SHA-256 or a wrong one."""
    name = sha256 or hashlib.sha256(data).hexdigest()
    file = folder / "images" / name[:2] / name
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_bytes(data)
    return name


def open_in(where: str, name: str, token: str = "", account: Account | None = None) -> Image.Image:
    return Pictures(reader_of(where, token=token, account=account), max_pixels=1_000)(name)


def address_of(server: Receiver) -> str:
    return f"http://127.0.0.1:{server.port}"


def busy_at_first(path: str) -> Answer:
    """Give the picture at `path` from the second request on; there is nothing else."""
    answers = iter([answer_with(503)])

    def answer(handler: BaseHTTPRequestHandler, request: Request) -> None:
        given = answer_with(404) if request.path != path else next(answers, answer_with(200, DATA))
        given(handler, request)

    return answer


def test_a_picture_of_the_folder_is_seen_upright(tmp_path: Path) -> None:
    name = keep(tmp_path, picture(orientation=6))
    image = open_in(str(tmp_path), name)
    assert (image.size, image.mode) == ((6, 8), "RGB")


def test_a_folder_that_is_not_there_says_nothing_about_its_pictures(tmp_path: Path) -> None:
    with pytest.raises(SourceUnavailable, match=r"cannot read the folder .* \(No such file.* Check that it is mounted"):
        open_in(str(tmp_path / "unmounted"), "a" * 64)


@pytest.mark.parametrize("number", [errno.EIO, errno.EACCES])
def test_a_disk_that_fails_says_nothing_about_its_pictures(
    number: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    name = keep(tmp_path, DATA)

    def fail(path: Path) -> bytes:
        raise OSError(number, "the disk")

    monkeypatch.setattr(Path, "read_bytes", fail)
    with pytest.raises(SourceUnavailable, match=r"\(the disk\)"):
        open_in(str(tmp_path), name)


def test_what_is_not_there_or_not_the_picture_is_told_in_a_sentence(tmp_path: Path) -> None:
    gone = "a" * 64
    (tmp_path / "images").mkdir()
    with pytest.raises(NoPicture, match=r"The image aaaaaaaaaaaa cannot be read on the worker \(No such file"):
        open_in(str(tmp_path), gone)
    keep(tmp_path, picture("blue"), gone)
    with pytest.raises(NoPicture, match="has other bytes than those imported"):
        open_in(str(tmp_path), gone)
    with pytest.raises(NoPicture, match="cannot be used: The file cannot be read as an image"):
        open_in(str(tmp_path), keep(tmp_path, b"no picture"))
    out = BytesIO()
    Image.new("RGB", (100, 11)).save(out, "PNG")
    with pytest.raises(NoPicture, match="more than the 1,000 that are allowed"):
        open_in(str(tmp_path), keep(tmp_path, out.getvalue()))


@pytest.mark.parametrize("name", ["../../etc/passwd", "A" * 64, "a" * 63, "", "a" * 64 + "/x"])
def test_what_is_no_sha256_is_never_looked_for(tmp_path: Path, name: str) -> None:
    with pytest.raises(NoPicture, match="is not the SHA-256 of an image"):
        open_in(str(tmp_path), name)


@pytest.mark.parametrize(
    ("where", "token", "sentence"),
    [
        ("https://lineup.example", "", "which requires a token"),
        ("gopher://x", TOKEN, "LINEUP_IMAGES is 'gopher://x'"),
        ("s3:///media", "", "names no bucket"),
    ],
)
def test_a_place_that_cannot_be_meant_is_refused(where: str, token: str, sentence: str) -> None:
    with pytest.raises(CannotReadPictures, match=sentence):
        reader_of(where, token=token)


def test_the_site_gives_pictures_to_who_has_the_token_and_is_asked_again_when_it_is_busy() -> None:
    path = f"/worker/images/{NAME}"
    with receiving(busy_at_first(path)) as site:
        assert open_in(f"{address_of(site)}/", NAME, TOKEN).size == (8, 6)
    assert [(each.path, each.headers["authorization"]) for each in site.requests] == [(path, f"Bearer {TOKEN}")] * 2


NOT_THERE, DOWN = "Import the image", "Check that the site runs"


@pytest.mark.parametrize(
    ("status", "error", "advice"),
    [
        *((status, NoPicture, NOT_THERE) for status in (404, 410)),
        *((status, SourceUnavailable, "Check the worker's LINEUP_WORKER_TOKEN") for status in (401, 403)),
        # The token is carried nowhere else.
        (302, SourceUnavailable, DOWN),
        *((status, SourceUnavailable, DOWN) for status in (500, 503, 504)),
    ],
)
def test_only_what_the_site_says_of_a_picture_is_about_it(
    status: int, error: type[Exception], advice: str, pauses: list[float]
) -> None:
    with (
        receiving(answer_with(status, Location="/elsewhere")) as site,
        pytest.raises(error, match=rf"answered {status}\. {advice}"),
    ):
        open_in(address_of(site), "c" * 64, TOKEN)
    assert {each.path for each in site.requests} == {f"/worker/images/{'c' * 64}"}
    assert pauses == (list(PAUSES_SECONDS) if status >= 500 else [])
    assert len(site.requests) == len(pauses) + 1


def test_a_site_that_does_not_answer_says_nothing_about_its_pictures(pauses: list[float]) -> None:
    with receiving(answer_with(200)) as site:
        pass
    with pytest.raises(SourceUnavailable, match="did not answer"):
        open_in(address_of(site), "c" * 64, TOKEN)
    assert pauses == list(PAUSES_SECONDS)


def test_a_source_whose_certificate_is_not_trusted_is_told_with_what_to_do(
    tmp_path: Path, pauses: list[float], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.delenv("SSL_CERT_FILE", raising=False)
    advice = (
        "has a certificate that this worker does not trust (self-signed certificate). Renew the server's "
        "certificate, or set SSL_CERT_FILE where the worker runs to a file with the certificate of its issuer."
    )
    with receiving(answer_with(200), with_certificate(tmp_path, "localhost")) as server:
        address = f"https://localhost:{server.port}"
        with pytest.raises(SourceUnavailable) as site:
            open_in(address, "c" * 64, TOKEN)
        with pytest.raises(SourceUnavailable) as bucket:
            reader_of("s3://some", token="", account=replace(READER, endpoint=address))("c" * 64)
    assert (str(site.value), str(bucket.value)) == (f"{address} {advice}", f"The bucket some {advice}")
    assert pauses == []


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
    error = NoPicture if missing else SourceUnavailable
    with (
        receiving(answer_with(status, code)) as server,
        pytest.raises(error, match=f"the bucket birds answered {status}|The buck"),
    ):
        open_in("s3://birds/media", "c" * 64, account=replace(READER, endpoint=address_of(server)))


KEY = f"/birds/media/images/{NAME[:2]}/{NAME}"


def test_a_bucket_that_may_not_be_listed_denies_what_is_not_there() -> None:
    """S3 answers 403 for a missing object to who may read and not list: known by what was read before."""

    def answer(handler: BaseHTTPRequestHandler, request: Request) -> None:
        (answer_with(200, DATA) if request.path == KEY else answer_with(403, DENIED))(handler, request)

    with receiving(answer) as server:
        read = reader_of("s3://birds/media", token="", account=replace(READER, endpoint=address_of(server)))
        assert read(NAME) == DATA
        with pytest.raises(NoPicture, match=r"answered 403 \(AccessDenied\)"):
            read("c" * 64)


@pytest.fixture
def storage() -> Iterator[Account]:
    """The reader of what speaks like S3 and has one picture in the bucket "birds", for who signs as this reader."""
    has = busy_at_first(KEY)

    def answer(handler: BaseHTTPRequestHandler, request: Request) -> None:
        at = datetime.strptime(request.headers["x-amz-date"], "%Y%m%dT%H%M%SZ").replace(tzinfo=UTC)
        # Of what arrived, not of what was meant.
        expected = headers_to_get(f"http://{request.headers['host']}{request.path}", READER, at)["Authorization"]
        is_late = abs(datetime.now(UTC) - at) > timedelta(minutes=15)
        (answer_with(403) if request.headers["authorization"] != expected or is_late else has)(handler, request)

    with receiving(answer) as server:
        yield replace(READER, endpoint=address_of(server))


@pytest.mark.parametrize("where", ["s3://birds/media", "s3://birds/media/"])
def test_a_bucket_gives_pictures_to_who_signs_and_is_asked_again_when_it_is_busy(storage: Account, where: str) -> None:
    assert open_in(where, NAME, account=storage).size == (8, 6)


def test_what_a_bucket_does_not_give_is_told_with_what_to_do(storage: Account) -> None:
    with pytest.raises(
        NoPicture, match=r"the bucket birds answered 404\. Copy the image there, or check the worker's LINEUP_IMAGES"
    ):
        open_in("s3://birds/elsewhere", NAME, account=storage)
    with pytest.raises(SourceUnavailable, match=r"The bucket birds answered 403\. Check .* and its AWS_"):
        open_in("s3://birds/media", NAME, account=replace(storage, secret="of another one"))
