"""Progress of model runs: speed of the workers, and estimated time left."""

from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Self

from django.db.models import Count, Min, OuterRef, Q, QuerySet, Subquery, Sum, Window
from django.db.models.functions import RowNumber

from predictions.blind_baselines import fitted_baseline
from predictions.models import Chunk, Conditions, Model, Prediction, Run
from studies.models import Project
from studies.wording import format_time_left

# Only the last minutes count, because workers come and go.
LOOKED_BACK = timedelta(minutes=5)
PROBLEMS_SHOWN = 10
AGAIN_SHOWN = 20
# Of more predictions, a page shows the numbers that were stored last.
MOST_COUNTED_AT_ONCE = 20_000
_COUNTED = Q(problem="")
_AGAIN = Q(conditions__in=Conditions.objects.filter(details__has_key="again"))


@dataclass(frozen=True)
class Progress:
    """Progress of a run.

    `done`: questions that are over, scored or not. `per_second`: None if nothing was stored lately. `left`: None if
    unknown. `is_begun`: a worker has started it. `looks`: images are embedded now, before any question is scored.
    `problems`: sentence and number of questions.
    """

    run: Run
    done: int
    per_second: float | None
    left: timedelta | None
    is_begun: bool
    looks: bool
    problems: Sequence[tuple[str, int]]
    more_problems: int

    @property
    def waits_for(self) -> str:
        """Return the workers that a run is waiting for: those with models, or the site's own for fitted baselines."""
        baseline = fitted_baseline(self.run.spec)
        return "a worker of the site" if baseline is not None and not baseline.model else "a worker with models"

    @property
    def missing(self) -> int:
        return self.run.total - self.run.stored

    @property
    def left_in_words(self) -> str:
        """Return the estimated time left in words."""
        return format_time_left(self.left or timedelta())

    @property
    def why_left_out(self) -> Sequence[str]:
        return self.run.why_left_out[:PROBLEMS_SHOWN]

    @property
    def can_go_on(self) -> bool:
        over = {Run.State.FAILED, Run.State.CANCELLED}
        return self.run.state in over or (self.run.state == Run.State.DONE and self.run.wrong > 0)


@dataclass(frozen=True)
class ModelSummary:
    """A model of a project, with the numbers of its predictions.

    Counted: verified (with a content hash) and declared (from files that name no images). again: of these, the
    predictions scored a second time in float32, because two scores were close (`predictions.scoring`); asked_again: the
    first of their questions. asked: the questions that its runs asked, scored or not. latest: the newest prediction,
    with its conditions. Not counted: mismatched, whose options do not match the question; problems: the most frequent
    reasons, each with its number of predictions.
    """

    model: Model
    verified: int
    declared: int
    again: int
    asked_again: Sequence[str]
    mismatched: int = 0
    problems: Sequence[tuple[str, int]] = ()
    asked: int = 0
    latest: Prediction | None = None

    @property
    def scored(self) -> int:
        return self.verified + self.declared

    @property
    def computed_by(self) -> str:
        """Return what computed the newest prediction: the program and device of the worker, or a file."""
        if self.latest is None:
            return ""
        if self.latest.conditions is None:
            return f"file {self.latest.source_file}" if self.latest.source_file else ""
        details = self.latest.conditions.details
        device = details.get("device")
        said = (details.get("scorer"), device and f"on {device}", details.get("dtype") and f"in {details['dtype']}")
        return " ".join(str(each) for each in said if each)

    @property
    def more_problems(self) -> int:
        """Return the number of predictions whose problems are not among `problems`."""
        return self.mismatched - sum(count for _, count in self.problems)

    @property
    def more_again(self) -> int:
        return self.again - len(self.asked_again)


@dataclass(frozen=True)
class PredictionCounts:
    """How many predictions a model has: all, and those of the sorts of `ModelSummary`.

    asked_again: the first questions that were scored twice. problems: the most frequent ones.
    """

    all: int = 0
    declared: int = 0
    mismatched: int = 0
    again: int = 0
    asked_again: Sequence[str] = ()
    problems: Sequence[tuple[str, int]] = ()

    @classmethod
    def read(cls, stored: Mapping[str, Any]) -> Self:
        problems = [(problem, count) for problem, count in stored["problems"]]
        return cls(**{**stored, "problems": problems})


def prediction_counts(project: Project) -> dict[int, PredictionCounts]:
    """Return the id of each model of `project` -> its numbers of predictions; at most seven queries.

    Those of which there may be many are counted in indexes alone.
    """
    models = list(Model.objects.filter(project=project))
    all_of_them, declared = _count(models, Q()), _count(models, Q(content_hash="") & _COUNTED)
    # Most projects have none of these, and looking for them reads every prediction.
    mismatched = _count(models, ~_COUNTED)
    again = _count(models, _AGAIN & _COUNTED) if Conditions.objects.filter(details__has_key="again").exists() else {}
    problems = _mismatches(project) if mismatched else {}
    asked_again = _repeated_questions(project) if again else {}
    return {
        model.pk: PredictionCounts(
            all=all_of_them.get(model.pk, 0),
            declared=declared.get(model.pk, 0),
            mismatched=mismatched.get(model.pk, 0),
            again=again.get(model.pk, 0),
            asked_again=asked_again.get(model.pk, []),
            problems=problems.get(model.pk, [])[:PROBLEMS_SHOWN],
        )
        for model in models
    }


def has_many_predictions(project: Project) -> bool:
    """Whether counting the predictions of `project` takes too long for a request."""
    # The first that is too many.
    some = Prediction.objects.filter(model__in=Model.objects.filter(project=project)).order_by()
    return some.values("pk")[MOST_COUNTED_AT_ONCE:][:1].exists()


