"""Results of a study and of a project: the tables and plots of the report as pages."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from results.actions.cached_statistics import whole_report
from results.models import KeptNumbers
from results.queries.instances.human_model_disagreement import human_model_disagreements
from results.queries.people.text_authors import asking_about, kinds_written
from results.queries.reports.report_rows import project_facts
from results.queries.studies.overview import answers_sent
from results.queries.studies.simulated_answers import simulated_in_project, simulated_in_study
from results.reports.build import report_of
from results.reports.facts import Disagreement
from results.reports.page_tables import Finding, findings_of, from_plain
from results.views.cached_statistics import numbers_for
from results.views.guards import project_view, study_view
from results.views.human_model_disagreement import counted
from studies.models import Project, Study, StudyState
from studies.permissions import Verb


@study_view(Verb.VIEW)
@require_safe
def study_results(request: HttpRequest, study: Study) -> HttpResponse:
    findings: list[Finding] = []
    kept = numbers_for(KeptNumbers.Page.STUDY_RESULTS, study.project, study, answers=answers_sent(study))
    if kept is not None:
        findings = from_plain(kept.content or ())
    elif study.state != StudyState.DRAFT:
        findings += findings_of(whole_report(study))
    context = {"study": study, "page_name": "Results", "findings": findings, "kept": kept}
    if _has_disagreement_table(findings):
        context |= counted(study.project, human_model_disagreements(study.project, study))
    context["simulated"] = simulated_in_study(study)
    context["asking"] = asking_about(study) if kinds_written(study) else []
    return render(request, "results/results/study.html", context)


def _has_disagreement_table(findings: Sequence[Finding]) -> bool:
    return any(finding.text.table.name == "parted" for finding in findings)


@project_view(Verb.VIEW)
@require_safe
def project_results(request: HttpRequest, project: Project) -> HttpResponse:
    kept = numbers_for(KeptNumbers.Page.PROJECT_RESULTS, project, answers=answers_sent(project))
    if kept is not None:
        findings = from_plain(kept.content or ())
        # Counted again, so that every count matches the list it links to.
        disagreements: Sequence[Disagreement] = (
            human_model_disagreements(project) if _has_disagreement_table(findings) else ()
        )
    else:
        facts = project_facts(project)
        findings, disagreements = list(findings_of(report_of(facts))), facts.disagreements
    context = {"project": project, "findings": findings, "kept": kept, "simulated": simulated_in_project(project)}
    context |= counted(project, disagreements)
    return render(request, "results/results/project.html", context)
