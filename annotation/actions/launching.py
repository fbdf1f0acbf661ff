"""Launch a study: freeze its design and open its seats, all or nothing. It stands here, above the questions, because
seats belong to the answers (docs/decisions/0003)."""

from datetime import datetime

from django.db import transaction

from annotation.actions import seats
from studies.actions import studies
from studies.models import Study


@transaction.atomic
def launch(*, study: Study, now: datetime) -> None:
    """Freeze the design and open every seat. Raises StudyError with every reason why not."""
    studies.freeze(study=study, now=now)
    seats.open_seats(study=study)
