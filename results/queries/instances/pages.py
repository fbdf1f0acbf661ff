"""Keyset pagination of long lists: the last page costs as much as the first.

An address names the row before the page (`after`) or behind it (`before`) by its id. Its place in the order is looked
up, so that a page stays the same whatever rows are added before it.
"""

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, Generic, TypeVar

from django.db.models import BooleanField, F, Func, Model, QuerySet, Value
from django.db.models.expressions import Combinable

M = TypeVar("M", bound=Model)
Row = TypeVar("Row")
_LARGEST_ID = 2**63 - 1


def row_id(text: str) -> int | None:
    """Return the id of a row from an address, None if it cannot be one."""
    # `isdecimal` also accepts digits of other alphabets.
    if not (text.isascii() and text.isdecimal()) or len(text) > len(str(_LARGEST_ID)) or int(text) > _LARGEST_ID:
        return None
    return int(text)


def beyond(columns: Sequence[str], values: Sequence[Any], *, is_backward: bool) -> Func:
    """Compare columns with values as tuples: (a, b) > (x, y).

    Both databases use an index for this form, but not for the equivalent a > x or a = x and b > y.
    """
    rows, sign = (_row_of(*map(F, columns)), _row_of(*map(Value, values))), "<" if is_backward else ">"
    return Func(*rows, template="%(expressions)s", arg_joiner=f" {sign} ", output_field=BooleanField())


def _row_of(*expressions: Combinable) -> Func:
    return Func(*expressions, template="(%(expressions)s)", output_field=BooleanField())


@dataclass(frozen=True)
class Order:
    """Sort columns without nulls, all in one direction; the last is the id."""

    title: str
    columns: Sequence[str]
    is_backward: bool = False

    @property
    def opposite(self) -> "Order":
        return replace(self, is_backward=not self.is_backward)

    def sort(self, rows: QuerySet[M]) -> QuerySet[M]:
        return rows.order_by(*(f"-{column}" if self.is_backward else column for column in self.columns))

    def behind(self, rows: QuerySet[M], row: Sequence[Any]) -> QuerySet[M]:
        """Return `rows` after the one with these column values, sorted."""
        return self.sort(rows.filter(beyond(self.columns, row, is_backward=self.is_backward)))


@dataclass(frozen=True)
class Slice(Generic[Row]):
    """One page. `earlier`, `later`: ids at which the neighbouring pages begin, None if there is none."""

    rows: Sequence[Row]
    earlier: int | None
    later: int | None


def slice_of(rows: QuerySet[M], order: Order, size: int, *, after: str = "", before: str = "") -> Slice[M]:
    """Return a page of up to `size` of `rows`, after the row called `after` or before the one called `before`.

    An unknown row gives the first page. Two queries, or one without a name.
    """
    start = _row(rows, order, before or after)
    if start is None:
        return _slice(list(order.sort(rows)[: size + 1]), size, is_first=True)
    if not before:
        return _slice(list(order.behind(rows, start)[: size + 1]), size, is_first=False)
    ahead = list(order.opposite.behind(rows, start)[: size + 1])
    if len(ahead) <= size:
        # Fewer rows than a page before it: the first page is shown in full instead.
        return _slice(list(order.sort(rows)[: size + 1]), size, is_first=True)
    found = ahead[:size][::-1]
    return Slice(found, earlier=found[0].pk, later=found[-1].pk)


def _slice(found: list[M], size: int, *, is_first: bool) -> Slice[M]:
    shown = found[:size]
    earlier = shown[0].pk if shown and not is_first else None
    return Slice(shown, earlier=earlier, later=shown[-1].pk if len(found) > size else None)


def _row(rows: QuerySet[M], order: Order, name: str) -> Sequence[Any] | None:
    """Return the sort columns of the row with this id, None if `rows` does not have it."""
    pk = row_id(name)
    if pk is None:
        return None
    found: Sequence[Any] | None = rows.filter(pk=pk).order_by().values_list(*order.columns).first()
    return found


def neighbours(rows: QuerySet[M], order: Order, pk: int) -> tuple[M | None, M | None]:
    """Return the rows before and after the one with the id `pk`; None at an end, two Nones if it is missing.

    Three queries.
    """
    here = _row(rows, order, str(pk))
    if here is None:
        return None, None
    return order.opposite.behind(rows, here).first(), order.behind(rows, here).first()
