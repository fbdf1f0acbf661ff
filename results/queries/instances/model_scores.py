"""The scores that models gave to the images and captions of one instance."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass, field

from django.db.models import Q

from predictions.models import Prediction
from results.queries.instances.human_model_disagreement import predictions_on
from studies.models import Instance, Question


@dataclass(frozen=True)
class ModelScore:
    """A model's score of one option. `percent`: the length of its bar; the highest score of the question has 100."""

    model: str
    about: str
    score: float
    percent: int


@dataclass(frozen=True)
class ModelScores:
    """Scores by the key of their option, and right or wrong answers of models whose scores are unknown."""

    by_option: dict[str, list[ModelScore]] = field(default_factory=lambda: defaultdict(list))
    unscored: list[tuple[str, str, bool | None]] = field(default_factory=list)

    def of(self, *keys: str) -> Sequence[ModelScore]:
        return [score for key in keys for score in self.by_option.get(key, ())]


def model_scores(instance: Instance, questions: Sequence[Question]) -> ModelScores:
    """Return the models' scores for the options of `instance`, one prediction per model, kind and variant.

    questions: all questions about it. If one of them has the kind and variant, only predictions for the content of such
    a question count; otherwise any does. A computed prediction is preferred to a declared one.
    """
    comparable = ~Q(content_hash="") | Q(caption_rule=instance.caption_rule)
    found = Prediction.objects.counted().filter(comparable, instance=instance).select_related("model")
    by_name: dict[tuple[str, str], list[Prediction]] = defaultdict(list)
    for each in found.order_by("model__name", "model__version", "model__weights", "content_hash"):
        by_name[each.kind, each.variant].append(each)
    scores = ModelScores()
    for (kind, variant), predictions in by_name.items():
        asked = [question for question in questions if (question.kind, question.variant) == (kind, variant)]
        about = [each for question in asked for each in predictions_on(question, predictions)]
        for each in {one.model_id: one for one in (about if asked else predictions)}.values():
            _add(scores, each, variant.replace("_", " ") or kind.replace("_", " "))
    return scores


def _add(scores: ModelScores, prediction: Prediction, about: str) -> None:
    model, given = str(prediction.model), prediction.scores or {}
    if not given:
        scores.unscored.append((model, about, prediction.is_right))
        return
    lowest, highest = min(0, *given.values()), max(given.values())
    for key, score in given.items():
        percent = round(100 * (score - lowest) / (highest - lowest)) if highest > lowest else 0
        scores.by_option[key].append(ModelScore(model, about, score, percent))
