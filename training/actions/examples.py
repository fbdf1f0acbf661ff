"""Files of examples, which are kept as long as a worker may need them: they hold what people wrote."""

from datetime import datetime, timedelta

from django.core.files.storage import default_storage
from django.db.models import Q

from training.models import TrainingRun

# For how long a run that stopped can go on with the same examples; later they are prepared again.
KEPT = timedelta(days=7)


def delete_examples(run: TrainingRun) -> None:
    """Delete the files of examples of a run; their hashes and numbers stay."""
    for part in run.files.values():
        if part["file"]:
            default_storage.delete(part["file"])
            part["file"] = ""
    run.save(update_fields=["files"])


def discard_old(*, now: datetime) -> None:
    """Delete the examples of runs that are done, or stopped long ago."""
    stopped = Q(state__in=(TrainingRun.State.FAILED, TrainingRun.State.CANCELLED), finished_at__lt=now - KEPT)
    over = TrainingRun.objects.filter(Q(state=TrainingRun.State.DONE) | stopped, finished_at__isnull=False)
    for run in over.exclude(files={}):
        if run.has_examples:
            delete_examples(run)
