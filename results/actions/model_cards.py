"""The model card of a training run: what its rows tell, and the scores of the project's report."""

from predictions.models import Model, TrainedWeights
from results.actions.reports import named_facts
from results.exporting.model_card import ModelCard, ModelScore, TrainingData, model_card_text, model_scores
from results.models import Release
from results.reports.build import report_of
from training.errors import CannotTrain
from training.leaks import LeakReport
from training.models import TrainingRun
from training.plan import CurvePoint
from training.recipes import RECIPES, get_recipe


def write_model_card(*, run: TrainingRun, licence: str = "") -> str:
    """Return README.md of the model of a finished run. `licence`: of the model. Raises CannotTrain."""
    if run.state != TrainingRun.State.DONE:
        raise CannotTrain(f"{run.name} is not trained yet, so it has no model card. Wait until its training is done.")
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
            scores=_scores(run),
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


def _scores(run: TrainingRun) -> list[ModelScore]:
    """Return the scores of the run's model in its project, under whatever name it has there."""
    weights = TrainedWeights.objects.filter(project=run.project, spec=run.result["spec"]).values("weights")
    names = [str(model) for model in Model.objects.filter(project=run.project, weights__in=weights)]
    if not names:
        return []
    report = report_of(named_facts(run.project))
    return [score for name in names for score in model_scores(report, name)]
