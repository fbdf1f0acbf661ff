"""Who answered a study, under their pseudonyms, and what their answers say about them."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from results.actions.kept_numbers import annotators_findings
from results.actions.pseudonyms import name_annotators
from results.models import KeptNumbers
from results.queries.events import events_about_people
from results.queries.overview import answers_sent
from results.queries.people import people_lines
from results.queries.simulated import simulated_in_study
from results.reports.findings import from_plain
from results.views.guards import may_do, study_view
from results.views.kept_numbers import numbers_for
from results.views.people import PROVIDERS
from results.views.typed import typed
from studies.models import Study
from studies.permissions import Verb


@study_view(Verb.VIEW)
@require_safe
def annotators(request: HttpRequest, study: Study) -> HttpResponse:
    kept = numbers_for(KeptNumbers.Page.STUDY_ANNOTATORS, study.project, study, answers=answers_sent(study))
    findings = annotators_findings(study) if kept is None else from_plain(kept.content or ())
    if kept is not None:
        # The findings of small studies have done it.
        name_annotators(project=study.project)
    who = typed(request.GET, "who")
    context = {
        "study": study,
        "page_name": "Annotators",
        "findings": findings,
        "kept": kept,
        "simulated": simulated_in_study(study),
        "people": people_lines(study, who=who, page=request.GET.get("page")),
        "who": who,
        "events": events_about_people(study.project),
        "providers": PROVIDERS,
        "may": may_do(request, study.project),
    }
    return render(request, "results/results/annotators.html", context)
