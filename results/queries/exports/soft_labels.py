"""What a model of annotators makes of the answers to each question: soft labels, and how difficult the question is."""

from collections.abc import Mapping
from typing import Any, NamedTuple

from analytics.aggregation import glad, with_enough_answers
from annotation.models import Response
from studies.models import Study

METHOD = "glad"
# Number of counted answers above which nothing is estimated: all of them are held in memory.
MOST_MODELLED = 200_000


class SoftLabel(NamedTuple):
    """By GLAD: the probability of each label of a question, and its difficulty, above 0."""

    posterior: Mapping[str, float]
    difficulty: float


def soft_labels(study: Study) -> Mapping[int, SoftLabel]:
    """Return the id of each question of `study` with at least three counted answers -> its soft label.

    Each kind of question for itself, over the options of its questions. Answers with several labels, and free texts,
    have none. Nothing for a study with more than `MOST_MODELLED` counted answers.
    """
    given = Response.objects.counted_in(study).exclude(choice="").order_by("question_id", "pk")
    if given.count() > MOST_MODELLED:
        return {}
    found: dict[int, SoftLabel] = {}
    for kind in dict.fromkeys(part.kind for part in study.design.parts):
        answers = given.filter(question__kind=kind).values_list("question_id", "annotator_id", "choice")
        estimated = glad(with_enough_answers(answers))
        for question, posterior in estimated.posteriors.items():
            # Four digits: the rest differs between machines.
            rounded = {label: round(share, 4) for label, share in posterior.items()}
            found[question] = SoftLabel(rounded, round(estimated.difficulties[question], 4))
    return found


def posterior_columns(found: SoftLabel | None) -> Mapping[str, Any]:
    """Return the columns of an exported row about the soft label of its question; nothing without one."""
    if found is None:
        return {}
    return {"posterior": found.posterior, "posterior_method": METHOD, "difficulty": found.difficulty}
