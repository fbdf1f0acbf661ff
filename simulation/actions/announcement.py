"""Made-up annotators are let into a study: before they come, it is noted that they are."""

from datetime import datetime

from django.db import transaction

from studies.actions.events import Actor, What, record
from studies.models import Study


@transaction.atomic
def announce_simulation(*, study: Study, by: Actor, now: datetime, annotators: int, accuracy: float, seed: str) -> None:
    """Leave an event of a simulation that begins: what it makes are answers, which are their own record."""
    told = {"annotators": annotators, "accuracy": accuracy, "seed": seed}
    record(project=study.project, study=study, what=What.ANSWERS_SIMULATED, by=by, now=now, **told)


@transaction.atomic
def announce_replay(*, study: Study, by: Actor, now: datetime, seed: str) -> None:
    """Leave an event of a replay of a published study that begins."""
    record(project=study.project, study=study, what=What.STUDY_REPLAYED, by=by, now=now, seed=seed)
