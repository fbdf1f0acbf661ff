"""Download the report of a project in one of its formats, with charts, as a ZIP file."""

import io
import zipfile

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.utils import timezone
from django.views.decorators.http import require_safe

from background.tasks import send
from results.actions.charts import look_up_charts, stored_drawings
from results.actions.reports import named_facts
from results.replica import from_replica
from results.reports.build import report_of
from results.reports.formats import FORMATS, get_files
from results.views.guards import project_view
from studies.models import Project
from studies.permissions import Verb


@project_view(Verb.VIEW)
@require_safe
@from_replica
def report(request: HttpRequest, project: Project, format: str) -> HttpResponse:
    """Return the files of the report; built during the request, in a fraction of a second."""
    if format not in FORMATS:
        raise Http404
    facts = named_facts(project)
    if not facts.has_something_to_report:
        messages.error(request, "There is nothing to report yet: no study has been launched, no model has answered.")
        return redirect("project_results", project.slug)
    found = report_of(facts, made_at=timezone.now())
    _, jobs = look_up_charts(project, found.charts, now=timezone.now())
    for job in jobs:
        send(job)
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in get_files(format)(found, stored_drawings(project, found)).items():
            # Without the packing time, so that the same report is the same file.
            archive.writestr(zipfile.ZipInfo(name), content, zipfile.ZIP_DEFLATED)
    response = HttpResponse(packed.getvalue(), content_type="application/zip")
    response["Content-Disposition"] = f'attachment; filename="{project.slug}-report-{format}.zip"'
    return response
