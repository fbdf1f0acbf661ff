"""Serve pictures. Annotators' pages load up to eight, so a picture requested by handle needs no query."""

import re
from typing import cast

from django.conf import settings
from django.contrib.auth.models import User
from django.core.files.storage import default_storage
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.utils.cache import get_conditional_response
from django.utils.module_loading import import_string
from django.views.decorators.http import require_safe

from studies.actions.images import NoSuchPicture, rendition, rendition_name
from studies.actions.projects.members import permitted_projects
from studies.importing.pictures import SIZES
from studies.models import InstanceImage
from studies.permissions import Verb
from studies.picture_handles import sha256_of

_SHA256 = re.compile(r"[0-9a-f]{64}")
_NO_SUCH_IMAGE = "There is no such image here. Check the address."
# Anybody with the handle's address may see the picture, so shared caches may keep it.
BY_HANDLE = "public, max-age=31536000, immutable"
# A former member keeps it for a day at most.
BY_SHA256 = "private, max-age=86400"


@require_safe
def image(request: HttpRequest, name: str, size: str) -> HttpResponseBase:
    """Serve a picture by its handle, to everybody, or by its SHA-256, to members of a project that has it."""
    if size not in SIZES:
        return _not_found(f"There is no such size. Ask for one of {', '.join(SIZES)}.")
    if _SHA256.fullmatch(name):
        # Checked first, so that others cannot tell whether the picture exists.
        return _picture(request, name, size, name, BY_SHA256) if _may_see(request, name) else _not_found(_NO_SUCH_IMAGE)
    sha256 = sha256_of(name)
    return _picture(request, sha256, size, name, BY_HANDLE) if sha256 else _not_found(_NO_SUCH_IMAGE)


def _may_see(request: HttpRequest, sha256: str) -> bool:
    # Anonymous users have no projects.
    projects = permitted_projects(cast(User, request.user), Verb.VIEW)
    if InstanceImage.objects.filter(image=sha256, instance__project__in=projects).exists():
        return True
    shows = import_string(settings.SHOWN_ON_OLD_PAGES)
    return bool(shows(referer=request.headers.get("Referer", ""), sha256=sha256))


def _picture(request: HttpRequest, sha256: str, size: str, name: str, caching: str) -> HttpResponseBase:
    """Serve a picture under the `name` that was requested; the response must reveal nothing else about it."""
    etag = f'"{name[:32]}-{size}"'
    response = get_conditional_response(request, etag=etag)
    if response is None:
        try:
            response = HttpResponse(_read(sha256, size), content_type="image/webp")
        except NoSuchPicture as error:
            return _not_found(str(error))
    response["ETag"] = etag
    response["Cache-Control"] = caching
    response["Content-Disposition"] = "inline"
    response["X-Content-Type-Options"] = "nosniff"
    return response


def _read(sha256: str, size: str) -> bytes:
    """Return the whole file: renditions are small, and reading is cheaper than streaming."""
    try:
        file = default_storage.open(rendition_name(sha256, size))
    except FileNotFoundError:
        file = default_storage.open(rendition(sha256=sha256, size=size))
    with file:
        content: bytes = file.read()
    return content


def _not_found(sentence: str) -> HttpResponse:
    response = HttpResponse(sentence, status=404, content_type="text/plain; charset=utf-8")
    # Not cached: the picture may be imported soon.
    response["Cache-Control"] = "no-store"
    return response