def models_of(project: Project, counts: Mapping[int, PredictionCounts] | None = None) -> list[ModelSummary]:
    """Return the models of a project by name, with the numbers of their predictions.

    counts: those of `prediction_counts`, which are counted if they are not given.
    """
    models = list(Model.objects.filter(project=project))
    latest = _latest(project)
    unscored = _unscored(project)
    counts = prediction_counts(project) if counts is None else counts
    found = []
    for model in models:
        of_one = counts.get(model.pk, PredictionCounts())
        found.append(
            ModelSummary(
                model,
                verified=of_one.all - of_one.declared - of_one.mismatched,
                declared=of_one.declared,
                again=of_one.again,
                asked_again=of_one.asked_again,
                mismatched=of_one.mismatched,
                problems=of_one.problems,
                asked=of_one.all + unscored.get(model.pk, 0),
                latest=latest.get(model.pk),
            )
        )
    return found


def _latest(project: Project) -> dict[int, Prediction]:
    """Return model -> its newest prediction."""
    newest = Prediction.objects.filter(model=OuterRef("pk")).order_by("-pk").values("pk")[:1]
    found = Model.objects.filter(project=project).annotate(newest=Subquery(newest)).values_list("newest", flat=True)
    predictions = Prediction.objects.select_related("conditions").defer("scores")
    return {each.model_id: each for each in predictions.filter(pk__in=[pk for pk in found if pk is not None])}


def _unscored(project: Project) -> dict[int, int]:
    """Return model -> questions without a score that the newest run about each study or kind asked."""
    newest: dict[tuple[Any, ...], int] = {}
    runs = Run.objects.filter(project=project, model__isnull=False).order_by("pk")
    for *about, total, stored, left_out in runs.values_list(
        "model", "study", "kind", "variant", "total", "stored", "left_out"
    ):
        newest[tuple(about)] = total - stored + left_out
    found: Counter[int] = Counter()
    for (model, *_), questions in newest.items():
        found[model] += questions
    return found


def _count(models: Sequence[Model], sort: Q) -> dict[int, int]:
    """Return how many predictions of each model are of this sort, by its id; models without any are left out."""
    rows = Prediction.objects.filter(sort, model__in=models).order_by().values_list("model")
    return dict(rows.annotate(n=Count("pk")))


def _mismatches(project: Project) -> dict[int, list[tuple[str, int]]]:
    """Return what is wrong with the mismatched predictions, by model, the most frequent problem first."""
    rows = Prediction.objects.mismatched().filter(model__project=project).order_by().values_list("model", "problem")
    found: dict[int, list[tuple[str, int]]] = defaultdict(list)
    for model, problem, count in rows.annotate(count=Count("pk")).order_by("model", "-count", "problem"):
        found[model].append((problem, count))
    return found


def _repeated_questions(project: Project) -> dict[int, list[str]]:
    """Return the first questions that were scored twice, by model: instance, kind and variant."""
    place = Window(RowNumber(), partition_by="model", order_by=("instance", "kind", "variant"))
    counted = Prediction.objects.about(project).counted()
    rows = counted.filter(_AGAIN).annotate(place=place).filter(place__lte=AGAIN_SHOWN)
    found: dict[int, list[str]] = defaultdict(list)
    for model, *names in rows.order_by("model", "place").values_list("model", "instance__key", "kind", "variant"):
        found[model].append(" ".join(filter(None, names)))
    return found


def progress_of(run: Run, *, now: datetime) -> Progress:
    return progress_of_all([run], now=now)[0]


def progress_of_all(runs: Sequence[Run], *, now: datetime) -> list[Progress]:
    """Return the progress of each run; four queries for any number of runs."""
    chunks = Chunk.objects.filter(run__in=[run.pk for run in runs])
    begun = set(chunks.filter(begun__gt=0).order_by().values_list("run", flat=True).distinct())
    looks = set(chunks.filter(stored_at=None).of_pictures().order_by().values_list("run", flat=True).distinct())
    speeds = _speeds(chunks, now)
    problems = _problems(chunks)
    return [_progress(run, run.pk in begun, run.pk in looks, speeds.get(run.pk), problems[run.pk]) for run in runs]


def _progress(run: Run, is_begun: bool, looks: bool, speed: float | None, problems: Counter[str]) -> Progress:
    done = run.stored + run.wrong
    if run.state != Run.State.RUNNING:
        speed = None
    return Progress(
        run=run,
        done=done,
        per_second=speed,
        left=timedelta(seconds=round((run.total - done) / speed)) if speed else None,
        is_begun=run.begun > 0 if run.state == Run.State.LOADING else is_begun or run.unreachable_since is not None,
        looks=looks and run.state == Run.State.RUNNING,
        problems=problems.most_common(PROBLEMS_SHOWN),
        more_problems=max(0, len(problems) - PROBLEMS_SHOWN),
    )


def _speeds(chunks: QuerySet[Chunk], now: datetime) -> dict[int, float]:
    """Return the questions per second of the chunks stored lately, by run: from when the first was sent until now."""
    lately = chunks.filter(stored_at__gt=now - LOOKED_BACK, sent_at__isnull=False, stored__gt=0)
    found = lately.order_by().values_list("run").annotate(Sum("stored"), Min("sent_at"))
    seconds = {run: (now - max(sent_at, now - LOOKED_BACK)).total_seconds() for run, _, sent_at in found}
    return {run: stored / seconds[run] for run, stored, _ in found if seconds[run] > 0}


def _problems(chunks: QuerySet[Chunk]) -> dict[int, Counter[str]]:
    """Return the problems of each run, with the number of questions of each."""
    found: dict[int, Counter[str]] = defaultdict(Counter)
    for run, problems in chunks.exclude(problems=[]).values_list("run", "problems"):
        found[run].update(problems)
    return found
