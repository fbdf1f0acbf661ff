"""Serves pictures. A page loads up to eight of them, so one that is ready costs no query and no session."""

import re

from django.core.files.storage import default_storage
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.views.decorators.http import require_safe

from studies.actions.images import NoSuchPicture, rendition, rendition_name
from studies.importing.pictures import SIZES
from studies.picture_handles import sha256_of

_SHA256 = re.compile(r"[0-9a-f]{64}")


@require_safe
def image(request: HttpRequest, name: str, size: str) -> HttpResponseBase:
    """`name`: the handle of a picture, or its SHA-256, by which pages of researchers call it, and pages of annotators
    that an older version made."""
    sha256 = name if _SHA256.fullmatch(name) else sha256_of(name)
    if not sha256:
        return _not_found("There is no such image here. Check the address.")
    if size not in SIZES:
        return _not_found(f"There is no such size. Ask for one of {', '.join(SIZES)}.")
    etag = f'"{name[:32]}-{size}"'
    unchanged = get_conditional_response(request, etag=etag)
    if unchanged is not None:
        return _for_ever(unchanged, etag)
    try:
        content = _read(sha256, size)
    except NoSuchPicture as error:
        return _not_found(str(error))
    return _for_ever(HttpResponse(content, content_type="image/webp"), etag)


def _read(sha256: str, size: str) -> bytes:
    """Return the whole file: renditions are small, and reading one is cheaper than streaming it."""
    try:
        file = default_storage.open(rendition_name(sha256, size))
    except FileNotFoundError:
        file = default_storage.open(rendition(sha256=sha256, size=size))
    with file:
        content: bytes = file.read()
    return content


def _for_ever(response: HttpResponseBase, etag: str) -> HttpResponseBase:
    response["ETag"] = etag
    response["Cache-Control"] = "public, max-age=31536000, immutable"
    response["Content-Disposition"] = "inline"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _not_found(sentence: str) -> HttpResponse:
    response = HttpResponse(sentence, status=404, content_type="text/plain; charset=utf-8")
    # The picture may be imported in a minute.
    response["Cache-Control"] = "no-store"
    return response
