"""Somebody takes their consent back."""

from datetime import datetime

from annotation.models import Annotator


def withdraw(*, annotator: Annotator, now: datetime) -> None:
    """Let nothing of `annotator` leave any more, and let them start nothing more. Twice is the same as once.

    Their answers stay where they are, because decisions and payments rest on them.
    """
    Annotator.objects.filter(pk=annotator.pk, withdrawn_at=None).update(withdrawn_at=now, blocked=True)
    annotator.refresh_from_db()
