"""Read images for workers from a folder shared with the site, an S3 bucket, or the site itself. Pure.

The bytes are checked against the requested SHA-256. An image counts as missing only if the source says so. A source
that is down or refuses access proves nothing about its images.
"""

import errno
import hashlib
import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cache, partial
from pathlib import Path
from ssl import SSLCertVerificationError
from urllib.parse import unquote, urlsplit
from urllib.request import getproxies, proxy_bypass

import urllib3
from PIL import Image

from predictions.feeder import MOST_FETCHED, NoPicture
from predictions.s3 import Account, address_of, headers_to_get
from studies.importing.pictures import NotAPicture, decode_pixels

# Returns the bytes of an image by its SHA-256. Raises NoPicture and SourceUnavailable.
ReadBytes = Callable[[str], bytes]
_SHA256 = re.compile(r"[0-9a-f]{64}")
_CODE = re.compile(r"<Code>(\w{1,50})</Code>")
MOST_OF_AN_ERROR = 10_000
IMAGES = "images"
TIMEOUT_SECONDS = 30
# Pauses before retries. After the last one the site pauses the run and sends the chunk again.
PAUSES_SECONDS = (0.2, 1.0)
# Requests for an image whose source gives others in the meantime, so that it is not down.
MOST_REQUESTS = 12
# Only these statuses mean that the image is missing; others are failures of the source.
GONE = {404, 410}
REFUSED = {401, 403}
# S3 answers this for a missing object, too, if the reader may not list the bucket.
ACCESS_DENIED = "AccessDenied"
WHEN_UNTRUSTED = (
    "Renew the server's certificate, or set SSL_CERT_FILE where the worker runs to a file with the certificate of its "
    "issuer."
)
# Errors about the file, not about the disk.
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
                "LINEUP_IMAGES is the address of a site, which requires a token. Set "
                "LINEUP_WORKER_TOKEN to the site's own value of it."
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


@dataclass(frozen=True)
class Pictures:
    """Images by their SHA-256, upright and in sRGB: a `predictions.feeder.Source`.

    `max_pixels`: larger images are refused before decoding.
    """

    read: ReadBytes
    max_pixels: int

    def __call__(self, sha256: str) -> Image.Image:
        return self.decode(sha256, self.fetch(sha256))

    def fetch(self, sha256: str) -> bytes:
        if not _SHA256.fullmatch(sha256):
            raise NoPicture(f"{sha256[:64]!r} is not the SHA-256 of an image.")
        return self.read(sha256)

    def decode(self, sha256: str, data: bytes) -> Image.Image:
        if hashlib.sha256(data).hexdigest() != sha256:
            raise NoPicture(f"The image {sha256[:12]} has other bytes than those imported. Import it again.")
        try:
            return decode_pixels(data, max_pixels=self.max_pixels)[1]
        except NotAPicture as error:
            raise NoPicture(f"The image {sha256[:12]} cannot be used: {error}") from error


def _from_folder(folder: Path) -> ReadBytes:
    def read(sha256: str) -> bytes:
        try:
            return (folder / _name(sha256)).read_bytes()
        except OSError as error:
            # On an unmounted disk the folder of all images is missing, too.
            if error.errno in OF_THE_FILE and (folder / IMAGES).is_dir():
                raise NoPicture(
                    f"The image {sha256[:12]} cannot be read on the worker ({error.strerror}). Check its "
                    "LINEUP_IMAGES, or import the image again."
                ) from error
            raise SourceUnavailable(
                f"The worker cannot read the folder {folder} ({error.strerror}). Check that it is mounted, and "
                "the worker's LINEUP_IMAGES."
            ) from error

    return read


def _from_site(site: str, token: str) -> ReadBytes:
    def read(sha256: str) -> bytes:
        try:
            return _fetch(f"{site}/worker/images/{sha256}", lambda: {"Authorization": f"Bearer {token}"})
        except _FetchFailed as error:
            if error.status in GONE:
                raise NoPicture(
                    f"The image {sha256[:12]} is missing: {site} {error}. Import the image again, or check "
                    "the worker's LINEUP_IMAGES."
                ) from error
            what = "the worker's LINEUP_WORKER_TOKEN" if error.status in REFUSED else "that the site runs"
            advice = error.advice or f"Check {what}, and the worker's LINEUP_IMAGES."
            raise SourceUnavailable(f"{site} {error}. {advice}") from error

    return read


