"""The model card of a training run: what its rows tell, and the scores of the project's stored results."""

from datetime import datetime

from predictions.models import Model, TrainedWeights
from results.actions.cached_statistics import CachedStatistics, compute_now
from results.exporting.model_card import ModelCard, ModelScore, TrainingData, model_card_text
from results.models import KeptNumbers, Release
from training.errors import CannotTrain
from training.leaks import LeakReport
from training.models import TrainingRun
from training.plan import CurvePoint
from training.recipes import RECIPES, get_recipe


def compute_model_card(*, run: TrainingRun, licence: str = "", now: datetime) -> str:
    """Return README.md with scores as of now, for jobs and commands: it takes long in a large project.

    Results that are stored and current are not computed again. Raises CannotTrain.
    """
    _check_trained(run)
    kept = compute_now(page=KeptNumbers.Page.PROJECT_RESULTS, project=run.project, now=now)
    return write_model_card(run=run, results=kept, licence=licence)


def write_model_card(*, run: TrainingRun, results: CachedStatistics, licence: str = "") -> str:
    """Return README.md of the model of a finished run. Raises CannotTrain.

    `results`: those of its project (`PROJECT_RESULTS`). `licence`: of the model.
    """
    _check_trained(run)
    if results.as_of is None:
        raise CannotTrain(
            "The model card is not ready: the scores of this project are computed in the background. Try again in a "
            "few minutes."
        )
    recipe = get_recipe(run.recipe) if run.recipe in RECIPES else None
    result = run.result
    return model_card_text(
        ModelCard(
            name=run.name,
            recipe=recipe.title if recipe else run.recipe,
            recipe_version=run.recipe_version,
            recipe_source=recipe.source if recipe else "",
            options=run.options,
            defaults=recipe.model_validate({}).model_dump(mode="json") if recipe else {},
            departures=recipe.departures if recipe else (),
            base=run.base,
            spec=result["spec"],
            weights=result["weights"],
            base_weights=result.get("base_weights", ""),
            data=_data(run),
            leaks={part: LeakReport.from_plain(report) for part, report in run.leaks.items()},
            seed=run.seed,
            libraries=result["libraries"],
            hardware=result["hardware"],
            seconds=run.seconds,
            steps=run.steps,
            best_step=result["best_step"],
            curve=[CurvePoint(point.step, point.losses, point.score) for point in run.curve.all()],
            validation=run.best_score,
            measures=recipe.measures if recipe else "",
            scores=_scores(run, results),
            scores_as_of=results.as_of,
            notes=run.sentences,
            licence=licence,
            tags=("lineup", run.recipe),
        )
    )


def _data(run: TrainingRun) -> TrainingData:
    release = Release.objects.filter(pk=run.release_id).first() if run.release_id else None
    return TrainingData(
        name=f"{run.project.name}, {run.data}",
        examples={part: file["examples"] for part, file in run.files.items()},
        sha256={part: file["sha256"] for part, file in run.files.items()},
        release_sha256=run.release_sha256,
        licence=release.licence if release else "",
    )


def _scores(run: TrainingRun, results: CachedStatistics) -> list[ModelScore]:
    """Return the scores of the run's model in its project, under whatever name it has there."""
    weights = TrainedWeights.objects.filter(project=run.project, spec=run.result["spec"]).values("weights")
    names = [str(model) for model in Model.objects.filter(project=run.project, weights__in=weights)]
    return [ModelScore.from_plain(score) for name in names for score in results.numbers["scores"].get(name, ())]


def _check_trained(run: TrainingRun) -> None:
    if run.state != TrainingRun.State.DONE:
        raise CannotTrain(f"{run.name} is not trained yet, so it has no model card. Wait until its training is done.")
