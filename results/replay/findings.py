"""What a replay came to, read back from the stored questions, responses and decisions: rows for its tables."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean
from typing import Any

import numpy as np
from django.db.models import Count, QuerySet

from analytics.acceptance import NONE
from analytics.agreement import Coefficient, cohen_kappa
from analytics.scores import Outcomes
from annotation.models import Decision, Response
from results.replay.pipeline import BASELINE, STEP_3, STEP_4, Replay
from results.replay.playing import double_surveys
from results.replay.published import QUESTIONS_PER_INSTANCE, RETRIEVAL_EXAMPLES
from results.replay.script import IMAGE_TO_TEXT, TEXT_TO_IMAGE
from studies.models import Instance, Question, Study

ANY_IMAGE = "any image"
Category = tuple[str, str]


@dataclass(frozen=True)
class Funnel:
    """How many instances went into the project, and through each study."""

    candidates: int
    step_3: int
    step_4: int
    baseline: int

    @property
    def examples(self) -> int:
        """Retrieval examples that the kept instances give."""
        return QUESTIONS_PER_INSTANCE * self.step_4


def funnel(replay: Replay) -> dict[Category, Funnel]:
    """Return the funnel of every type and subtype, in the order of the paper's table."""
    instances = Instance.objects.filter(project=replay.setting.project).order_by()
    sampled = Question.objects.filter(study=replay.studies[BASELINE]).values("instance_id")
    stages = (
        instances,
        instances.filter(pk__in=_accepted(replay.studies[STEP_3])),
        instances.filter(pk__in=_accepted(replay.studies[STEP_4])),
        instances.filter(pk__in=sampled),
    )
    counts: dict[Category, list[int]] = defaultdict(lambda: [0] * len(stages))
    for place, stage in enumerate(stages):
        for type, subtype, count in stage.values_list("type", "subtype").annotate(count=Count("pk")):
            counts[type, subtype][place] = count
    order = list(RETRIEVAL_EXAMPLES)
    return {category: Funnel(*counts[category]) for category in sorted(counts, key=order.index)}


def whole(rows: Sequence[Funnel]) -> Funnel:
    return Funnel(
        candidates=sum(row.candidates for row in rows),
        step_3=sum(row.step_3 for row in rows),
        step_4=sum(row.step_4 for row in rows),
        baseline=sum(row.baseline for row in rows),
    )


def _accepted(study: Study) -> QuerySet[Any, Any]:
    return Decision.objects.filter(study=study, state=Decision.State.ACCEPTED).values("question__instance_id")


def kept_keys(replay: Replay) -> set[str]:
    """Return the keys of the instances that the last filter kept."""
    kept = Instance.objects.filter(pk__in=_accepted(replay.studies[STEP_4]))
    return set(kept.values_list("key", flat=True))


def pair_kappas(replay: Replay) -> list[Coefficient]:
    """Return Cohen's kappa of each pair who answered the same survey of step 3, any image against none."""
    return [_kappa_of(survey.pk) for survey in double_surveys(replay.studies[STEP_3])]


def _kappa_of(survey: int) -> Coefficient:
    answers: dict[int, list[str | None]] = defaultdict(lambda: [None, None])
    given = Response.objects.filter(slot__seat__survey=survey, is_current=True)
    for question, seat, choice in given.values_list("question_id", "slot__seat__number", "choice"):
        answers[question][seat - 1] = NONE if choice == NONE else ANY_IMAGE
    return cohen_kappa(list(answers.values()), categories=(ANY_IMAGE, NONE))


def mean_kappa(kappas: Sequence[Coefficient]) -> float | None:
    values = [kappa.value for kappa in kappas if kappa.value is not None]
    return fmean(values) if values else None


@dataclass(frozen=True)
class Baseline:
    """What the people of the baseline answered about each sampled instance; `keys` in the order of the outcomes."""

    keys: list[str]
    outcomes: Outcomes


def baseline(replay: Replay) -> Baseline:
    asked = (*IMAGE_TO_TEXT, *TEXT_TO_IMAGE)
    answers: dict[str, list[bool]] = defaultdict(lambda: [False] * len(asked))
    given = Response.objects.filter(study=replay.studies[BASELINE], is_current=True, slot__isnull=False)
    columns = ("question__instance__key", "question__kind", "question__variant", "question__right", "choice")
    for key, kind, variant, right, choice in given.values_list(*columns):
        answers[key][asked.index((kind, variant))] = choice == right
    table = np.array(list(answers.values()), dtype=np.bool_).reshape(-1, len(asked))
    return Baseline(list(answers), Outcomes(*table.T))
