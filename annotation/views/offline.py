"""What lets a browser keep a sitting for when there is no line: the worker behind the pages, and the app they are."""

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
# All that the page of questions consists of beside itself and its pictures.
SHELL = ("favicon.svg", "css/app.css", "js/early.js", "js/gate.js", "js/whole/work.js")


@require_safe
def worker(request: HttpRequest) -> HttpResponse:
    """Return the worker of this release: another list of files is another worker, which the browser then takes."""
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
    """Return what a browser needs to put this sitting among its apps; it opens where the sitting is."""
    page = session_urls(session.token).page
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
