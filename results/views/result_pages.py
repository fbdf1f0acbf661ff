"""The results of a study and of a project: the tables and plots of its report, as pages."""

from collections.abc import Sequence

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from results.actions.cached_statistics import whole_report
from results.models import KeptNumbers
from results.queries.instances.human_model_disagreement import parted_questions
from results.queries.people.text_authors import asking_about, kinds_written
from results.queries.reports.report_rows import project_facts
from results.queries.studies.overview import answers_sent
from results.queries.studies.simulated_answers import simulated_in_project, simulated_in_study
from results.reports.build import report_of
from results.reports.facts import Parted
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
    if _tells_of_parting(findings):
        context |= counted(study.project, parted_questions(study.project, study))
    context["simulated"] = simulated_in_study(study)
    context["asking"] = asking_about(study) if kinds_written(study) else []
    return render(request, "results/results/study.html", context)


def _tells_of_parting(findings: Sequence[Finding]) -> bool:
    return any(finding.text.table.name == "parted" for finding in findings)


@project_view(Verb.VIEW)
@require_safe
def project_results(request: HttpRequest, project: Project) -> HttpResponse:
    kept = numbers_for(KeptNumbers.Page.PROJECT_RESULTS, project, answers=answers_sent(project))
    if kept is not None:
        findings = from_plain(kept.content or ())
        # Counted anew, so that every count is that of the list that it leads to.
        parted: Sequence[Parted] = parted_questions(project) if _tells_of_parting(findings) else ()
    else:
        facts = project_facts(project)
        findings, parted = list(findings_of(report_of(facts))), facts.parted
    context = {"project": project, "findings": findings, "kept": kept, "simulated": simulated_in_project(project)}
    context |= counted(project, parted)
    return render(request, "results/results/project.html", context)
