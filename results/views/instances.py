"""The instances of a project, and the whole history of one."""

from dataclasses import asdict
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from results.actions.pseudonyms import name_annotators
from results.queries.histories import histories, stages
from results.queries.instances import (
    STATES,
    Wanted,
    asked_about,
    categories_of,
    images_of,
    instance_lines,
    named_images,
    one_origin,
    told_of,
)
from results.queries.pipeline import studies_in_order
from results.queries.simulated import played_in, simulated_in_project
from results.reports.simulated import notice_of
from results.views.guards import project_view
from studies.models import Instance, Project
from studies.permissions import Verb


@project_view(Verb.VIEW)
@require_safe
def instances(request: HttpRequest, project: Project) -> HttpResponse:
    studies = studies_in_order(project)
    wanted = _wanted(request)
    categories = categories_of(project)
    context = {
        "project": project,
        "simulated": simulated_in_project(project),
        "wanted": wanted,
        "query": urlencode({name: value for name, value in asdict(wanted).items() if value}),
        "lines": instance_lines(project, studies, wanted, request.GET.get("page")),
        "types": sorted({type for type, _ in categories if type}),
        "subtypes": sorted({subtype for _, subtype in categories if subtype}),
        "studies": studies,
        "states": STATES,
    }
    return render(request, "results/instances/list.html", context)


def _wanted(request: HttpRequest) -> Wanted:
    given = {name: request.GET.get(name, "").strip() for name in Wanted.__dataclass_fields__}
    # PostgreSQL takes no text with a zero character.
    return Wanted(**{name: value.replace("\0", "") for name, value in given.items()})


@project_view(Verb.VIEW)
@require_safe
def instance(request: HttpRequest, project: Project, key: str) -> HttpResponse:
    return _page(request, get_object_or_404(Instance, project=project, key=key.replace("\0", "")), project)


@project_view(Verb.VIEW)
@require_safe
def instance_by_id(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """The same page, for an instance whose key cannot stand in an address."""
    return _page(request, get_object_or_404(Instance, project=project, pk=pk), project)


def _page(request: HttpRequest, instance: Instance, project: Project) -> HttpResponse:
    name_annotators(project=project)
    indices = {study.pk: index for index, study in enumerate(studies_in_order(project))}
    history = histories(asked_about(instance), project=project)
    history.sort(key=lambda asked: (indices[asked.question.study_id], asked.question.part, asked.question.pk))
    images = images_of([instance])[instance.pk]
    told = told_of(instance)
    context = {
        "project": project,
        "simulated": notice_of(played_in(asked.question.study for asked in history)),
        "instance": instance,
        "captions": [
            (role, text, instance.original_captions.get(role, ""), told.get(role, ""))
            for role, text in instance.captions.items()
        ],
        "images": named_images(images),
        "one_origin": one_origin(images),
        "history": history,
        "stages": stages(history),
    }
    return render(request, "results/instances/instance.html", context)
