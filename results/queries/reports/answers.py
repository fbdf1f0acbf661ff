"""Rows behind the results of a single study; the database groups equal ones."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.db.models import Count, Min, QuerySet

from annotation.models import Response
from annotation.models.responses import took_ms
from results.queries.instances.human_model_disagreement import human_model_disagreements
from results.queries.reports.report_rows import (
    instances_predicted,
    mismatched_predictions,
    model_facts,
    pseudonyms_in,
    study_facts,
)
from results.reports.facts import LabelSpace, ProjectFacts
from results.reports.sections.answers import AnswerDetails, TimedAnswers
from studies.kinds.base import IN_ORDER
from studies.models import Study


def facts_alone(study: Study) -> ProjectFacts:
    """Return the project of `study` as if it had only this study and its instances.

    Includes models only if right answers are known.
    """
    facts = replace(study_facts(study), names=pseudonyms_in(study.project))
    return ProjectFacts(
        slug=study.project.slug,
        name=study.project.name,
        categories=facts.categories,
        studies=[facts],
        models=list(model_facts(study.project)) if facts.knows_answers else [],
        predicted_by=instances_predicted(study.project, study) if facts.knows_answers else {},
        disagreements=human_model_disagreements(study.project, study) if facts.knows_answers else [],
        mismatched=mismatched_predictions(study.project) if facts.knows_answers else [],
    )


def answer_details(study: Study, kinds: Mapping[str, LabelSpace]) -> list[AnswerDetails]:
    """Return the counted answers of `study` with one label each, without their times.

    kinds: kind -> its label space.
    """
    alike = (
        Response.objects.counted_in(study)
        .exclude(choice="")
        .values_list(
            *("question__kind", "question__instance__type", "question__instance__subtype"),
            *("choice", "shown_order", f"question__content__{IN_ORDER}"),
        )
    )
    last = {kind: label_space.last for kind, label_space in kinds.items()}
    return [
        AnswerDetails(
            kind=kind,
            category=(type, subtype),
            position=None if in_order or choice in last[kind] else order.index(choice),
            positions=0 if in_order else len(order) - len(last[kind]),
            seconds=None,
            times=times,
        )
        for kind, type, subtype, choice, order, in_order, times, _ in _in_order(alike)
    ]


def answer_times(study: Study) -> list[TimedAnswers]:
    """Return the times of the counted answers of `study`, with the page in view."""
    alike = Response.objects.counted_in(study).annotate(ms=took_ms()).values_list("question__kind", "ms")
    return [TimedAnswers(kind, None if ms is None else ms / 1000, times) for kind, ms, times, _ in _in_order(alike)]


def _in_order(alike: QuerySet[Response, Any]) -> QuerySet[Response, Any]:
    """Group equal rows with their number, in order of first occurrence."""
    return alike.annotate(times=Count("pk"), first=Min("pk")).order_by("first")
