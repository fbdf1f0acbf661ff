"""Files uploaded in forms, and downloads, whole or in part."""

import re
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import IO

from django.core.files.uploadedfile import UploadedFile
from django.http import FileResponse, HttpRequest, StreamingHttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response

from workspace.api.framework.problems import Problem, Refused

# Per request; clients send larger files in several.
MOST_BYTES = 100_000_000
BLOCK = 1 << 16
BYTES = "application/octet-stream"
_RANGE = re.compile(r"bytes=(\d{0,15})-(\d{0,15})")
_UNSAFE = re.compile(r"[^\w.-]")
_LONGEST_NAME = 200


def refuse_too_large(request: HttpRequest, most: int = MOST_BYTES) -> None:
    """Refuse a request whose Content-Length is too large, before reading it. Raises Refused."""
    length = request.META.get("CONTENT_LENGTH") or "0"
    if length.isdecimal() and int(length) > most:
        raise Refused(Problem("too-large", 413, f"At most {most:,} bytes fit into one request. Send it in parts."))


@contextmanager
def on_disk(file: "UploadedFile[bytes]") -> Iterator[Path]:
    """Yield the path of a temporary copy of an uploaded file, under its own name: importers read files."""
    with tempfile.TemporaryDirectory() as folder:
        name = _UNSAFE.sub("_", Path(file.name or "").name)[-_LONGEST_NAME:].lstrip(".") or "upload"
        path = Path(folder) / name
        with path.open("wb") as out:
            for block in file.chunks():
                out.write(block)
        yield path


def send_file(request: HttpRequest, file: IO[bytes], *, name: str, size: int, etag: str) -> HttpResponseBase:
    """Send a file, or the range that is requested (RFC 9110). Raises Refused for a range outside of the file."""
    unchanged = get_conditional_response(request, etag=etag)
    if unchanged is not None:
        file.close()
        return unchanged
    asked = request.headers.get("Range", "")
    if asked and request.headers.get("If-Range", etag) == etag and (found := _RANGE.fullmatch(asked)):
        first, last = _bounds(found[1], found[2], size)
        if first > last or first >= size:
            file.close()
            raise Refused(
                Problem("no-such-range", 416, f"The file has {size:,} bytes."), {"Content-Range": f"bytes */{size}"}
            )
        response: HttpResponseBase = StreamingHttpResponse(_slice(file, first, last), status=206, content_type=BYTES)
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        response["Content-Range"] = f"bytes {first}-{last}/{size}"
        response["Content-Length"] = str(last - first + 1)
    else:
        response = FileResponse(file, as_attachment=True, filename=name, content_type=BYTES)
    response["Accept-Ranges"] = "bytes"
    response["ETag"] = etag
    return response


def _bounds(first: str, last: str, size: int) -> tuple[int, int]:
    """Return the first and last byte of a range; without `first`, of the last `last` bytes."""
    if first:
        return int(first), min(int(last), size - 1) if last else size - 1
    return (max(0, size - int(last)), size - 1) if last and int(last) else (size, size - 1)


def _slice(file: IO[bytes], first: int, last: int) -> Iterator[bytes]:
    with file:
        file.seek(first)
        left = last - first + 1
        while left and (block := file.read(min(BLOCK, left))):
            left -= len(block)
            yield block
