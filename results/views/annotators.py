"""Who answered a study, under their pseudonyms, and what their answers say about them."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from results.actions.keeping import annotators_findings
from results.models import KeptNumbers
from results.reports.findings import from_plain
from results.tables.overview import answers_sent
from results.tables.simulated import simulated_in_study
from results.views.guards import study_view
from results.views.keeping import kept_numbers
from studies.models import Study


@study_view
@require_safe
def annotators(request: HttpRequest, study: Study) -> HttpResponse:
    kept = kept_numbers(KeptNumbers.Page.STUDY_ANNOTATORS, study.project, study, answers=answers_sent(study))
    findings = annotators_findings(study) if kept is None else from_plain(kept.content or ())
    context = {"study": study, "page_name": "Annotators", "findings": findings, "kept": kept}
    context["simulated"] = simulated_in_study(study)
    return render(request, "results/results/annotators.html", context)
