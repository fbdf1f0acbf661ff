"""Report of a single study: decisions, answers, agreement and accuracy."""

from collections.abc import Sequence
from dataclasses import replace

from results.reports.base import Report, Table
from results.reports.facts import ProjectFacts
from results.reports.sections.agreement import reliabilities, reliability_table
from results.reports.sections.annotator_pairs import pair_agreements, pairs_plot, pairs_table
from results.reports.sections.answers import (
    AnswerDetails,
    TimedAnswer,
    positions_plot,
    positions_table,
    rates_plot,
    rates_table,
    times_plot,
    times_table,
)
from results.reports.sections.cost import cost_table
from results.reports.sections.descriptions import (
    description_outcomes_table,
    description_study,
    language_table,
    phenomena_table,
    retrieval_accuracy_table,
    retrieval_agreement_table,
)
from results.reports.sections.estimates import alternative_table
from results.reports.sections.funnel import funnel_table
from results.reports.sections.human_model_comparison import comparison_table
from results.reports.sections.human_model_disagreement import disagreement_table
from results.reports.sections.multi_part_answers import units_plot, units_table
from results.reports.sections.preferences import preferences_of, preferences_plot, preferences_table
from results.reports.sections.ratings import ratings_of, ratings_plot, ratings_table
from results.reports.sections.scores import (
    baseline_of,
    compact_table,
    intervals_table,
    majority_table,
    scores_plot,
    scores_table,
)
from results.reports.sections.text_authors import Writing, texts_table, writers_table
from results.reports.simulated_answers import marked


def report_of_study(
    alone: ProjectFacts,
    answers: Sequence[AnswerDetails],
    timed: Sequence[TimedAnswer] | None = None,
    writing: Writing | None = None,
) -> Report:
    """Return the tables and plots of the only study of `alone`; empty ones are left out.

    `timed`: the same answers by time, if `answers` has no times. `writing`: the texts written in it, None if it asks
    for none.
    """
    study = alone.studies[0]
    timed = answers if timed is None else timed
    pairs = {study.slug: pair_agreements(study)}
    measured = [baseline_of(study, alone)] if study.knows_answers else []
    preferred, rated = preferences_of(study), ratings_of(study)
    described = description_study(alone.studies)
    tables = [
        _decisions_table(alone),
        description_outcomes_table(described),
        retrieval_agreement_table(described),
        retrieval_accuracy_table(described),
        phenomena_table(described),
        language_table(described),
        *([writers_table(study.slug, writing), texts_table(study.slug, writing)] if writing else []),
        compact_table(measured),
        scores_table(measured),
        intervals_table(measured),
        majority_table(measured),
        comparison_table(measured),
        disagreement_table(alone.disagreements),
        alternative_table(measured),
        rates_table(study),
        ratings_table(rated),
        units_table(alone.studies),
        preferences_table(preferred),
        pairs_table(pairs),
        reliability_table({study.slug: reliabilities(study)}),
        positions_table(answers),
        times_table(timed),
        cost_table(alone),
    ]
    plots = [
        *(pairs_plot(pairs), rates_plot(study), ratings_plot(rated), units_plot(study), preferences_plot(preferred)),
        *(positions_plot(answers), times_plot(timed)),
        *([scores_plot(measured)] if measured else []),
    ]
    # Tables without this column are about this one study.
    shown = (
        replace(_without_study(table), rests_on=table.rests_on or [study.slug]) for table in tables if _is_shown(table)
    )
    return Report(
        title=f"Results of {study.slug}",
        tables=marked(shown, [study, *(writing.asking if writing else ())]),
        plots=[plot for plot in plots if any(series.points for series in plot.series)],
    )


def _is_shown(table: Table) -> bool:
    """Whether a table is in the report; outcomes of questions are shown before anything is measured."""
    return table.says_something or (table.name == "decisions" and bool(table.rows))


def _decisions_table(alone: ProjectFacts) -> Table:
    table = funnel_table(alone)
    purpose = [column.title for column in table.columns].index("Purpose")
    rows = [(*row[:purpose], *row[purpose + 1 :]) for row in table.rows if row[0] == alone.studies[0].slug]
    columns = [column for column in table.columns if column.title != "Purpose"]
    return replace(table, name="decisions", title="Decisions by category", columns=columns, rows=rows)


def _without_study(table: Table) -> Table:
    """Drop the column that is the same in every row."""
    if table.columns[0].title != "Study":
        return table
    return replace(table, columns=table.columns[1:], rows=[row[1:] for row in table.rows])
