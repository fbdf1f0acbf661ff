"""Charts of the results: a fragment that waits until a worker has drawn it, and files to download."""

import json
from collections.abc import Callable, Iterable, Mapping

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.utils import timezone
from django.views.decorators.http import require_safe

from background.tasks import send
from results.actions.charts import look_up_charts, look_up_live_charts
from results.models import StoredChart
from results.reports.base import Chart
from results.reports.charts import for_file, from_plain, in_light_colors
from results.views.form_values import read_field
from results.views.guards import project_view
from studies.models import Project, Study
from studies.permissions import Verb

LONGEST_WAIT = 60
TYPES = {"svg": "image/svg+xml", "png": "image/png", "pdf": "application/pdf", "json": "application/json"}


def stored_charts(project: Project, shown: Iterable[Chart]) -> Mapping[str, StoredChart]:
    """Return chart name -> its row, drawn or not, and have new charts drawn."""
    rows, jobs = look_up_charts(project, shown, now=timezone.now())
    for job in jobs:
        send(job)
    return rows


def live_charts(study: Study, shown: Iterable[Chart]) -> Mapping[str, StoredChart]:
    """Return chart name -> its newest drawing, or its row before, and have those drawn again that are due."""
    rows, jobs = look_up_live_charts(study, shown, now=timezone.now())
    for job in jobs:
        send(job)
    return rows


@project_view(Verb.VIEW)
@require_safe
def chart(request: HttpRequest, project: Project, digest: str) -> HttpResponse:
    """Return the chart for a page; the fragment asks again while nobody has drawn it."""
    row = get_object_or_404(StoredChart, project=project, digest=digest)
    rows = stored_charts(project, [from_plain(row.values)])
    waited = read_field(request.GET, "wait")
    context = {
        "chart": next(iter(rows.values()), row),
        "about": row.values["title"],
        "project": project,
        # Each time longer, where no worker runs.
        "wait": min(int(waited) + 1, LONGEST_WAIT) if waited.isdecimal() and len(waited) < 4 else 2,
    }
    return render(request, "results/results/_chart.html", context)


@project_view(Verb.VIEW)
@require_safe
def chart_file(request: HttpRequest, project: Project, digest: str, format: str) -> HttpResponse:
    """Return a chart as SVG, PNG or PDF in light colours, or its Vega-Lite specification as JSON."""
    if format not in TYPES:
        raise Http404
    row = get_object_or_404(StoredChart, project=project, digest=digest, drawn_at__isnull=False)
    contents: dict[str, Callable[[], str | bytes]] = {
        "svg": lambda: for_file(row.svg, from_plain(row.values)),
        "png": lambda: bytes(row.png or b""),
        "pdf": lambda: bytes(row.pdf or b""),
        "json": lambda: in_light_colors(json.dumps(row.specification, indent=1)),
    }
    response = HttpResponse(contents[format](), content_type=TYPES[format])
    is_simulated = "-simulated" if row.values.get("is_simulated") else ""
    name = f"{project.slug}-{row.values['name']}{is_simulated}{'.vl' if format == 'json' else ''}.{format}"
    response["Content-Disposition"] = f'attachment; filename="{name}"'
    return response
