"""Serves original images to workers with models that do not share the site's folder."""

import re

from django.conf import settings
from django.core.files.storage import default_storage
from django.http import HttpRequest, HttpResponse
from django.utils.crypto import constant_time_compare
from django.views.decorators.http import require_safe

from studies.actions.images import original_name

NOTHING = "There is no such image."
_SHA256 = re.compile(r"[0-9a-f]{64}")


@require_safe
def picture(request: HttpRequest, sha256: str) -> HttpResponse:
    """Return the stored bytes to a request with the worker token.

    404 without a token, as for a missing image. 403 with a wrong token, whether or not there is such an image, so that
    a worker can say what to check.
    """
    if not _is_worker(request):
        has_token = request.headers.get("Authorization")
        return _text_response(403, "The worker token is wrong.") if has_token else _text_response(404, NOTHING)
    if not _SHA256.fullmatch(sha256):
        return _text_response(404, NOTHING)
    try:
        with default_storage.open(original_name(sha256)) as file:
            content: bytes = file.read()
    except FileNotFoundError:
        return _text_response(404, NOTHING)
    response = HttpResponse(content, content_type="application/octet-stream")
    response["Cache-Control"] = "no-store"
    return response


def _is_worker(request: HttpRequest) -> bool:
    given = request.headers.get("Authorization", "")
    # A site without a token serves nobody, whatever they send.
    return bool(settings.WORKER_TOKEN) and constant_time_compare(given, f"Bearer {settings.WORKER_TOKEN}")


def _text_response(status: int, text: str) -> HttpResponse:
    return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")
