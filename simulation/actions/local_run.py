"""Compute a model run in this process, without a worker and its messages."""

from pathlib import Path

from django.conf import settings
from django.utils import timezone

from predictions.actions.runs import due, items_of
from predictions.actions.store_scores import plan, store
from predictions.messages import LoadedModel
from predictions.models import Run
from predictions.pictures import Pictures, reader_of
from predictions.scorers import scorer_of
from predictions.scoring import identity_of, score_items


def run_in_process(run: Run) -> None:
    """Load the model of `run` in this process and store its scores. Raises CannotLoad."""
    scorer = scorer_of(run.spec)
    open_picture = Pictures(reader_of(str(Path(settings.MEDIA_ROOT)), token=""), max_pixels=settings.IMAGE_MAX_PIXELS)
    loaded = LoadedModel(identity=identity_of(scorer), pictures_per_second=scorer.pictures_per_second())
    plan(run_id=run.pk, answer=loaded, now=timezone.now())
    while chunks := due(run_id=run.pk, now=timezone.now()).chunks:
        for chunk in chunks:
            answer = score_items(scorer, items_of(chunk=chunk), open_picture)
            store(run_id=run.pk, chunk_id=chunk.pk, answer=answer, now=timezone.now())
