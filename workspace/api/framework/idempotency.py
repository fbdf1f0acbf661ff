"""Idempotent POST: replay the stored response for a repeated Idempotency-Key."""

import hashlib
import json
from collections.abc import Callable
from functools import wraps
from typing import Any, Concatenate, ParamSpec, TypeVar

from django.db import transaction
from django.utils import timezone
from drf_spectacular.utils import OpenApiParameter, extend_schema
from rest_framework.renderers import JSONRenderer
from rest_framework.request import Request
from rest_framework.response import Response

from studies.names import problem_with_text
from workspace.actions.idempotent_responses import LONGEST_KEY, claim, find, store
from workspace.api.framework.endpoints import Endpoint
from workspace.api.framework.problems import Problem, Refused
from workspace.models import KeptAnswer

HEADER = "Idempotency-Key"
KEY = OpenApiParameter(
    HEADER,
    str,
    OpenApiParameter.HEADER,
    description="Any text of up to 200 characters. For a day, the same request with the same key gets the first "
    "response again and does nothing more.",
)
REPLAYED = "Idempotency-Replayed"
P = ParamSpec("P")
E = TypeVar("E", bound=Endpoint)
Method = Callable[Concatenate[E, Request, P], Response]


class _RefusedRequest(Exception):
    """Roll back a refused request, together with its key."""

    def __init__(self, response: Response) -> None:
        self.response = response


def idempotent(method: Method[E, P]) -> Method[E, P]:
    """Run a method and store its response in one transaction, if the request has a key. Adds the key to the schema.

    Of two concurrent requests the second waits, and gets the response of the first.
    """

    @wraps(method)
    def with_key(self: E, request: Request, /, *args: P.args, **kwargs: P.kwargs) -> Response:
        key = _read_key(request)
        if key is None:
            return _run_afterwards(method(self, request, *args, **kwargs))
        try:
            with transaction.atomic():
                kept, is_new = claim(token=self.token, key=key, fingerprint=_fingerprint(request), now=timezone.now())
                if not is_new:
                    return _replay(request, kept)
                response = method(self, request, *args, **kwargs)
                if response.status_code >= 400:
                    raise _RefusedRequest(response)
                _store(kept, response)
        except _RefusedRequest as refused:
            return refused.response
        return _run_afterwards(response, kept)

    return extend_schema(parameters=[KEY])(with_key)


def idempotent_by_content(method: Method[E, P]) -> Method[E, P]:
    """Store the response of a slow method that is idempotent by itself.

    The work is not in the same transaction, which would block other writers; two concurrent requests each get their own
    response.
    """

    @wraps(method)
    def with_key(self: E, request: Request, /, *args: P.args, **kwargs: P.kwargs) -> Response:
        key = _read_key(request)
        if key is None:
            return method(self, request, *args, **kwargs)
        if (kept := find(token=self.token, key=key, now=timezone.now())) is not None:
            return _replay(request, kept)
        fingerprint = _fingerprint(request)
        response = method(self, request, *args, **kwargs)
        if response.status_code < 400:
            with transaction.atomic():
                kept, is_new = claim(token=self.token, key=key, fingerprint=fingerprint, now=timezone.now())
                if is_new:
                    _store(kept, response)
        return response

    return with_key


def _read_key(request: Request) -> str | None:
    key = request.headers.get(HEADER)
    if key is not None and (not key or len(key) > LONGEST_KEY or problem_with_text(key)):
        raise Refused(Problem("not-understood", 400, f"{HEADER} must be a text of 1 to {LONGEST_KEY} characters."))
    return key


class ShownOnce(Response):
    """A response containing a secret shown only once; `kept` is what a repeated request gets.

    afterwards: called last, outside of the transaction; what it returns is added to both.
    """

    def __init__(
        self, data: Any, *, kept: Any, afterwards: Callable[[], dict[str, Any]] | None = None, **more: Any
    ) -> None:
        super().__init__(data, **more)
        self.kept, self.afterwards = kept, afterwards


def _run_afterwards(response: Response, kept: KeptAnswer | None = None) -> Response:
    """Run `afterwards` outside of the transaction: a slow mail server must not block writers."""
    if isinstance(response, ShownOnce) and response.afterwards is not None:
        told = response.afterwards()
        response.data |= told
        response.kept |= told
        if kept is not None:
            _store(kept, response)
    return response


def _store(kept: KeptAnswer, response: Response) -> None:
    body = JSONRenderer().render(response.kept if isinstance(response, ShownOnce) else response.data).decode()
    store(answer=kept, status=response.status_code, body=body, location=response.headers.get("Location", ""))


def _replay(request: Request, answer: KeptAnswer) -> Response:
    if answer.fingerprint != _fingerprint(request):
        raise Refused(
            Problem("key-used", 422, f"This {HEADER} was used for another request. Use a new one for each request.")
        )
    headers = {REPLAYED: "true"} | ({"Location": answer.location} if answer.location else {})
    return Response(json.loads(answer.body), status=answer.status, headers=headers)


def _fingerprint(request: Request) -> str:
    """Return a digest of a request's method, address and body."""
    digest = hashlib.sha256(f"{request.method} {request.get_full_path()}\n".encode())
    files = request.FILES
    if files or request.content_type.startswith("multipart/"):
        for name, value in sorted(request.POST.items()):
            digest.update(json.dumps([name, value]).encode())
        for name, file in sorted(files.items()):
            digest.update(json.dumps([name, file.name, file.size]).encode())
            for block in file.chunks():
                digest.update(block)
            file.seek(0)
    else:
        digest.update(json.dumps(request.data, sort_keys=True, default=str).encode())
    return digest.hexdigest()
