"""Periodic checks of studies that need a researcher; each alarm is raised once."""

from collections.abc import Mapping
from datetime import datetime
from decimal import Decimal

from django.db import transaction

from analytics.work.pay import hourly_wage
from annotation.minimum_pay import is_underpaid, minimum_hourly_pay
from results.queries.paying.wages import study_wages
from results.queries.studies.progress import paid_sessions
from studies.actions.events import Actor, What, record
from studies.models import UNDER_WAY, Event, Study


def record_underpaid(*, by: Actor, now: datetime) -> None:
    """Record once per running study that it pays too little.

    Once, because a median near the minimum goes up and down.
    """
    in_field = Study.objects.filter(state__in=UNDER_WAY, project__archived_at=None)
    for study in in_field.select_related("project").order_by("pk"):
        pay = study.design.pay
        least = minimum_hourly_pay(pay.currency)
        if least is not None and (pay.per_session or pay.per_answer) and not _is_recorded(study):
            median = _low_median(study)
            if median is not None:
                told = {"currency": pay.currency, "median": f"{median:.2f}", "least": f"{least:.2f}"}
                _record(study, told, by=by, now=now)


def _low_median(study: Study) -> Decimal | None:
    """Return the median wage that is below the minimum, on our clock or on Prolific's; None if none is."""
    pay = study.design.pay
    median = hourly_wage(pay.per_session, paid_sessions(study), pay.per_answer).median
    if is_underpaid(pay.currency, median):
        return median
    wages = study_wages(study)
    return wages.clocks.platform.with_bonuses.median if wages.is_alarming else None


def _is_recorded(study: Study) -> bool:
    return Event.objects.filter(project=study.project_id, study=study, what=What.STUDY_UNDERPAID).exists()


@transaction.atomic
def _record(study: Study, told: Mapping[str, str], *, by: Actor, now: datetime) -> None:
    # Of two concurrent runs the second finds what the first recorded.
    Study.objects.select_for_update(of=("self",), no_key=True).get(pk=study.pk)
    if not _is_recorded(study):
        record(project=study.project, study=study, what=What.STUDY_UNDERPAID, by=by, now=now, **told)
