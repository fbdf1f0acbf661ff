"""Background tasks. Each calls one action and is idempotent."""

from django.utils import timezone

from background.decorator import task
from studies.actions.imports import uploads


@task(name="studies.discard_uploads", minutes=10)
def discard_uploads() -> None:
    uploads.discard_old(timezone.now())
