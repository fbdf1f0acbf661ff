"""Data of the charts on a study's overview: arrival and duration of answers, and wages."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC
from decimal import Decimal
from typing import Any

from django.db.models import Count, F, IntegerField, Max, Min
from django.db.models.functions import Cast, TruncHour

from analytics.work.pay import PaidSession, Wage, hourly_wage
from annotation.models import Response
from annotation.models.responses import took_ms
from studies.models import Study


@dataclass(frozen=True)
class StudyActivity:
    """Counted answers by time, and wages.

    `hours`: start of each hour with answers, in seconds since 1970, and their number. `seconds`: kind, whole seconds
    that an answer took, and their number. `wages`: pseudonym and hourly wage of each finished session, lowest first;
    `wage`: of all of them. `first`, `last`: when the first and the last answer came, in seconds since 1970, None
    without answers.
    """

    hours: Sequence[tuple[int, int]]
    seconds: Sequence[tuple[str, int, int]]
    wages: Sequence[tuple[str, float]]
    wage: Wage
    first: int | None
    last: int | None

    def dump(self) -> dict[str, Any]:
        """Return plain values, for `activity_of`."""
        amounts = [None if each is None else str(each) for each in (self.wage.median, self.wage.tenth_percentile)]
        return {**asdict(self), "wage": [self.wage.n, *amounts, self.wage.reason]}


def study_activity(study: Study, paid: Sequence[PaidSession]) -> StudyActivity:
    """Return the activity of `study`. paid: its finished sessions."""
    counted = Response.objects.counted_in(study).order_by()
    in_hours = counted.annotate(hour=TruncHour("received_at", tzinfo=UTC))
    by_hour = (
        in_hours.values_list("hour")
        .annotate(n=Count("pk"), first=Min("received_at"), last=Max("received_at"))
        .order_by("hour")
    )
    rows = list(by_hour)
    took = counted.annotate(ms=took_ms()).filter(ms__isnull=False)
    in_seconds = took.annotate(second=Cast(F("ms") / 1000, IntegerField()))
    by_second = in_seconds.values_list("question__kind", "second").annotate(n=Count("pk"))
    per_session, per_answer = study.design.pay.per_session, study.design.pay.per_answer
    wages = [(session.who, float(session.hourly(per_session, per_answer))) for session in paid]
    return StudyActivity(
        [(int(hour.timestamp()), n) for hour, n, *_ in rows],
        list(by_second.order_by("question__kind", "second")),
        sorted(wages, key=lambda wage: (wage[1], wage[0])),
        hourly_wage(per_session, paid, per_answer),
        int(rows[0][2].timestamp()) if rows else None,
        int(rows[-1][3].timestamp()) if rows else None,
    )


def activity_of(kept: Mapping[str, Any]) -> StudyActivity:
    """Return activity from its stored plain values."""
    rows = {name: [tuple(row) for row in kept[name]] for name in ("hours", "seconds", "wages")}
    n, *amounts, reason = kept["wage"]
    median, slow = (None if each is None else Decimal(each) for each in amounts)
    return StudyActivity(**rows, wage=Wage(n, median, slow, reason), first=kept["first"], last=kept["last"])
