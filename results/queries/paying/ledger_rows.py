"""The ledger of a project: its payments, filtered, and the statement of a month."""

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import MAXYEAR, UTC, datetime
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import F, OuterRef, QuerySet, Subquery, Sum
from django.utils.dateparse import parse_date

from annotation.models import Payment
from results.models import Pseudonym
from results.sentences import STATE_WORDS
from studies.models import Project

PER_PAGE = 50
COLUMNS = (
    *("month", "study", "annotator", "reason", "subject", "amount", "currency", "state", "ordered_by", "ordered_at"),
    *("state_at", "remote_id", "note"),
)


@dataclass(frozen=True)
class Filters:
    """state, study (slug), person (pseudonym), month ("2026-11"): empty ones select everything."""

    state: str = ""
    study: str = ""
    person: str = ""
    month: str = ""


def ledger(project: Project, filters: Filters) -> QuerySet[Payment]:
    """Return the payments of a project with the pseudonym (`name`) of each person, latest first."""
    names = Pseudonym.objects.filter(project=project, annotator=OuterRef("annotator_id"))
    rows = Payment.objects.filter(study__project=project).annotate(name=Subquery(names.values("name")[:1]))
    if filters.state in Payment.State.values:
        rows = rows.filter(state=filters.state)
    if filters.study:
        rows = rows.filter(study__slug=filters.study)
    if filters.person:
        rows = rows.filter(name__iexact=filters.person)
    if filters.month and (begin := first_day(filters.month)):
        rows = rows.filter(ordered_at__gte=begin, ordered_at__lt=_next_month(begin))
    return (
        rows.select_related("study", "ordered_by")
        .defer("study__source", "study__design")
        .order_by("-ordered_at", "-pk")
    )


def ledger_page(rows: QuerySet[Payment], page: Any) -> Page[Payment]:
    return Paginator(rows, PER_PAGE).get_page(page)


def sums_by_state(rows: QuerySet[Payment]) -> list[tuple[str, str, Any]]:
    """Return currency, state in words and amount of what is listed."""
    found = rows.order_by().values_list("currency", "state").annotate(amount=Sum("amount"))
    return [(currency, STATE_WORDS[Payment.State(state)], amount) for currency, state, amount in sorted(found)]


def statement(rows: QuerySet[Payment]) -> Iterator[list[object]]:
    """Yield the rows of the statement under `COLUMNS`, oldest first, without an id of anybody."""
    for row in rows.order_by("ordered_at", "pk").annotate(person=F("name")).iterator(chunk_size=1000):
        yield [
            row.ordered_at.astimezone(UTC).strftime("%Y-%m"),
            row.study.slug,
            row.person or "",
            row.reason,
            row.subject,
            row.amount,
            row.currency,
            row.state,
            row.ordered_by.get_username() if row.ordered_by else "",
            row.ordered_at.astimezone(UTC).isoformat(timespec="seconds"),
            row.state_at.astimezone(UTC).isoformat(timespec="seconds"),
            row.remote_id,
            row.note,
        ]


def first_day(month: str) -> datetime | None:
    """Return the first moment of a month such as "2026-11", None if it is none."""
    try:
        day = parse_date(f"{month}-01")
    except ValueError:
        return None
    return datetime(day.year, day.month, 1, tzinfo=UTC) if day and day.year < MAXYEAR else None


def _next_month(begin: datetime) -> datetime:
    return datetime(begin.year + begin.month // 12, begin.month % 12 + 1, 1, tzinfo=UTC)


def months(project: Project) -> list[str]:
    """Return the months in which something was ordered, latest first."""
    found = Payment.objects.filter(study__project=project).dates("ordered_at", "month", order="DESC")
    return [f"{day:%Y-%m}" for day in found]
