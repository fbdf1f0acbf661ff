"""Where people and models part: the questions of a project that one side is right about, and the other all wrong."""

from collections.abc import Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from results.queries.instances.human_model_disagreement import Wanted, asked_as, page_of_parted, parted_questions
from results.queries.studies.simulated_answers import simulated_in_project
from results.reports.explorer_links import ALL, NO_NAME
from results.reports.facts import Parted, Way
from results.reports.sections.human_model_disagreement import TITLES, counted_lines
from results.views.guards import project_view
from studies.models import Project
from studies.permissions import Verb


@project_view(Verb.VIEW)
@require_safe
def parted(request: HttpRequest, project: Project) -> HttpResponse:
    everything = parted_questions(project)
    wanted = _wanted(request)
    shown = [one for one in everything if wanted.takes(one)]
    context = {
        "project": project,
        "simulated": simulated_in_project(project),
        "wanted": wanted,
        "is_narrowed": bool(wanted.study or wanted.asked or wanted.type or wanted.subtype),
        "query": urlencode({name: value for name, value in asdict(wanted).items() if value}),
        "ways": _ways(everything, wanted),
        "instances": len({one.instance for one in shown}),
        "instances_listed": _listed(wanted),
        "lines": page_of_parted(project, shown, request.GET.get("page")),
        "studies": sorted({one.study for one in everything}),
        "asked": sorted({asked_as(one.kind, one.variant) for one in everything}),
        "types": sorted({one.type for one in everything if one.type}),
        "subtypes": sorted({one.subtype for one in everything if one.subtype}),
    }
    return render(request, "results/parted/list.html", context)


@dataclass(frozen=True)
class CountedLine:
    """A row of the table of counts: study, type and subtype; for each way the queries that lead to the questions and
    to the instances that were counted, and how many they are."""

    names: Sequence[str]
    counts: Sequence[tuple[str, str, int, int]]


def counted(project: Project, parted: Sequence[Parted]) -> dict[str, Any]:
    """Return what a page needs for the table in which every count leads to what it counts."""
    lines = []
    for line in counted_lines(parted):
        named = {"study": line.study, "type": line.category[0], "subtype": line.category[1]}
        where = {name: value or NO_NAME for name, value in named.items() if value != ALL}
        counts = [
            (urlencode({"way": way, **where}), urlencode({"parted": way, **where}), *numbers)
            for way, numbers in line.counts.items()
        ]
        lines.append(CountedLine(list(named.values()), counts))
    return {"parted": lines, "parted_titles": list(TITLES.values()), "parted_in": project}


def _listed(wanted: Wanted) -> str:
    """Return the query that lists the instances of what is wanted, "" where it is questions of one sort: no list of
    instances tells those apart."""
    named = {"parted": wanted.way, "study": wanted.study, "type": wanted.type, "subtype": wanted.subtype}
    return "" if wanted.asked else urlencode({name: value for name, value in named.items() if value})


def _wanted(request: HttpRequest) -> Wanted:
    given = {name: request.GET.get(name, "").strip() for name in Wanted.__dataclass_fields__}
    given["way"] = given["way"] if given["way"] in set(Way) else Way.PEOPLE
    return Wanted(**given)


def _ways(everything: Sequence[Parted], wanted: Wanted) -> list[tuple[Way, str, int, str]]:
    """Return both ways with their titles, how many questions each has of what is wanted, and the query that leads to
    them."""
    found = []
    for way in Way:
        there = Wanted(**(asdict(wanted) | {"way": way}))
        query = urlencode({name: value for name, value in asdict(there).items() if value})
        found.append((way, TITLES[way], sum(there.takes(one) for one in everything), query))
    return found
