"""The questions of a study with their pictures and votes."""

from collections.abc import Mapping
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from results.actions.pseudonyms import name_annotators
from results.models import KeptNumbers
from results.queries.packed_numbers import unpack_ids
from results.queries.people.checks import MOST_LISTED as MOST_CHECKS_LISTED
from results.queries.people.checks import check_questions
from results.queries.studies.overview import answers_sent
from results.queries.studies.questions import (
    DIFFICULTIES,
    DIFFICULTY,
    MOST_LISTED,
    SORTS,
    page_of_questions,
    question_difficulties,
    sorted_questions,
)
from results.views.cached_statistics import numbers_for
from results.views.guards import may_do, study_view
from studies.models import Study
from studies.permissions import Verb

CHECKS_PER_PAGE = 50


@study_view(Verb.VIEW)
@require_safe
def questions(request: HttpRequest, study: Study) -> HttpResponse:
    """Show the questions of `study`, all or sorted by one of their numbers."""
    name_annotators(project=study.project)
    sort = request.GET.get("sort", "")
    sort = sort if sort in SORTS else ""
    kept, ordered = None, None
    difficulties: Mapping[int, float] = {}
    if sort:
        page = KeptNumbers.Page.STUDY_QUESTIONS
        kept = numbers_for(page, study.project, study, answers=answers_sent(study))
        numbers = {} if kept is None else kept.numbers or {}
        if sort == DIFFICULTY:
            stored = zip(_read(numbers, sort), numbers.get(DIFFICULTIES, []), strict=True)
            difficulties = question_difficulties(study) if kept is None else dict(stored)
            ordered = list(difficulties)
        else:
            ordered = sorted_questions(study, sort) if kept is None else _read(numbers, sort)
    context = {
        "study": study,
        "page_name": "Questions",
        "tab": "questions",
        "questions": page_of_questions(study, ordered, request.GET.get("page"), difficulties),
        "sort": sort,
        "sorts": SORTS,
        "most": MOST_LISTED,
        "query": urlencode({"sort": sort}) if sort else "",
        "kept": kept,
        "may": may_do(request, study.project),
    }
    return render(request, "results/questions.html", context)


def _read(numbers: Mapping[str, Any], sort: str) -> list[int]:
    """Return the ids of a stored order."""
    ids: list[int] = unpack_ids(numbers.get(sort, "")).tolist()
    return ids


@study_view(Verb.VIEW)
@require_safe
def checks(request: HttpRequest, study: Study) -> HttpResponse:
    """List the gold questions and instruction checks of `study`, those that most people fail first."""
    context = {
        "study": study,
        "page_name": "Checks",
        "tab": "questions",
        "checks": Paginator(check_questions(study), CHECKS_PER_PAGE).get_page(request.GET.get("page")),
        "most": MOST_CHECKS_LISTED,
        "may": may_do(request, study.project),
    }
    return render(request, "results/checks.html", context)
