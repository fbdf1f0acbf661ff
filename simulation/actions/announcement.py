"""Record in a study's events that simulated annotators are about to come."""

from datetime import datetime

from django.db import transaction

from studies.actions.events import Actor, What, record
from studies.models import Study


@transaction.atomic
def announce_simulation(*, study: Study, by: Actor, now: datetime, annotators: int, accuracy: float, seed: str) -> None:
    """Record an event for the start of a simulation; its answers are their own record."""
    told = {"annotators": annotators, "accuracy": accuracy, "seed": seed}
    record(project=study.project, study=study, what=What.ANSWERS_SIMULATED, by=by, now=now, **told)


@transaction.atomic
def announce_replay(*, study: Study, by: Actor, now: datetime, seed: str) -> None:
    """Record an event for the start of a replay of a published study."""
    record(project=study.project, study=study, what=What.STUDY_REPLAYED, by=by, now=now, seed=seed)
