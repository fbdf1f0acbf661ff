"""The annotators of a study under their pseudonyms, with statistics of their answers."""

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from results.actions.cached_statistics import annotators_page
from results.actions.pseudonyms import name_annotators
from results.models import KeptNumbers
from results.queries.people.checks import checks_of_people
from results.queries.people.participants import people_lines
from results.queries.studies.events import events_about_people
from results.queries.studies.overview import answers_sent
from results.reports.charts import from_plain
from results.reports.page_tables import PageTable, page_table, table_from_plain
from results.reports.sections.checks import checks_table
from results.views.cached_statistics import numbers_for
from results.views.charts import stored_charts
from results.views.form_values import read_field
from results.views.guards import may_do, study_view
from results.views.participants import PROVIDERS
from studies.models import Study
from studies.permissions import Verb


@study_view(Verb.VIEW)
@require_safe
def annotators(request: HttpRequest, study: Study) -> HttpResponse:
    kept = numbers_for(KeptNumbers.Page.STUDY_ANNOTATORS, study.project, study, answers=answers_sent(study))
    tables: list[PageTable] = []
    chart = None
    if kept is None:
        tables, chart = annotators_page(study)
    else:
        if kept.numbers:
            tables = [table_from_plain(each) for each in kept.numbers["tables"]]
            chart = from_plain(kept.numbers["chart"])
        # For small studies the table has already created them.
        name_annotators(project=study.project)
    who = read_field(request.GET, "who")
    if study.design.checks is not None:
        checks = checks_table("Annotator", checks_of_people(study), together="All annotators")
        tables = [*tables, page_table(checks)] if checks.rows else tables
    context = {
        "study": study,
        "page_name": "Annotators",
        "tab": "annotators",
        "tables": tables,
        "chart": chart,
        "stored_chart": stored_charts(study.project, [chart]).get(chart.name) if chart and chart.has_points else None,
        "kept": kept,
        "people": people_lines(study.project, study=study, who=who, page=request.GET.get("page")),
        "who": who,
        "events": events_about_people(study.project, study=study),
        "providers": PROVIDERS,
        "may": may_do(request, study.project),
    }
    return render(request, "results/results/annotators.html", context)
