"""Cursor pagination by id: pages stay stable while rows are added."""

import base64
import binascii
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet
from rest_framework import serializers
from rest_framework.request import Request
from rest_framework.response import Response
from rest_framework.utils.urls import replace_query_param

from workspace.api.framework.problems import Problem, Refused

USUAL, MOST = 100, 1000
# The largest row id that a database column holds.
_LARGEST = 2**63 - 1
_MARK = "after:"


class PageQuery(serializers.Serializer[Any]):
    """Query parameters of every list."""

    cursor = serializers.CharField(required=False, help_text="Where the page begins, from `next` of the previous page.")
    limit = serializers.IntegerField(
        required=False, min_value=1, max_value=MOST, help_text=f"Most rows on the page; {USUAL} by default."
    )


@dataclass(frozen=True)
class PageRequest:
    """The requested page: rows with ids after `after` (None: from the first), at most `limit`."""

    after: int | None
    limit: int


def read_page_request(request: Request) -> PageRequest:
    """Return the page that is requested. Raises ValidationError and Refused."""
    query = PageQuery(data=request.query_params)
    query.is_valid(raise_exception=True)
    cursor = query.validated_data.get("cursor")
    return PageRequest(_read_cursor(cursor) if cursor else None, query.validated_data.get("limit", USUAL))


def _read_cursor(cursor: str) -> int:
    try:
        text = base64.urlsafe_b64decode(cursor.encode("ascii")).decode("ascii")
        number = int(text.removeprefix(_MARK)) if text.startswith(_MARK) else -1
    except (ValueError, binascii.Error):
        number = -1
    if not 0 <= number <= _LARGEST:
        raise Refused(Problem("not-understood", 400, "This cursor is invalid. Begin without one."))
    return number


def _write_cursor(number: int) -> str:
    return base64.urlsafe_b64encode(f"{_MARK}{number}".encode()).decode()


def paginate(
    request: Request,
    rows: QuerySet[Any],
    shown: Callable[[list[Any]], Any],
    *,
    newest_first: bool = False,
) -> Response:
    """Answer with one page of `rows` by id; `shown` turns them into what is sent, one for one and in order."""
    wanted = read_page_request(request)
    if wanted.after is not None:
        rows = rows.filter(pk__lt=wanted.after) if newest_first else rows.filter(pk__gt=wanted.after)
    found = list(rows.order_by("-pk" if newest_first else "pk")[: wanted.limit + 1])
    return page_response(request, [(row.pk, row) for row in found], wanted, shown)


def page_response(
    request: Request,
    found: list[tuple[int, Any]],
    wanted: PageRequest,
    shown: Callable[[list[Any]], Any] = lambda rows: rows,
) -> Response:
    """Answer with a page of (id, row) pairs; `found` holds one row more than the limit if there is another page."""
    more, found = len(found) > wanted.limit, found[: wanted.limit]
    following = None
    if more:
        following = replace_query_param(request.build_absolute_uri(), "cursor", _write_cursor(found[-1][0]))
    return Response({"results": shown([row for _, row in found]), "next": following})


def page_serializer(each: type[serializers.Serializer[Any]]) -> type[serializers.Serializer[Any]]:
    """Return the serializer of a page of `each`, for the schema."""
    name = f"{each.__name__.removesuffix('Serializer')}Page"
    fields = {
        "results": each(many=True),
        "next": serializers.URLField(allow_null=True, help_text="URL of the next page; null on the last."),
    }
    return type(name, (serializers.Serializer,), fields)