def _from_bucket(bucket: str, prefix: str, account: Account) -> ReadBytes:
    # Set after the first successful read, which shows that the keys are valid.
    has_read = False

    def read(sha256: str) -> bytes:
        nonlocal has_read
        address = address_of(bucket, f"{prefix}/{_name(sha256)}".lstrip("/"), account)
        try:
            # A signature expires within minutes, so each request gets a new one.
            data = _fetch(address, lambda: headers_to_get(address, account, datetime.now(UTC)))
        except _FetchFailed as error:
            # S3 denies access instead of reporting a missing object to readers who may not list the bucket.
            is_denied = error.status == 403 and error.code == ACCESS_DENIED and has_read
            if is_denied or (error.status in GONE and error.code in ("", "NoSuchKey")):
                raise NoPicture(
                    f"The image {sha256[:12]} is missing: the bucket {bucket} {error}. Copy the image there, "
                    "or check the worker's LINEUP_IMAGES."
                ) from error
            what = "its AWS_... settings" if error.status in REFUSED else "that the storage can be reached"
            advice = error.advice or f"Check the worker's LINEUP_IMAGES and {what}."
            raise SourceUnavailable(f"The bucket {bucket} {error}. {advice}") from error
        has_read = True
        return data

    return read


class _FetchFailed(Exception):
    """A failed request, with a reason that follows the name of the server.

    `status`: the HTTP status, 0 without an answer; `code`: S3's error code, "" without one; `advice`: what to do, "" if
    it depends on the server.
    """

    def __init__(self, why: str, *, status: int = 0, code: str = "", advice: str = "") -> None:
        super().__init__(why)
        self.status, self.code, self.advice = status, code, advice


def problem_with_certificate(error: Exception) -> str:
    """Return why a library refused a server's certificate, to follow the server's name; "" for another error."""
    why = error.args[0] if error.args else None
    if not isinstance(why, SSLCertVerificationError):
        return ""
    return f"has a certificate that this worker does not trust ({why.verify_message})"


def _through(proxy: str) -> Callable[..., urllib3.ProxyManager]:
    """Return what makes connections through a proxy, whose address may lack `http://` and have a name and password."""
    parts = urlsplit(proxy if "://" in proxy else f"http://{proxy}")
    login = f"{unquote(parts.username)}:{unquote(parts.password or '')}" if parts.username else None
    headers = urllib3.make_headers(proxy_basic_auth=login)
    return partial(urllib3.ProxyManager, parts.geturl(), proxy_headers=headers)


class _Server:
    """A server that gives images, asked by many threads over connections that stay open. `proxy`: "" for none."""

    def __init__(self, proxy: str) -> None:
        # Redirects are not followed, because they would carry the token elsewhere.
        make = _through(proxy) if proxy else urllib3.PoolManager
        self._web = make(maxsize=MOST_FETCHED, retries=False, timeout=TIMEOUT_SECONDS)
        self._given = 0

    def fetch(self, address: str, headers: Callable[[], Mapping[str, str]]) -> bytes:
        """Return the content of an address, with retries after short pauses. Raises _FetchFailed.

        There are more retries while the server gives other images: it is up, and lost this answer.
        """
        given, requests = self._given, 0
        while True:
            requests += 1
            try:
                return self._fetch_once(address, headers())
            except _FetchFailed as error:
                most = MOST_REQUESTS if self._given > given else 1 + len(PAUSES_SECONDS)
                if requests >= most or 0 < error.status < 500 or error.advice:
                    raise
            given = self._given
            time.sleep(PAUSES_SECONDS[min(requests, len(PAUSES_SECONDS)) - 1])

    def _fetch_once(self, address: str, headers: Mapping[str, str]) -> bytes:
        try:
            answer = self._web.request("GET", address, headers=headers, redirect=False)
        except (urllib3.exceptions.HTTPError, OSError) as error:
            if problem := problem_with_certificate(error):
                raise _FetchFailed(problem, advice=WHEN_UNTRUSTED) from error
            raise _FetchFailed(f"did not answer ({error.__cause__ or error})") from error
        if answer.status != 200:
            found = _CODE.search(answer.data[:MOST_OF_AN_ERROR].decode(errors="replace"))
            code = found[1] if found else ""
            words = f"answered {answer.status}" + (f" ({code})" if code else "")
            raise _FetchFailed(words, status=answer.status, code=code)
        self._given += 1
        return answer.data


@cache
def _server_at(scheme: str, host: str) -> _Server:
    return _Server("" if proxy_bypass(host) else getproxies().get(scheme, ""))


def _fetch(address: str, headers: Callable[[], Mapping[str, str]]) -> bytes:
    """Return the content of an address. Raises _FetchFailed."""
    parts = urlsplit(address)
    return _server_at(parts.scheme, parts.netloc).fetch(address, headers)


def _name(sha256: str) -> str:
    """Return the path of an image in the site's media folder."""
    return f"{IMAGES}/{sha256[:2]}/{sha256}"
