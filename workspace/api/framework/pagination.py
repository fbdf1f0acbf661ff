"""Lists a page at a time: after a cursor, which stays where it is however many rows come in meanwhile."""

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
# The largest number that a row's id can have.
_LARGEST = 2**63 - 1
_MARK = "after:"


class PageQuery(serializers.Serializer[Any]):
    """What every list takes."""

    cursor = serializers.CharField(required=False, help_text="Where to go on: as `next` of the page before has it.")
    limit = serializers.IntegerField(
        required=False, min_value=1, max_value=MOST, help_text=f"How many at most; {USUAL} if not said."
    )


@dataclass(frozen=True)
class Asked:
    """Which rows are wanted: those whose id comes after `after` (None: from the first), at most `limit`."""

    after: int | None
    limit: int


def asked(request: Request) -> Asked:
    """Return which page is asked for. Raises ValidationError and Refused."""
    query = PageQuery(data=request.query_params)
    query.is_valid(raise_exception=True)
    cursor = query.validated_data.get("cursor")
    return Asked(_read(cursor) if cursor else None, query.validated_data.get("limit", USUAL))


def _read(cursor: str) -> int:
    try:
        text = base64.urlsafe_b64decode(cursor.encode("ascii")).decode("ascii")
        number = int(text.removeprefix(_MARK)) if text.startswith(_MARK) else -1
    except (ValueError, binascii.Error):
        number = -1
    if not 0 <= number <= _LARGEST:
        raise Refused(Problem("not-understood", 400, "This cursor is none of ours. Begin without one."))
    return number


def _write(number: int) -> str:
    return base64.urlsafe_b64encode(f"{_MARK}{number}".encode()).decode()


def page_of(
    request: Request,
    rows: QuerySet[Any],
    shown: Callable[[list[Any]], Any],
    *,
    newest_first: bool = False,
) -> Response:
    """Answer with one page of `rows` by their ids; `shown` makes of them what is sent, as many and in their order."""
    wanted = asked(request)
    if wanted.after is not None:
        rows = rows.filter(pk__lt=wanted.after) if newest_first else rows.filter(pk__gt=wanted.after)
    found = list(rows.order_by("-pk" if newest_first else "pk")[: wanted.limit + 1])
    return answer(request, [(row.pk, row) for row in found], wanted, shown)


def answer(
    request: Request,
    found: list[tuple[int, Any]],
    wanted: Asked,
    shown: Callable[[list[Any]], Any] = lambda rows: rows,
) -> Response:
    """Answer with a page of (id, row), of which one more than wanted was looked for, to see whether there is more."""
    more, found = len(found) > wanted.limit, found[: wanted.limit]
    following = None
    if more:
        following = replace_query_param(request.build_absolute_uri(), "cursor", _write(found[-1][0]))
    return Response({"results": shown([row for _, row in found]), "next": following})


def listed(each: type[serializers.Serializer[Any]]) -> type[serializers.Serializer[Any]]:
    """Return what a page of `each` looks like, for the schema."""
    name = f"{each.__name__.removesuffix('Serializer')}Page"
    fields = {
        "results": each(many=True),
        "next": serializers.URLField(allow_null=True, help_text="The page after this one; null: this is the last."),
    }
    return type(name, (serializers.Serializer,), fields)
