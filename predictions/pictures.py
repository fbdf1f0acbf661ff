"""Where a worker gets pictures from: a folder that it shares with the site, a bucket of S3, or the site itself. Pure.

Whatever comes is compared with the SHA-256 that it was asked for: a model never looks at another picture.
"""

import hashlib
import re
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

# Gives the bytes of a picture by its SHA-256. Raises NoPicture.
ReadBytes = Callable[[str], bytes]
_SHA256 = re.compile(r"[0-9a-f]{64}")
TIMEOUT_SECONDS = 30
TRIES = 3


class CannotReadPictures(Exception):
    """What is said about where the pictures are cannot be meant; the message says what to write."""


def reader_of(where: str, *, token: str, account: Account | None = None) -> ReadBytes:
    """Return what reads pictures from `where`: a folder (the site's media), s3://BUCKET/PREFIX with a copy of that, or
    the site's address, with its token.

    Raises CannotReadPictures.
    """
    if where.startswith(("http://", "https://")):
        if not token:
            raise CannotReadPictures(
                "LINEUP_IMAGES is the address of a site, which gives pictures to nobody without a token. Set "
                "LINEUP_WORKER_TOKEN to what the site has there."
            )
        return _FromSite(where.rstrip("/"), token)
    if where.startswith("s3://"):
        bucket, _, prefix = where.removeprefix("s3://").partition("/")
        if not bucket:
            raise CannotReadPictures(f"LINEUP_IMAGES is {where!r}, which names no bucket. Write s3://BUCKET/PREFIX.")
        return _FromBucket(bucket, prefix.strip("/"), account or Account())
    if "://" in where:
        raise CannotReadPictures(
            f"LINEUP_IMAGES is {where!r}. Write the site's media folder as this machine sees it, s3://BUCKET/PREFIX "
            "with a copy of it, or the site's address."
        )
    return _FromFolder(Path(where))


def opener(read: ReadBytes, *, max_pixels: int) -> OpenPicture:
    """Return what opens a picture as people see it, upright and in sRGB; a larger one is refused before decoding."""

    def open_picture(sha256: str) -> Image.Image:
        data = read(sha256)
        if hashlib.sha256(data).hexdigest() != sha256:
            raise NoPicture(f"The picture {sha256[:12]} has other bytes than those imported. Import it again.")
        try:
            return decode(data, max_pixels=max_pixels)[1]
        except NotAPicture as error:
            raise NoPicture(f"The picture {sha256[:12]} cannot be used: {error}") from error

    return open_picture


class _FromFolder:
    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, sha256: str) -> bytes:
        _check(sha256)
        path = self.folder / _name(sha256)
        try:
            return path.read_bytes()
        except OSError as error:
            raise NoPicture(
                f"The picture {sha256[:12]} cannot be read on the worker ({error.strerror}). Check its LINEUP_IMAGES, "
                "or import the picture again."
            ) from error


class _NoRedirects(HTTPRedirectHandler):
    """A redirect would carry the token elsewhere."""

    def redirect_request(
        self, req: Request, fp: IO[bytes], code: int, msg: str, headers: HTTPMessage, newurl: str
    ) -> None:
        return None


_web = build_opener(_NoRedirects)


class _FromSite:
    def __init__(self, site: str, token: str) -> None:
        self.site = site
        self.token = token

    def __call__(self, sha256: str) -> bytes:
        _check(sha256)
        address = f"{self.site}/worker/images/{sha256}"
        try:
            return _fetch(address, lambda: {"Authorization": f"Bearer {self.token}"})
        except _NotFetched as error:
            raise NoPicture(
                f"The picture {sha256[:12]} cannot be had: {self.site} {error}. Check the worker's LINEUP_IMAGES and "
                "LINEUP_WORKER_TOKEN, or import the picture again."
            ) from error


class _FromBucket:
    def __init__(self, bucket: str, prefix: str, account: Account) -> None:
        self.bucket = bucket
        self.prefix = prefix
        self.account = account

    def __call__(self, sha256: str) -> bytes:
        _check(sha256)
        address = address_of(self.bucket, f"{self.prefix}/{_name(sha256)}".lstrip("/"), self.account)
        try:
            # Signed anew each time: a signature holds for some minutes.
            return _fetch(address, lambda: headers_to_get(address, self.account, datetime.now(UTC)))
        except _NotFetched as error:
            raise NoPicture(
                f"The picture {sha256[:12]} cannot be had: the bucket {self.bucket} {error}. Check the worker's "
                "LINEUP_IMAGES and what it has of AWS_..., and whether the picture was copied there."
            ) from error


class _NotFetched(Exception):
    """What the other side did instead, to stand behind its name."""


def _fetch(address: str, headers: Callable[[], Mapping[str, str]]) -> bytes:
    """Return what an address gives, asked again where the other side is busy. Raises _NotFetched."""
    why = ""
    for _ in range(TRIES):
        request = Request(address, headers=dict(headers()))  # noqa: S310 (http or https: `reader_of`, `Account`)
        try:
            with _web.open(request, timeout=TIMEOUT_SECONDS) as answer:
                data: bytes = answer.read()
                return data
        except HTTPError as error:
            why = f"answered {error.code}"
            if error.code < 500:
                break
        except (URLError, HTTPException, OSError) as error:
            why = f"did not answer ({getattr(error, 'reason', error)})"
    raise _NotFetched(why)


def _name(sha256: str) -> str:
    """Return what the site calls a picture in its media folder."""
    return f"images/{sha256[:2]}/{sha256}"


def _check(sha256: str) -> None:
    if not _SHA256.fullmatch(sha256):
        raise NoPicture(f"{sha256[:64]!r} is no SHA-256 of a picture.")
