"""Answer 503 with Retry-After, not 500, while the database is unavailable; log one line (config/logs.py).

Unavailable: the connection is refused or lost, or the server shuts down (PostgreSQL); the file is locked for too long
or cannot be opened (SQLite). Errors of a running server, such as a lock timeout, are bugs: 500 with a trace.

This is the site's error page and no middleware: Django turns an exception into that page right where it is raised, in a
view or a middleware, so outer middleware does not see it. The page also gets the usual headers this way.
"""

import sqlite3
import sys
from collections.abc import Iterator
from http import HTTPStatus

import psycopg
from django.db import connection
from django.http import HttpRequest, HttpResponse, HttpResponseServerError, JsonResponse
from django.template.loader import render_to_string
from django.utils.cache import add_never_cache_headers
from django.utils.translation import gettext

from annotation.views.guards import wants_json

RETRY_SECONDS = 10
API = "/api/"

# Connection lost or refused; ended by an operator or a crash, or starting; too many connections; read-only after a
# failover.
AWAY_ON_POSTGRESQL = ("08", "57P", "53300", "25006")
AWAY_ON_SQLITE = {sqlite3.SQLITE_BUSY, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_PROTOCOL}


def handler500(request: HttpRequest) -> HttpResponse:
    """Answer an uncaught exception; Django calls this while handling it, and logs it afterwards."""
    if not is_outage(sys.exc_info()[1]):
        if request.path.startswith(API):
            return _problem(500, "Something went wrong here, not with what you sent. Whoever runs the site can see it.")
        return HttpResponseServerError(render_to_string("500.html", {"status": 500}))
    return unavailable(request)


def unavailable(request: HttpRequest) -> HttpResponse:
    response: HttpResponse
    if request.path.startswith(API):
        response = _problem(503, "The database is away. Ask again in a minute.")
    elif wants_json(request):
        # The same sentence as on the page.
        message = gettext(
            "Everything you saved is safe. Reload this page in a minute. If this happens again, tell the person "
            "who sent you here."
        )
        response = JsonResponse({"error": message}, status=503)
    else:
        response = HttpResponse(render_to_string("500.html", {"status": 503}), status=503)
    response.headers["Retry-After"] = str(RETRY_SECONDS)
    add_never_cache_headers(response)
    return response


def _problem(status: int, detail: str) -> JsonResponse:
    """Answer a script with a problem, as the endpoints do (RFC 9457)."""
    told = {"type": "about:blank", "title": HTTPStatus(status).phrase, "status": status, "detail": detail}
    return JsonResponse(told, status=status, content_type="application/problem+json")


def is_outage(error: BaseException | None) -> bool:
    """Return whether `error`, or one of its causes, says that the database is unavailable."""
    return any(_is_unavailable(each) for each in _chain(error))


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen = set[int]()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _is_unavailable(error: BaseException) -> bool:
    if isinstance(error, sqlite3.OperationalError):
        # The lower byte is the error; the others are the system call.
        return getattr(error, "sqlite_errorcode", 0) & 0xFF in AWAY_ON_SQLITE
    if isinstance(error, psycopg.Error) and error.sqlstate is not None:
        return error.sqlstate.startswith(AWAY_ON_POSTGRESQL)
    # Without a state no server answered: the connection was lost, or the statement could not be sent.
    return isinstance(error, psycopg.OperationalError) and _connection_lost()


def _connection_lost() -> bool:
    return connection.connection is None or getattr(connection.connection, "closed", False)
