"""Questions where humans are right and all models wrong, or vice versa."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, replace
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from results.queries.instances.human_model_disagreement import (
    ComparisonFilters,
    describe_kind,
    disagreement_page,
    human_model_disagreements,
    kind_and_variant,
)
from results.queries.studies.simulated_answers import simulated_in_project
from results.replica import from_replica
from results.reports.explorer_links import ALL, NO_NAME
from results.reports.facts import Disagreement, Way
from results.reports.sections.funnel import have_types
from results.reports.sections.human_model_disagreement import TITLES, count_disagreements
from results.reports.text import NO_TYPE
from results.views.cached_statistics import large_project_figures
from results.views.guards import project_view
from studies.models import Project
from studies.permissions import Verb


@project_view(Verb.VIEW)
@require_safe
@from_replica
def disagreement_list(request: HttpRequest, project: Project) -> HttpResponse:
    figures = large_project_figures(project)
    everything = human_model_disagreements(project, by_figures=figures is not None and figures.as_of is not None)
    wanted = _read_filters(request)
    shown = [one for one in everything if wanted.takes(one)]
    context = {
        "project": project,
        "simulated": simulated_in_project(project),
        "kept": figures,
        "wanted": wanted,
        "is_narrowed": bool(wanted.study or wanted.asked or wanted.type or wanted.subtype),
        "query": _query(asdict(wanted)),
        "ways": _ways(everything, wanted),
        "instances": len({one.instance for one in shown}),
        "instances_listed": _instance_query(wanted),
        "lines": disagreement_page(project, shown, request.GET.get("page")),
        "studies": sorted({one.study for one in everything}),
        "asked": {
            kind_and_variant(*asked): describe_kind(*asked)
            for asked in sorted({(one.kind, one.variant) for one in everything})
        },
        "types": sorted({one.type for one in everything if one.type}),
        "subtypes": sorted({one.subtype for one in everything if one.subtype}),
    }
    return render(request, "results/parted/list.html", context)


@dataclass(frozen=True)
class CountedLine:
    """A row of counts: study, type and subtype.

    counts: for each way the queries of its questions and of its instances, and how many there are.
    """

    names: Sequence[str]
    counts: Sequence[tuple[str, str, int, int]]


def disagreement_context(project: Project, human_model_disagreements: Sequence[Disagreement]) -> dict[str, Any]:
    """Return the template context of the table whose counts link to what they count."""
    lines = []
    counted = count_disagreements(human_model_disagreements)
    if not have_types(line.category for line in counted):
        counted = [line for line in counted if line.category == (ALL, ALL)]
    for line in counted:
        named = {"study": line.study, "type": line.category[0], "subtype": line.category[1]}
        where = {name: value or NO_NAME for name, value in named.items() if value != ALL}
        counts = [
            (urlencode({"way": way, **where}), urlencode({"parted": way, **where}), *numbers)
            for way, numbers in line.counts.items()
        ]
        lines.append(CountedLine([line.study, line.category[0] or NO_TYPE, line.category[1]], counts))
    return {"disagreements": lines, "disagreement_titles": list(TITLES.values()), "disagreement_project": project}


def _instance_query(wanted: ComparisonFilters) -> str:
    """Return the query of the matching instances, "" when one kind of question is selected.

    No list of instances distinguishes questions by kind.
    """
    named = {"parted": wanted.way, "study": wanted.study, "type": wanted.type, "subtype": wanted.subtype}
    return "" if wanted.asked else _query(named)


def _query(named: Mapping[str, str]) -> str:
    return urlencode({name: value for name, value in named.items() if value})


def _read_filters(request: HttpRequest) -> ComparisonFilters:
    given = {name: request.GET.get(name, "").strip() for name in ComparisonFilters.__dataclass_fields__}
    given["way"] = given["way"] if given["way"] in set(Way) else Way.PEOPLE
    return ComparisonFilters(**given)


def _ways(everything: Sequence[Disagreement], wanted: ComparisonFilters) -> list[tuple[Way, str, int, str]]:
    """Return each way with its title, its number of matching questions and its query."""
    found = []
    for way in Way:
        there = replace(wanted, way=way)
        found.append((way, TITLES[way], sum(there.takes(one) for one in everything), _query(asdict(there))))
    return found
