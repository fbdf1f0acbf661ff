"""Serves a worker the examples that it trains on, and tells it whether to go on."""

from django.core.files.storage import default_storage
from django.http import FileResponse, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from training.actions.orders import run_of_key
from training.models import TrainingRun

STOP = "This training run has ended, or another worker trains it."
LOST = "The examples of this training run are missing."


@never_cache
@require_safe
def examples(request: HttpRequest, part: str) -> HttpResponseBase:
    """Stream a part of the examples of the run whose key the request has."""
    run = _run(request)
    if run is None:
        return _text_response(410, STOP)
    try:
        file = default_storage.open(run.files[part]["file"])
    except (FileNotFoundError, KeyError):
        return _text_response(404, LOST)
    return FileResponse(file, content_type="application/x-ndjson")


@never_cache
@require_safe
def state(request: HttpRequest) -> HttpResponse:
    """Answer 410 if the worker is to stop, for whatever reason."""
    return _text_response(410, STOP) if _run(request) is None else _text_response(200, "Go on.")


def _run(request: HttpRequest) -> TrainingRun | None:
    return run_of_key(request.headers.get("Authorization", "").removeprefix("Bearer "))


def _text_response(status: int, text: str) -> HttpResponse:
    return HttpResponse(text, status=status, content_type="text/plain; charset=utf-8")
