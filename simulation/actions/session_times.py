"""The demo's annotators answer in no time. Here their sittings get the length that their answers say they took, so
that the times and wages on its pages are those of a real study."""

from datetime import timedelta

from django.db.models import F, Sum

from annotation.models import Session
from studies.models import Study

READING = timedelta(minutes=1)
# So that nobody comes before the study was open.
OPEN_BEFORE = timedelta(hours=1)


def stretch_sittings(study: Study) -> None:
    """Set back when the annotators of `study` came and when they began, and when the study was opened."""
    for session in Session.objects.filter(study=study, first_question_at__isnull=False):
        answering = timedelta(milliseconds=session.responses.aggregate(ms=Sum("send_ms", default=0))["ms"])
        session.arrived_at -= READING + answering
        if session.consented_at is not None:
            session.consented_at -= READING + answering
        if session.first_question_at is not None:
            session.first_question_at -= answering
        session.save(update_fields=["arrived_at", "consented_at", "first_question_at"])
    Study.objects.filter(pk=study.pk).update(launched_at=F("launched_at") - OPEN_BEFORE)
