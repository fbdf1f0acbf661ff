"""The results of a study and of a project: the tables and plots of its report, as pages."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils.safestring import SafeString, mark_safe
from django.views.decorators.http import require_safe

from results.reports.base import Report
from results.reports.build import report_of
from results.reports.of_study import report_of_study
from results.reports.plots import svg
from results.reports.text import TextTable, text_table
from results.tables.answers import answer_details, facts_alone
from results.tables.reporting import project_facts
from results.views.guards import project_view, study_view
from studies.models import Project, Study, StudyState

# Longer tables stand in a frame of their own.
MOST_ROWS = 24


@dataclass(frozen=True)
class Finding:
    """A table, and the plot of the same where there is one."""

    text: TextTable
    plot: SafeString

    @property
    def rows(self) -> Sequence[Sequence[tuple[str, bool]]]:
        """Return the cells of each row, each with whether it is a number."""
        return [list(zip(row, self.text.is_number, strict=True)) for row in self.text.rows]

    @property
    def is_long(self) -> bool:
        """Return whether it would push what follows too far down; it is then scrolled in a frame that says so."""
        return len(self.text.rows) > MOST_ROWS

    @property
    def headings(self) -> Sequence[tuple[str, bool]]:
        return list(zip(self.text.headings, self.text.is_number, strict=True))


def findings_of(report: Report) -> Iterable[Finding]:
    plots = {plot.name: plot for plot in report.plots}
    for table in report.tables:
        # The plot escapes every word in it.
        drawn = svg(plots[table.name]) if table.name in plots else ""
        yield Finding(text_table(table), mark_safe(drawn))  # noqa: S308


@study_view
@require_safe
def study_results(request: HttpRequest, study: Study) -> HttpResponse:
    findings: list[Finding] = []
    if study.state != StudyState.DRAFT:
        alone = facts_alone(study)
        findings += findings_of(report_of_study(alone, answer_details(study, alone)))
    return render(request, "results/results/study.html", {"study": study, "findings": findings})


@project_view
@require_safe
def project_results(request: HttpRequest, project: Project) -> HttpResponse:
    findings = list(findings_of(report_of(project_facts(project))))
    return render(request, "results/results/project.html", {"project": project, "findings": findings})
