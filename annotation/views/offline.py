"""Offline support: the service worker behind the pages, and the web app manifest."""

import json
from functools import cache
from hashlib import sha256
from pathlib import Path

from django.conf import settings
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.templatetags.static import static
from django.views.decorators.http import require_safe

from annotation.models import Session
from annotation.pages import session_urls
from annotation.views.guards import session_view

CODE = Path(settings.BASE_DIR) / "static/js/worker.js"
# The files of the question page, without the page itself and its images.
SHELL = ("favicon.svg", "css/app.css", "js/early.js", "js/gate.js", "js/whole/work.js")


@require_safe
def worker(request: HttpRequest) -> HttpResponse:
    """Return the service worker of this release; another list of files makes browsers install a new one."""
    response = HttpResponse(_worker(), content_type="text/javascript")
    response["Cache-Control"] = "no-cache"
    return response


@cache
def _worker() -> str:
    files = [static(name) for name in SHELL]
    text = CODE.read_text(encoding="utf-8")
    release = sha256("\n".join([*files, text]).encode()).hexdigest()[:16]
    return f"const FILES = {json.dumps(files)};\nconst RELEASE = {json.dumps(release)};\n{text}"


@session_view
@require_safe
def manifest(request: HttpRequest, session: Session) -> JsonResponse:
    """Return the web app manifest of this session; the app opens at the session."""
    page = session_urls(session.token)["page"]
    return JsonResponse(
        {
            "name": session.study.title,
            "short_name": session.study.title,
            "start_url": page,
            "id": page,
            "scope": page,
            "display": "standalone",
            "icons": [{"src": static("favicon.svg"), "sizes": "any", "type": "image/svg+xml"}],
        },
        content_type="application/manifest+json",
    )
