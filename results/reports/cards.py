"""The cards of a report, in order: which tables answer which question.

A card whose tables say nothing is left out, and so is each such table.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from analytics.outcomes import Outcome
from results.reports import score_sentences, sentences
from results.reports.base import SECTIONS, Card, Chart, Table
from results.reports.explorer_links import ALL, word_of
from results.reports.facts import ProjectFacts, StudyFacts
from results.reports.sections.agreement import filtering_table, reliabilities, reliability_table
from results.reports.sections.annotator_pairs import pair_agreements, pairs_chart, pairs_table
from results.reports.sections.answers import (
    AnswerDetails,
    TimedAnswer,
    positions_chart,
    positions_table,
    rates_chart,
    rates_table,
    times_chart,
    times_table,
)
from results.reports.sections.cost import cost_chart, cost_table, project_wages_chart, protocol_table
from results.reports.sections.descriptions import (
    described_sets_table,
    description_outcomes_chart,
    description_outcomes_table,
    description_study,
    found_chart,
    language_table,
    lengths_chart,
    phenomena_table,
    retrieval_accuracy_table,
    retrieval_agreement_table,
)
from results.reports.sections.estimates import alternative_table, powered_chart, powered_table
from results.reports.sections.funnel import (
    dataset_table,
    decisions_chart,
    funnel_chart,
    funnel_table,
    have_types,
    kept_instances,
)
from results.reports.sections.human_model_comparison import comparison_chart, comparison_table, differences_chart
from results.reports.sections.human_model_disagreement import disagreement_table
from results.reports.sections.models import captions_table, mismatched_table, models_chart, models_table
from results.reports.sections.multi_part_answers import units_chart, units_table
from results.reports.sections.people import baselines
from results.reports.sections.preferences import preferences_chart, preferences_of, preferences_table
from results.reports.sections.ratings import ratings_chart, ratings_of, ratings_table
from results.reports.sections.scores import (
    Baseline,
    baseline_of,
    compact_table,
    intervals_table,
    majority_table,
    scores_chart,
    scores_table,
)
from results.reports.sections.text_authors import Writing, texts_table, writers_table
from results.reports.sections.writing_process import writing_process_table

# These say something before anything is measured.
OUTCOMES = frozenset({"funnel", "dataset", "decisions"})
# Card -> its section, and the question that it answers.
QUESTIONS: Mapping[str, tuple[str, str]] = {
    "instances": ("dataset", "How many instances are in the dataset?"),
    "protocol": ("dataset", "What was asked?"),
    "decisions": ("dataset", "What was decided?"),
    "agreement": ("agreement", "How well do annotators agree?"),
    "people": ("people", "How well do people do?"),
    "ratings": ("people", "How are the instances rated?"),
    "units": ("people", "How do people answer each part?"),
    "preferences": ("people", "What do people prefer?"),
    "models": ("models", "How well do models do on the dataset?"),
    "comparison": ("people-and-models", "Are people better than models?"),
    "disagreement": ("people-and-models", "Where do people and models disagree?"),
    "estimates": ("people-and-models", "Could a model replace an annotator?"),
    "descriptions": ("descriptions", "How many descriptions were accepted?"),
    "retrieval": ("descriptions", "Do people find the described image?"),
    "language": ("descriptions", "How long are the descriptions?"),
    "writing": ("descriptions", "How were the texts written?"),
    "writing-process": ("descriptions", "Are texts that people find written differently?"),
    "rates": ("bias", "How often was each answer given?"),
    "positions": ("bias", "Do people choose by position?"),
    "times": ("cost", "How long does a question take?"),
    "cost": ("cost", "What does it cost?"),
}


@dataclass(frozen=True)
class StudyAnswers:
    """What a report of one study needs besides its facts.

    `timed`: the same answers by time, if `details` have no times. `writing`: the texts written in it, None if it asks
    for none.
    """

    details: Sequence[AnswerDetails]
    timed: Sequence[TimedAnswer] | None = None
    writing: Writing | None = None


def project_cards(project: ProjectFacts) -> list[Card]:
    """Return the cards of a whole project."""
    funnel, dataset, protocol = funnel_table(project), dataset_table(project), protocol_table(project)
    models, captions = models_table(project), captions_table(project)
    measured = [baseline_of(study, project) for study in baselines(project)]
    powered = powered_table(measured, project)
    return _in_order(
        _card("instances", sentences.say_dataset(funnel, dataset), [dataset, funnel], funnel_chart(project, funnel)),
        _card("protocol", sentences.say_protocol(protocol), [protocol]),
        _agreement_card(project.studies, is_compared=True),
        *_accuracy_cards(measured, project, compact_table(measured, project), [powered]),
        *_answer_cards(project.studies),
        _card(
            "models",
            score_sentences.say_models(models, captions, len(kept_instances(project))),
            [models, captions, mismatched_table(project)],
            models_chart(project),
        ),
        *_description_cards(project),
        _cost_card(project, project_wages_chart(project.studies)),
    )


def study_cards(alone: ProjectFacts, answers: StudyAnswers) -> list[Card]:
    """Return the cards of the only study of `alone`."""
    study = alone.studies[0]
    measured = [baseline_of(study, alone)] if study.knows_answers else []
    decisions, rates = _decisions_table(alone), rates_table(study)
    timed = answers.details if answers.timed is None else answers.timed
    positions, times = positions_table(answers.details), times_table(timed)
    cards = _in_order(
        _card("decisions", sentences.say_decisions(decisions), [decisions], decisions_chart(decisions)),
        _agreement_card([study], is_compared=False),
        *_accuracy_cards(measured, alone, compact_table(measured), []),
        *_answer_cards([study]),
        *_description_cards(alone),
        *(_writing_cards(study.slug, answers.writing) if answers.writing else []),
        _card("rates", sentences.say_rates(rates), [rates], rates_chart(study)),
        _card("positions", sentences.say_positions(positions), [positions], positions_chart(answers.details)),
        _card("times", sentences.say_times(times), [times], times_chart(timed)),
        _cost_card(alone, cost_chart(study)),
    )
    return [replace(card, tables=[_without_study(table, study.slug) for table in card.tables]) for card in cards]


def _answer_cards(studies: Sequence[StudyFacts]) -> Iterable[Card]:
    rated = [each for study in studies for each in ratings_of(study)]
    preferred = [each for study in studies for each in preferences_of(study)]
    ratings, units, preferences = ratings_table(rated), units_table(studies), preferences_table(preferred)
    yield _card("ratings", sentences.say_ratings(ratings), [ratings], ratings_chart(rated))
    yield _card("units", sentences.say_units(units), [units], units_chart(studies))
    yield _card("preferences", sentences.say_preferences(preferences), [preferences], preferences_chart(preferred))


def _agreement_card(studies: Sequence[StudyFacts], *, is_compared: bool) -> Card:
    """Return the card of agreement. is_compared: with the table that compares it before and after filtering."""
    pairs = {study.slug: pair_agreements(study) for study in studies}
    compared = [study for study in studies if any(question.answers > 1 for question in study.questions)]
    agreement = {study.slug: reliabilities(study) for study in compared}
    reliability = reliability_table(agreement)
    filtering = [filtering_table(agreement)] if is_compared else []
    tables = [reliability, *filtering, pairs_table(pairs)]
    return _card("agreement", sentences.say_agreement(reliability), tables, pairs_chart(pairs))


def _accuracy_cards(
    measured: Sequence[Baseline], project: ProjectFacts, compact: Table, powered: Sequence[Table]
) -> Iterable[Card]:
    intervals, comparison = intervals_table(measured), comparison_table(measured)
    disagreement, alternative = disagreement_table(project.disagreements), alternative_table(measured)
    scores = [compact, intervals, scores_table(measured), majority_table(measured)]
    left = {(each.study.slug, score): n for each in measured for score, n in each.left_dataset.items()}
    yield _card("people", score_sentences.say_people(compact, intervals, left), scores, scores_chart(measured))
    yield _card("comparison", score_sentences.say_comparison(comparison), [comparison], comparison_chart(measured))
    drawn = differences_chart(measured)
    yield _card("disagreement", score_sentences.say_disagreement(disagreement), [disagreement], drawn)
    estimates = score_sentences.say_estimates(alternative, powered, len(kept_instances(project)))
    yield _card("estimates", estimates, [alternative, *powered], powered_chart(*powered) if powered else None)


def _description_cards(project: ProjectFacts) -> Iterable[Card]:
    described = description_study(project.studies)
    outcomes, accuracy = description_outcomes_table(described), retrieval_accuracy_table(described)
    lengths = [described_sets_table(project.described, described), language_table(described)]
    found = [accuracy, retrieval_agreement_table(described), phenomena_table(described)]
    yield _card("descriptions", sentences.say_descriptions(outcomes), [outcomes], description_outcomes_chart(described))
    yield _card("retrieval", sentences.say_retrieval(accuracy), found, found_chart(described))
    yield _card("language", sentences.say_language(lengths), lengths, lengths_chart(project.described, described))


def _writing_cards(slug: str, writing: Writing) -> Iterable[Card]:
    writers, process = writers_table(slug, writing), writing_process_table(slug, writing)
    yield _card("writing", sentences.say_writers(writers), [writers, texts_table(slug, writing)])
    yield _card("writing-process", sentences.say_writing_process(process), [process])


def _cost_card(project: ProjectFacts, chart: Chart) -> Card:
    cost = cost_table(project)
    return _card("cost", sentences.say_cost(cost), [cost], chart)


def _card(name: str, sentence: str, tables: Sequence[Table], chart: Chart | None = None) -> Card:
    tables = [_without_no_type(table) for table in tables]
    shown = [table for table in tables if table.says_something or (table.name in OUTCOMES and table.rows)]
    drawn = chart if chart is not None and chart.has_points else None
    return Card(name, *QUESTIONS[name], sentence, shown, drawn)


def _without_no_type(table: Table) -> Table:
    """Return `table` without the rows of instances without a type, if no instance has one."""
    places = [place for place, column in enumerate(table.columns) if column.title in ("Type", "Subtype")]
    categories = [tuple(str(row[place]) for place in places) for row in table.rows]
    if not any(ALL in category for category in categories) or have_types(categories):
        return table
    return replace(table, rows=[row for row, names in zip(table.rows, categories, strict=True) if "" not in names])


def _in_order(*cards: Card) -> list[Card]:
    """Return the cards with tables, by section."""
    places = list(SECTIONS)
    return sorted((card for card in cards if card.tables), key=lambda card: places.index(card.section))


def _decisions_table(alone: ProjectFacts) -> Table:
    table = funnel_table(alone)
    purpose = [column.title for column in table.columns].index("Purpose")
    rows = [(*row[:purpose], *row[purpose + 1 :]) for row in table.rows if row[0] == alone.studies[0].slug]
    accepted = Outcome.ACCEPTED.capitalize()
    words = {accepted: word_of(Outcome.ACCEPTED, alone.studies[0].rule).capitalize()}
    columns = [
        replace(column, title=words.get(column.title, column.title))
        for column in table.columns
        if column.title != "Purpose"
    ]
    return replace(table, name="decisions", title="Decisions by category", columns=columns, rows=rows)


def _without_study(table: Table, slug: str) -> Table:
    """Drop the column that is the same in every row, and say which study the table rests on."""
    table = replace(table, rests_on=table.rests_on or [slug])
    if table.columns[0].title != "Study":
        return table
    return replace(table, columns=table.columns[1:], rows=[row[1:] for row in table.rows])
