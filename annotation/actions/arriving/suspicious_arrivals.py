"""Count suspicious arrivals at a study, in a bounded number of rows."""

from datetime import datetime

from django.db import IntegrityError, transaction
from django.db.models import F, QuerySet
from django.utils.crypto import salted_hmac

from annotation.models import EntryEvent
from studies.models import Study

# Further people are counted in one row.
TOLD_APART = 100


def note(*, study: Study, what: EntryEvent.What, person: str, now: datetime, rule: str = "") -> None:
    """Count that `what` happened to `person`, a provider's id, "" if unknown.

    rule: name of the eligibility rule that excluded them, if any.
    """
    who = digest(study=study, person=person) if person else ""
    events = EntryEvent.objects.filter(study=study, what=what, rule=rule)
    if who and _count(events.filter(who=who), now=now):
        return
    if who and events.exclude(who="").count() < TOLD_APART:
        try:
            with transaction.atomic():
                EntryEvent.objects.create(study=study, what=what, rule=rule, who=who, at=now)
        except IntegrityError:
            # The same person arrived twice at the same moment.
            _count(events.filter(who=who), now=now)
        return
    if not _count(events.filter(who=""), now=now):
        EntryEvent.objects.create(study=study, what=what, rule=rule, at=now)


def digest(*, study: Study, person: str) -> str:
    """Return a keyed digest that distinguishes people at one study and cannot be traced back."""
    return salted_hmac("annotation.door", f"{study.pk}|{person}", algorithm="sha256").hexdigest()


def _count(events: QuerySet[EntryEvent], *, now: datetime) -> bool:
    """Count once more in the first of `events`; return whether there is one."""
    first = events.order_by("pk").values("pk")[:1]
    return bool(EntryEvent.objects.filter(pk__in=first).update(times=F("times") + 1, at=now))
