"""How far runs are: how fast the workers score, and how long what is left will take."""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Count, Min, Q, Sum

from predictions.models import Model, Prediction, Run
from studies.models import Project

# The speed is that of the last minutes: workers come and go.
LOOKED_BACK = timedelta(minutes=5)
PROBLEMS_SHOWN = 10
MOMENT_SECONDS = 10


@dataclass(frozen=True)
class Progress:
    """A run as its page tells of it.

    `done`: questions that are over, scored or not. `per_second`: None while nothing was stored lately; `left`: None
    where that cannot be said. `is_begun`: a worker is at it, or was. `problems`: a sentence and of how many questions.
    """

    run: Run
    done: int
    per_second: float | None
    left: timedelta | None
    is_begun: bool
    problems: Sequence[tuple[str, int]]
    more_problems: int

    @property
    def missing(self) -> int:
        return self.run.total - self.run.stored

    @property
    def left_in_words(self) -> str:
        """Return how long what is left will take, as people say it."""
        seconds = int(self.left.total_seconds()) if self.left else 0
        for unit, size in (("hour", 3600), ("minute", 60)):
            if seconds >= size:
                count = round(seconds / size)
                return f"{count:,} {unit}{'' if count == 1 else 's'}"
        return "a minute" if seconds > MOMENT_SECONDS else "a moment"

    @property
    def why_left_out(self) -> Sequence[str]:
        return self.run.why_left_out[:PROBLEMS_SHOWN]

    @property
    def can_go_on(self) -> bool:
        over = {Run.State.FAILED, Run.State.CANCELLED}
        return self.run.state in over or (self.run.state == Run.State.DONE and self.run.wrong > 0)


@dataclass(frozen=True)
class ModelLine:
    """A model of a project. `verified`: predictions about what they were computed on, by its hash; `declared`: those of
    files that name no pictures, so that nobody can verify what they are about."""

    model: Model
    verified: int
    declared: int


def models_of(project: Project) -> list[ModelLine]:
    """Return the models that have answered in a project, by name, with how many of their predictions are of each sort;
    two queries."""
    counted = (
        Prediction.objects.about(project)
        .order_by()
        .values("model")
        .annotate(verified=Count("pk", filter=~Q(content_hash="")), declared=Count("pk", filter=Q(content_hash="")))
    )
    counts = {row["model"]: row for row in counted}
    models = Model.objects.filter(pk__in=counts)
    return [ModelLine(model, counts[model.pk]["verified"], counts[model.pk]["declared"]) for model in models]


def progress_of(run: Run, *, now: datetime) -> Progress:
    """Return how far a run is; three queries at most."""
    done = run.stored + run.wrong
    speed = _per_second(run, now) if run.state == Run.State.RUNNING else None
    left = timedelta(seconds=round((run.total - done) / speed)) if speed else None
    problems = _problems(run)
    return Progress(
        run=run,
        done=done,
        per_second=speed,
        left=left,
        is_begun=run.begun > 0 if run.state == Run.State.LOADING else run.chunks.filter(begun__gt=0).exists(),
        problems=problems.most_common(PROBLEMS_SHOWN),
        more_problems=max(0, len(problems) - PROBLEMS_SHOWN),
    )


def _per_second(run: Run, now: datetime) -> float | None:
    """Return the questions per second of the chunks stored lately: from when the first of them was sent until now."""
    lately = run.chunks.filter(stored_at__gt=now - LOOKED_BACK)
    found = lately.aggregate(stored=Sum("stored"), begun=Min("sent_at"))
    if not found["stored"] or found["begun"] is None:
        return None
    seconds = (now - max(found["begun"], now - LOOKED_BACK)).total_seconds()
    return float(found["stored"]) / seconds if seconds > 0 else None


def _problems(run: Run) -> Counter[str]:
    """Return what was wrong, with questions that have the same wrong counted together."""
    found: Counter[str] = Counter()
    if run.wrong:
        for problems in run.chunks.exclude(problems=[]).values_list("problems", flat=True):
            found.update(problems)
    return found
