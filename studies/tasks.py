"""Work in the background. A task calls one action; run twice, it does what it does once."""

from django.utils import timezone

from background.decorator import task
from studies.actions.imports import uploads


@task(name="studies.discard_uploads", minutes=10)
def discard_uploads() -> None:
    uploads.discard_old(timezone.now())
