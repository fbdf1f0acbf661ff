"""Work in the background. A task takes ids and calls one action; run twice, it does what it does once."""

from django.utils import timezone

from background import task
from results.actions import exports, keeping
from results.models import Export, KeptNumbers

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


@task(name="results.discard_files", minutes=5)
def discard_files() -> None:
    """Sent when somebody withdraws, and by the clock, for files that were being made at that moment."""
    exports.discard_files()


@task(name="results.make_numbers", minutes=10)
def make_numbers(kept_id: int) -> None:
    """A lost message is made up for by the next look at the page, once it is `keeping.LOST_AFTER` old."""
    keeping.make(
        kept=KeptNumbers.objects.select_related("project", "study__project").get(pk=kept_id), now=timezone.now()
    )
