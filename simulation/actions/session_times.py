"""Times of a demo, whose annotators answer at once.

Stretched, the times and wages on its pages look like those of a real study.
"""

from datetime import timedelta

from django.db.models import Sum

from annotation.models import Session
from studies.models import Study

READING = timedelta(minutes=1)
# So long before its sessions a demo is imported and its studies are launched: none begins before its study opened.
OPEN_BEFORE = timedelta(hours=1)


def backdate_sessions(study: Study) -> None:
    """Move the start of `study`'s sessions back, so that they are as long as their answers report."""
    for session in Session.objects.filter(study=study, first_question_at__isnull=False):
        answering = timedelta(milliseconds=session.responses.aggregate(ms=Sum("send_ms", default=0))["ms"])
        session.arrived_at -= READING + answering
        if session.consented_at is not None:
            session.consented_at -= READING + answering
        if session.first_question_at is not None:
            session.first_question_at -= answering
        session.save(update_fields=["arrived_at", "consented_at", "first_question_at"])
