"""Questions of a study on which annotators disagree, and adjudicated questions."""

from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Q, QuerySet

from analytics.outcomes import Outcome
from annotation.models import Decision
from annotation.models.outcomes import question_is
from annotation.models.responses import counts
from results.queries.instances.instance_history import History, histories
from studies.models import Question, Study

PER_PAGE = 10
CONFLICTING, DISAGREE, SETTLED = "conflicting", "disagree", "settled"
SHOWN = {CONFLICTING: "Conflicting", DISAGREE: "Different answers", SETTLED: "Settled"}


def questions_shown(study: Study, shown: str) -> QuerySet[Question]:
    """Return the questions of a filter. Conflicting ones have all the answers requested so far."""
    questions = Question.objects.filter(study=study).order_by("instance__source_file", "instance__source_row", "pk")
    if shown == SETTLED:
        return questions.exclude(decision__settled_choice="")
    if shown == DISAGREE:
        several = questions.filter(decision__answers__gt=1)
        counted = counts("responses__")
        choices = Count("responses__choice", filter=counted, distinct=True)
        # Answers without a single label are compared as a whole.
        whole = Count("responses__answer", filter=counted & Q(responses__choice=""), distinct=True)
        return several.annotate(choices=choices, whole=whole).filter(Q(choices__gt=1) | Q(whole__gt=1))
    conflicting = question_is(Outcome.CONFLICTING, accepts=study.accepts)
    return questions.filter(pk__in=Decision.objects.filter(conflicting, study=study).values("question"))


def page_of_disagreements(study: Study, shown: str, page: Any) -> Page[History]:
    found: Page[Any] = Paginator(questions_shown(study, shown), PER_PAGE).get_page(page)
    ids = [question.pk for question in found.object_list]
    order = {pk: index for index, pk in enumerate(ids)}
    read = histories(Question.objects.filter(pk__in=ids), project=study.project)
    found.object_list = sorted(read, key=lambda history: order[history.question.pk])
    return found


def counts_shown(study: Study) -> dict[str, int]:
    return {shown: questions_shown(study, shown).count() for shown in SHOWN}
