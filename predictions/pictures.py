"""Sources of images for workers: a folder shared with the site, an S3 bucket, or the site itself. Pure.

The bytes are checked against the requested SHA-256. An image counts as missing only if the source says so; a source
that is down or refuses says nothing about its images.
"""

import errno
import hashlib
import re
import time
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from http.client import HTTPException, HTTPMessage
from pathlib import Path
from typing import IO
from urllib.error import HTTPError, URLError
from urllib.request import HTTPRedirectHandler, Request, build_opener

from PIL import Image

from predictions.s3 import Account, address_of, headers_to_get
from predictions.scorers import NoPicture, OpenPicture
from studies.importing.pictures import NotAPicture, decode

# Gives the bytes of a picture by its SHA-256. Raises NoPicture and SourceUnavailable.
ReadBytes = Callable[[str], bytes]
_SHA256 = re.compile(r"[0-9a-f]{64}")
_CODE = re.compile(r"<Code>(\w{1,50})</Code>")
MOST_OF_AN_ERROR = 10_000
IMAGES = "images"
TIMEOUT_SECONDS = 30
# Before a source is tried again at once; after the last of them it is the site that waits, and sends the chunk again.
PAUSES_SECONDS = (0.2, 1.0)
# Statuses that say that this one picture is not there.
GONE = {404, 410}
REFUSED = {401, 403}
# What S3 answers to a reader who may not list a bucket, also where an object is not there.
ACCESS_DENIED = "AccessDenied"
# What a folder's disk says of a file, and not of itself.
OF_THE_FILE = {errno.ENOENT, errno.EISDIR, errno.ENOTDIR}


class CannotReadPictures(Exception):
    """The setting of the image source is invalid; the message says what to write."""


class SourceUnavailable(Exception):
    """The source of images is down or refuses this worker; the message is for people and says what to do."""


def reader_of(where: str, *, token: str, account: Account | None = None) -> ReadBytes:
    """Return a reader of images from `where`. Raises CannotReadPictures.

    where: a folder (the site's media), s3://BUCKET/PREFIX with a copy of it, or the site's address, with its token.
    """
    if where.startswith(("http://", "https://")):
        if not token:
            raise CannotReadPictures(
                "LINEUP_IMAGES is the address of a site, which gives pictures to nobody without a token. Set "
                "LINEUP_WORKER_TOKEN to what the site has there."
            )
        return _from_site(where.rstrip("/"), token)
    if where.startswith("s3://"):
        bucket, _, prefix = where.removeprefix("s3://").partition("/")
        if not bucket:
            raise CannotReadPictures(f"LINEUP_IMAGES is {where!r}, which names no bucket. Write s3://BUCKET/PREFIX.")
        return _from_bucket(bucket, prefix.strip("/"), account or Account())
    if "://" in where:
        raise CannotReadPictures(
            f"LINEUP_IMAGES is {where!r}. Write the site's media folder as this machine sees it, s3://BUCKET/PREFIX "
            "with a copy of it, or the site's address."
        )
    return _from_folder(Path(where))


def opener(read: ReadBytes, *, max_pixels: int) -> OpenPicture:
    """Return a function that opens a picture upright and in sRGB; too large ones are refused before decoding."""

    def open_picture(sha256: str) -> Image.Image:
        if not _SHA256.fullmatch(sha256):
            raise NoPicture(f"{sha256[:64]!r} is no SHA-256 of a picture.")
        data = read(sha256)
        if hashlib.sha256(data).hexdigest() != sha256:
            raise NoPicture(f"The picture {sha256[:12]} has other bytes than those imported. Import it again.")
        try:
            return decode(data, max_pixels=max_pixels)[1]
        except NotAPicture as error:
            raise NoPicture(f"The picture {sha256[:12]} cannot be used: {error}") from error

    return open_picture


def _from_folder(folder: Path) -> ReadBytes:
    def read(sha256: str) -> bytes:
        try:
            return (folder / _name(sha256)).read_bytes()
        except OSError as error:
            # Where a disk is not mounted, not even the folder of all pictures is there.
            if error.errno in OF_THE_FILE and (folder / IMAGES).is_dir():
                raise NoPicture(
                    f"The picture {sha256[:12]} cannot be read on the worker ({error.strerror}). Check its "
                    "LINEUP_IMAGES, or import the picture again."
                ) from error
            raise SourceUnavailable(
                f"The worker cannot read the folder {folder} ({error.strerror}). Check that it is mounted, and "
                "the worker's LINEUP_IMAGES."
            ) from error

    return read


