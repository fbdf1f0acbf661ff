"""From a project's rows to its report."""

from results.reports.agreement import filtering_table, pair_agreements, pairs_plot, pairs_table
from results.reports.base import Report
from results.reports.cost import cost_table, protocol_table
from results.reports.facts import ProjectFacts
from results.reports.funnel import accepting_studies, dataset_table, funnel_plot, funnel_table
from results.reports.scores import (
    all_outcomes,
    captions_table,
    comparison_table,
    intervals_table,
    models_table,
    scores_plot,
    scores_table,
)
from results.reports.simulated import marked


def report_of(project: ProjectFacts) -> Report:
    """Return the tables and plots of `project`; those that nothing could fill are left out."""
    pairs = {study.slug: pair_agreements(study) for study in project.studies}
    answered = all_outcomes(project)
    funnel = funnel_table(project)
    tables = [
        protocol_table(project),
        funnel,
        dataset_table(project),
        pairs_table(pairs),
        filtering_table(accepting_studies(project)),
        scores_table(answered, project),
        intervals_table(answered),
        comparison_table(answered),
        models_table(project),
        captions_table(project),
        cost_table(project),
    ]
    plots = [funnel_plot(project, funnel), pairs_plot(pairs), scores_plot(answered, project)]
    return Report(
        title=f"Report of {project.name}",
        tables=marked((table for table in tables if table.rows), project.studies),
        plots=[plot for plot in plots if any(series.points for series in plot.series)],
    )
