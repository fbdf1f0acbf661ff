"""Stretch simulated sessions to the length that their answers report.

The demo's annotators answer at once; stretched, the times and wages on its pages look like those of a real study.
"""

from datetime import timedelta

from django.db.models import F, Sum

from annotation.models import Session
from studies.models import Instance, Study

READING = timedelta(minutes=1)
# Margin, so that no session begins before the study opened.
OPEN_BEFORE = timedelta(hours=1)


def backdate_sessions(study: Study) -> None:
    """Move the start of `study`'s sessions, its opening, and the import of its instances back in time."""
    for session in Session.objects.filter(study=study, first_question_at__isnull=False):
        answering = timedelta(milliseconds=session.responses.aggregate(ms=Sum("send_ms", default=0))["ms"])
        session.arrived_at -= READING + answering
        if session.consented_at is not None:
            session.consented_at -= READING + answering
        if session.first_question_at is not None:
            session.first_question_at -= answering
        session.save(update_fields=["arrived_at", "consented_at", "first_question_at"])
    Study.objects.filter(pk=study.pk).update(launched_at=F("launched_at") - OPEN_BEFORE)
    study.refresh_from_db()
    if study.launched_at is not None:
        imported = Instance.objects.filter(project=study.project_id, created_at__gt=study.launched_at)
        imported.update(created_at=study.launched_at)
