"""Results of a study and of a project: the cards of the report as pages."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from results.actions.cached_statistics import CachedStatistics, whole_report
from results.actions.reports import named_facts
from results.models import KeptNumbers, StoredChart
from results.queries.instances.human_model_disagreement import human_model_disagreements
from results.queries.people.text_authors import asking_studies, written_kinds
from results.queries.studies.overview import answers_sent
from results.queries.studies.simulated_answers import simulated_in_project
from results.replica import from_replica
from results.reports.base import Report
from results.reports.build import report_of
from results.reports.facts import Disagreement
from results.reports.page_tables import PageCard, cards_from_plain, page_cards
from results.reports.table_files import STORED_WRITERS, WRITERS
from results.views.cached_statistics import has_stored_figures, numbers_for, results_for
from results.views.charts import stored_charts
from results.views.guards import project_view, study_view
from results.views.human_model_disagreement import disagreement_context
from studies.models import Project, Study, StudyState
from studies.permissions import Verb

FORMAT_NAMES = (("html", "HTML"), ("md", "Markdown"), ("tex", "LaTeX"), ("json", "JSON"))
TYPES = {"csv": "text/csv; charset=utf-8", "tex": "application/x-tex; charset=utf-8"}


@dataclass(frozen=True)
class ShownCard:
    card: PageCard
    chart: StoredChart | None


@study_view(Verb.VIEW)
@require_safe
@from_replica
def study_results(request: HttpRequest, study: Study) -> HttpResponse:
    cards: list[PageCard] = []
    kept = numbers_for(KeptNumbers.Page.STUDY_RESULTS, study.project, study, answers=answers_sent(study))
    if kept is not None:
        cards = cards_from_plain(kept.numbers or ())
    elif study.state != StudyState.DRAFT:
        cards = page_cards(whole_report(study))
    context = {
        "study": study,
        "page_name": "Results",
        "tab": "results",
        "cards": _with_charts(study.project, cards),
        "kept": kept,
    }
    if _has_disagreement_table(cards):
        by_figures = has_stored_figures(study.project, answers=answers_sent(study))
        found = human_model_disagreements(study.project, study, by_figures=by_figures)
        context |= disagreement_context(study.project, found)
    context["asking"] = asking_studies(study) if written_kinds(study) else []
    return render(request, "results/results/study.html", context)


def _has_disagreement_table(cards: Sequence[PageCard]) -> bool:
    return any(table.name == "parted" for card in cards for table in card.tables)


def _with_charts(project: Project, cards: Sequence[PageCard]) -> list[ShownCard]:
    """Return the cards with their stored charts, and have those drawn that are new."""
    stored = stored_charts(project, [card.chart for card in cards if card.chart is not None])
    return [ShownCard(card, stored.get(card.chart.name) if card.chart else None) for card in cards]


@project_view(Verb.VIEW)
@require_safe
@from_replica
def project_results(request: HttpRequest, project: Project) -> HttpResponse:
    kept = results_for(project)
    cards = _project_cards(kept)
    # Counted again, so that every count matches the list it links to.
    disagreements: Sequence[Disagreement] = ()
    if _has_disagreement_table(cards):
        by_figures = has_stored_figures(project, answers=answers_sent(project))
        disagreements = human_model_disagreements(project, by_figures=by_figures)
    context = {
        "project": project,
        "simulated": simulated_in_project(project),
        "cards": _with_charts(project, cards),
        "kept": kept if kept.in_background else None,
        "formats": FORMAT_NAMES,
    }
    context |= disagreement_context(project, disagreements)
    return render(request, "results/results/project.html", context)


def _project_cards(kept: CachedStatistics) -> list[PageCard]:
    return cards_from_plain(kept.numbers["cards"] if kept.numbers else ())


@project_view(Verb.VIEW)
@require_safe
@from_replica
def project_table(request: HttpRequest, project: Project, table: str, format: str) -> HttpResponse:
    """Return one table of the results of `project` as a file."""
    kept = numbers_for(KeptNumbers.Page.PROJECT_RESULTS, project, answers=answers_sent(project))
    stored = None if kept is None else _project_cards(kept)
    return _table_file(stored, lambda: report_of(named_facts(project)), table, format, project.slug)


@study_view(Verb.VIEW)
@require_safe
@from_replica
def study_table(request: HttpRequest, study: Study, table: str, format: str) -> HttpResponse:
    """Return one table of the results of `study` as a file."""
    kept = numbers_for(KeptNumbers.Page.STUDY_RESULTS, study.project, study, answers=answers_sent(study))
    stored = None if kept is None else cards_from_plain(kept.numbers or ())
    return _table_file(stored, lambda: whole_report(study), table, format, f"{study.project.slug}-{study.slug}")


def _table_file(
    kept: Sequence[PageCard] | None, report: Callable[[], Report], name: str, format: str, about: str
) -> HttpResponse:
    """Return a table with exact values or, where its page shows stored numbers, with these."""
    if format not in WRITERS:
        raise Http404
    if kept is None:
        exact = [(card.simulated, table) for card in report().cards for table in card.tables if table.name == name]
        contents = [(simulated, WRITERS[format](table)) for simulated, table in exact]
    else:
        stored = [(card.simulated, table) for card in kept for table in card.tables if table.name == name]
        contents = [(simulated, STORED_WRITERS[format](table)) for simulated, table in stored]
    if not contents:
        raise Http404
    simulated, content = contents[0]
    response = HttpResponse(content, content_type=TYPES[format])
    file = f"{about}-{name}{'-simulated' if simulated else ''}.{format}"
    response["Content-Disposition"] = f'attachment; filename="{file}"'
    return response
