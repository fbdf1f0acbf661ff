"""The instances of a project, and the history of one instance."""

from collections.abc import Iterable, Sequence
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from results.actions.pseudonyms import name_annotators
from results.queries.instances.explorer import (
    ALIKE,
    BY_FIGURES,
    IMAGES,
    ORDERS,
    PARTED,
    PROGRESS,
    QUESTIONS,
    REASONS,
    SOURCE,
    STATES,
    Wanted,
    listed,
    page_of_instances,
)
from results.queries.instances.instance_history import histories, stages
from results.queries.instances.instance_list import (
    categories_of,
    images_of,
    named_images,
    one_origin,
    tags_of,
    told_of,
)
from results.queries.instances.pages import neighbours
from results.queries.studies.pipeline import studies_in_order
from results.queries.studies.simulated_answers import simulated_in_project, simulated_studies
from results.reports.explorer_links import COUNTED, NO_NAME
from results.reports.simulated_answers import notice_of
from results.views.cached_statistics import figures_for
from results.views.guards import may_do, project_view
from results.views.search import Search
from studies.models import Instance, Project, Study
from studies.permissions import Verb

TABLE = "table"
LONGEST_COUNT = 12


@project_view(Verb.VIEW)
@require_safe
def instances(request: HttpRequest, project: Project) -> HttpResponse:
    """Explorer: the instances that match the address, as a gallery or a table."""
    search = Search.of(request)
    kept = figures_for(project) if search.needs_figures else None
    studies = studies_in_order(project)
    shown = listed(project, studies, search.wanted, search.order)
    page, count = page_of_instances(
        shown,
        studies,
        study=search.wanted.study,
        after=request.GET.get("after", ""),
        before=request.GET.get("before", ""),
    )
    may = may_do(request, project)
    context = {
        "project": project,
        "may": may,
        "may_choose": any(may[verb] for verb in (Verb.TAG, Verb.EXPORT, Verb.DESIGN)),
        "simulated": simulated_in_project(project),
        "search": search,
        "is_table": search.look == TABLE,
        "gallery": search.query(look=""),
        "table": search.query(look=TABLE),
        "is_unsorted": search.order in BY_FIGURES and not search.wanted.study,
        "kept": kept,
        "count": count,
        "counted": _counted_otherwise(request, count),
        "page": page,
        **_choices(project, search.wanted, studies),
    }
    return render(request, "results/instances/list.html", context)


def _counted_otherwise(request: HttpRequest, count: int) -> int | None:
    """Return the count on the page that linked here, if the list now has another."""
    told = request.GET.get(COUNTED, "")
    is_number = told.isascii() and told.isdigit() and len(told) < LONGEST_COUNT
    return int(told) if is_number and int(told) != count else None


def _choices(project: Project, wanted: Wanted, studies: Sequence[Study]) -> dict[str, Any]:
    """Return the options of the filter form."""
    categories = categories_of(project)
    fixed = {
        "state": ("State", "Any", STATES),
        "progress": ("Progress of its questions", "Any", PROGRESS),
        "question": ("Has a question that is", "Any", QUESTIONS),
        "alike": ("Answers", "Any", ALIKE),
        "reason": ("Reported problem", "Any or none", REASONS),
        "parted": ("People and models", "Any", PARTED),
    }
    models = [str(model) for model in project.models.that_answered(project)]
    return {
        "splits": _named(split for split, _, _ in categories),
        "types": _named(type for _, type, _ in categories),
        "subtypes": _named(subtype for _, _, subtype in categories),
        "tags": list(project.tags.values_list("name", flat=True)),
        "studies": [study.slug for study in studies],
        "models": models,
        "images": IMAGES,
        "orders": {name: order.title for name, order in ORDERS.items() if name != SOURCE},
        "fixed": [(name, *labels, getattr(wanted, name)) for name, labels in fixed.items()],
    }


def _named(names: Iterable[str]) -> list[str]:
    found = set(names)
    return sorted({name or NO_NAME for name in found}) if found - {""} else []


@project_view(Verb.VIEW)
@require_safe
def instance(request: HttpRequest, project: Project, key: str) -> HttpResponse:
    return _page(request, get_object_or_404(Instance, project=project, key=key.replace("\0", "")), project)


@project_view(Verb.VIEW)
@require_safe
def instance_by_id(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Page of an instance whose key cannot be part of an address."""
    return _page(request, get_object_or_404(Instance, project=project, pk=pk), project)


def _page(request: HttpRequest, instance: Instance, project: Project) -> HttpResponse:
    name_annotators(project=project)
    studies = studies_in_order(project)
    indices = {study.pk: index for index, study in enumerate(studies)}
    history = histories(instance.questions.all(), project=project)
    history.sort(key=lambda asked: (indices[asked.question.study_id], asked.question.part, asked.question.pk))
    images = images_of([instance])[instance.pk]
    told = told_of(instance)
    search = Search.of(request)
    if search.needs_figures:
        figures_for(project)
    shown = listed(project, studies, search.wanted, search.order)
    previous, following = neighbours(shown.instances, shown.order, instance.pk)
    context = {
        "project": project,
        "search": search,
        "previous": previous,
        "following": following,
        # The page of the list that starts with it.
        "up": search.query(after=str(previous.pk) if previous else ""),
        "tags": tags_of([instance])[instance.pk],
        "simulated": notice_of(simulated_studies(asked.question.study for asked in history)),
        "instance": instance,
        "captions": [
            (role, text, instance.original_captions.get(role, ""), told.get(role, ""))
            for role, text in instance.captions.items()
        ],
        "images": named_images(images),
        "one_origin": one_origin(images),
        "history": history,
        "stages": stages(history),
        "may": may_do(request, project),
    }
    return render(request, "results/instances/instance.html", context)