class _NoRedirects(HTTPRedirectHandler):
    """A redirect would carry the token elsewhere."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


_web = build_opener(_NoRedirects)


def _from_site(site: str, token: str) -> ReadBytes:
    def read(sha256: str) -> bytes:
        try:
            return _fetch(f"{site}/worker/images/{sha256}", lambda: {"Authorization": f"Bearer {token}"})
        except _NotFetched as error:
            if error.status in GONE:
                raise NoPicture(
                    f"The picture {sha256[:12]} is missing: {site} {error}. Import the picture again, or check "
                    "the worker's LINEUP_IMAGES."
                ) from error
            advice = "Check the worker's LINEUP_WORKER_TOKEN" if error.status in REFUSED else "Check that the site runs"
            raise SourceUnavailable(f"{site} {error}. {advice}, and the worker's LINEUP_IMAGES.") from error

    return read


def _from_bucket(bucket: str, prefix: str, account: Account) -> ReadBytes:
    # Whether anything was ever read: so the keys are good.
    has_read = False

    def read(sha256: str) -> bytes:
        nonlocal has_read
        address = address_of(bucket, f"{prefix}/{_name(sha256)}".lstrip("/"), account)
        try:
            # Signed anew each time: a signature holds for some minutes.
            data = _fetch(address, lambda: headers_to_get(address, account, datetime.now(UTC)))
        except _NotFetched as error:
            # It says that there is no such object, or denies it to who may read others.
            is_denied = error.status == 403 and error.code == ACCESS_DENIED and has_read
            if is_denied or (error.status in GONE and error.code in ("", "NoSuchKey")):
                raise NoPicture(
                    f"The picture {sha256[:12]} is missing: the bucket {bucket} {error}. Copy the picture there, "
                    "or check the worker's LINEUP_IMAGES."
                ) from error
            advice = "what it has of AWS_..." if error.status in REFUSED else "that the storage can be reached"
            raise SourceUnavailable(
                f"The bucket {bucket} {error}. Check the worker's LINEUP_IMAGES and {advice}."
            ) from error
        has_read = True
        return data

    return read


class _NotFetched(Exception):
    """What the other side did instead, to stand behind its name. `status`: of HTTP, 0 without an answer; `code`: what
    S3 calls the error, "" where it says nothing."""

    def __init__(self, why: str, *, status: int = 0, code: str = "") -> None:
        super().__init__(why)
        self.status = status
        self.code = code


def _fetch(address: str, headers: Callable[[], Mapping[str, str]]) -> bytes:
    """Return what an address gives, tried again after short pauses where the other side is down. Raises _NotFetched."""
    for pause in PAUSES_SECONDS:
        try:
            return _fetch_once(address, headers())
        except _NotFetched as error:
            if error.status and error.status < 500:
                raise
        time.sleep(pause)
    return _fetch_once(address, headers())


def _fetch_once(address: str, headers: Mapping[str, str]) -> bytes:
    request = Request(address, headers=dict(headers))  # noqa: S310 (http or https: `reader_of`, `Account`)
    try:
        with _web.open(request, timeout=TIMEOUT_SECONDS) as answer:
            data: bytes = answer.read()
            return data
    except HTTPError as error:
        with error:
            code = _code_in(error)
        words = f"answered {error.code}" + (f" ({code})" if code else "")
        raise _NotFetched(words, status=error.code, code=code) from error
    except (URLError, HTTPException, OSError) as error:
        raise _NotFetched(f"did not answer ({getattr(error, 'reason', error)})") from error


def _code_in(error: HTTPError) -> str:
    """Return what S3 calls an error, "" where the answer does not say."""
    try:
        found = _CODE.search(error.read(MOST_OF_AN_ERROR).decode(errors="replace"))
    except (HTTPException, OSError):
        return ""
    return found[1] if found else ""


def _name(sha256: str) -> str:
    """Return what the site calls a picture in its media folder."""
    return f"{IMAGES}/{sha256[:2]}/{sha256}"
