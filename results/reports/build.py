"""Build the report of a project from its facts."""

from datetime import datetime

from results.reports.base import Report, Table
from results.reports.facts import ProjectFacts
from results.reports.sections.agreement import filtering_table, reliabilities, reliability_table
from results.reports.sections.annotator_pairs import pair_agreements, pairs_plot, pairs_table
from results.reports.sections.cost import cost_table, protocol_table
from results.reports.sections.descriptions import (
    described_sets_table,
    description_outcomes_table,
    description_study,
    language_table,
    phenomena_table,
    retrieval_accuracy_table,
    retrieval_agreement_table,
)
from results.reports.sections.estimates import alternative_table, powered_table
from results.reports.sections.funnel import dataset_table, funnel_plot, funnel_table
from results.reports.sections.human_model_comparison import comparison_table
from results.reports.sections.human_model_disagreement import disagreement_table
from results.reports.sections.models import captions_table, mismatched_table, models_table
from results.reports.sections.multi_part_answers import units_table
from results.reports.sections.people import baselines
from results.reports.sections.preferences import preferences_of, preferences_table
from results.reports.sections.ratings import ratings_of, ratings_table
from results.reports.sections.scores import (
    baseline_of,
    compact_table,
    intervals_table,
    majority_table,
    scores_plot,
    scores_table,
)
from results.reports.simulated_answers import marked


def report_of(project: ProjectFacts, *, made_at: datetime | None = None) -> Report:
    """Return the tables and plots of `project`; empty ones are left out.

    made_at: the time to print on it, if any.
    """
    pairs = {study.slug: pair_agreements(study) for study in project.studies}
    compared = [study for study in project.studies if any(question.answers > 1 for question in study.questions)]
    agreement = {study.slug: reliabilities(study) for study in compared}
    measured = [baseline_of(study, project) for study in baselines(project)]
    described = description_study(project.studies)
    funnel = funnel_table(project)
    tables = [
        protocol_table(project),
        funnel,
        dataset_table(project),
        ratings_table(each for study in project.studies for each in ratings_of(study)),
        units_table(project.studies),
        preferences_table([each for study in project.studies for each in preferences_of(study)]),
        pairs_table(pairs),
        reliability_table(agreement),
        filtering_table(agreement),
        described_sets_table(project.described, described),
        description_outcomes_table(described),
        retrieval_agreement_table(described),
        retrieval_accuracy_table(described),
        phenomena_table(described),
        language_table(described),
        compact_table(measured, project),
        scores_table(measured),
        intervals_table(measured),
        majority_table(measured),
        comparison_table(measured),
        disagreement_table(project.disagreements),
        alternative_table(measured),
        powered_table(measured, project),
        models_table(project),
        captions_table(project),
        mismatched_table(project),
        cost_table(project),
    ]
    plots = [funnel_plot(project, funnel), pairs_plot(pairs), scores_plot(measured)]
    return Report(
        title=f"Report of {project.name}",
        tables=marked((table for table in tables if _is_shown(table)), project.studies),
        plots=[plot for plot in plots if any(series.points for series in plot.series)],
        made_at=made_at.isoformat(timespec="seconds") if made_at else "",
    )


def _is_shown(table: Table) -> bool:
    """Whether a table is in the report; outcomes of instances are shown before anything is measured."""
    return table.says_something or (table.name in ("dataset", "funnel") and bool(table.rows))
