"""Work in the background. A task takes ids and calls one action; run twice, it does what it does once."""

from django.utils import timezone

from background import task
from results.actions import exports
from results.models import Export

# Sent again this often; a message that nobody took in the meantime is not kept.
RESUME_EVERY_SECONDS = 300


@task(name="results.make_export", minutes=10)
def make_export(export_id: int) -> None:
    exports.make_export(
        export=Export.objects.select_related("study__project", "release__study__project").get(pk=export_id),
        now=timezone.now,
    )


@task(name="results.resume_exports", minutes=5)
def resume_exports() -> None:
    """A message can be lost with its worker or its broker; what was asked for stands in the database."""
    for export_id in exports.stalled_exports(now=timezone.now()):
        make_export.apply_async((export_id,), expires=RESUME_EVERY_SECONDS)
