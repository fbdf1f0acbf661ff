"""Who answered a study, under their pseudonyms, and what their answers say about them."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from results.actions.pseudonyms import name_annotators
from results.reports.annotators import annotators_table
from results.reports.base import Report
from results.reports.findings import findings_of
from results.tables.annotators import persons_answers
from results.views.guards import study_view
from studies.models import Study


@study_view
@require_safe
def annotators(request: HttpRequest, study: Study) -> HttpResponse:
    name_annotators(project=study.project)
    table = annotators_table(list(persons_answers(study)))
    findings = list(findings_of(Report(table.title, [table] if table.rows else [], []), most_rows=None))
    return render(request, "results/results/annotators.html", {"study": study, "findings": findings})
