"""How far annotators agree: per pair who shared a survey, and over everybody before and after filtering."""

from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.acceptance import NONE, ORIGINAL
from analytics.agreement import Coefficient, cohen_kappa, estimate, percent_agreement
from analytics.bootstrap import Interval, agreement_over_units
from analytics.coefficients import CohenKappa, FleissKappa, GwetAC1, KrippendorffAlpha, Measure, PercentAgreement
from analytics.pairs import Pair, mean_coefficient, pairs_within
from analytics.ratings import Coded, by_unit, code
from analytics.scores import Score, wilson_interval
from results.reports.base import Cell, Column, Plot, Point, Range, Series, Table, Undefined
from results.reports.facts import AnswerFacts, StudyFacts
from results.reports.funnel import accepted_of

# Resampling starts from here, so that a report made again says the same.
SEED = 7
# More pairs than this make no picture that anybody can read.
MOST_PAIRS_DRAWN = 100
ANY, NOT_ORIGINAL = "any image", "not told apart"
MEASURES: Mapping[str, Measure] = {
    "Percent agreement": PercentAgreement(),
    "Krippendorff's alpha": KrippendorffAlpha("nominal"),
    "Fleiss' kappa": FleissKappa(),
    "Gwet's AC1": GwetAC1(),
}
Collapse = Callable[[str], str]


def _chosen_or_not(choice: str) -> str:
    return NONE if choice == NONE else ANY


def _original_or_not(choice: str) -> str:
    return ORIGINAL if choice == ORIGINAL else NOT_ORIGINAL


# How a kind's options are put together for agreement: what its acceptance rule tells apart.
COLLAPSES: Mapping[str, tuple[str, Collapse]] = {
    "best_of_n": ("any image / None", _chosen_or_not),
    "ambiguity": ("original / not told apart", _original_or_not),
}


@dataclass(frozen=True)
class PairAgreement:
    """What is known of two annotators of a study who shared a survey."""

    study: str
    labels: str
    n: int
    percent: Coefficient
    kappa: Coefficient
    interval: Interval


def pair_agreements(study: StudyFacts) -> list[PairAgreement]:
    """Return the agreement of every pair of annotators of `study`, in the order of the surveys they shared."""
    labels, collapse = _collapse_of(study)
    answers = sorted(study.answers, key=lambda answer: answer.survey)
    pairs = pairs_within(
        (answer.survey, answer.question, answer.annotator, collapse(answer.choice)) for answer in answers
    )
    return [_pair_agreement(study, labels, pair) for pair in pairs]


def _collapse_of(study: StudyFacts) -> tuple[str, Collapse]:
    return COLLAPSES.get(study.kinds[0], ("options", str))


def _pair_agreement(study: StudyFacts, labels: str, pair: Pair) -> PairAgreement:
    ratings = code(pair.ratings)
    return PairAgreement(
        study=study.slug,
        labels=labels,
        n=len(pair.ratings),
        percent=percent_agreement(ratings),
        kappa=cohen_kappa(ratings),
        interval=agreement_over_units(CohenKappa(), ratings, rng=np.random.default_rng(SEED)),
    )


def value_or_reason(value: float | None, reason: str | None) -> Cell:
    return Undefined(reason or "") if value is None else value


def range_or_reason(interval: Interval) -> Cell:
    if interval.low is None or interval.high is None:
        return Undefined(interval.reason or "")
    return Range(interval.low, interval.high)


def share_range(found: Score) -> Cell:
    """Return Wilson's interval of a share of single answers."""
    interval = wilson_interval(found.count, found.n)
    return Undefined(found.reason or "") if interval is None else Range(*interval)


def pairs_table(found: Mapping[str, Sequence[PairAgreement]]) -> Table:
    """Return one row per pair and one with the mean of each study. found: study -> its pairs."""
    columns = [
        *(Column("Study"), Column("Pair"), Column("Labels"), Column("Questions", "count")),
        *(Column("Agreed", "share"), Column("Cohen's kappa", "coefficient"), Column("95 % interval", "coefficient")),
    ]
    rows: list[Sequence[Cell]] = []
    for study, pairs in found.items():
        rows += [
            (
                *(study, str(number), pair.labels, pair.n),
                value_or_reason(pair.percent.value, pair.percent.reason),
                value_or_reason(pair.kappa.value, pair.kappa.reason),
                range_or_reason(pair.interval),
            )
            for number, pair in enumerate(pairs, start=1)
        ]
        if pairs:
            mean = mean_coefficient([pair.kappa for pair in pairs])
            row = (
                study,
                f"mean of {mean.n}",
                pairs[0].labels,
                None,
                None,
                value_or_reason(mean.value, mean.reason),
                None,
            )
            rows.append(row)
    notes = [
        "Each two annotators who took the same survey, on the questions that both answered. Intervals are percentile "
        "bootstrap intervals over questions. A mean leaves out pairs without a kappa."
    ]
    return Table("pairs", "Agreement of pairs of annotators", columns, rows, notes)


def pairs_plot(found: Mapping[str, Sequence[PairAgreement]]) -> Plot:
    points = [
        Point(f"{study}: pair {number}", pair.kappa.value, pair.interval.low, pair.interval.high)
        for study, pairs in found.items()
        for number, pair in enumerate(pairs, start=1)
    ]
    if len(points) > MOST_PAIRS_DRAWN:
        points = []
    known = [f"{point.label} {point.value:.2f}" for point in points if point.value is not None]
    words = f"Cohen's kappa with 95 % intervals: {', '.join(known) or 'none is defined'}."
    axis = "Cohen's kappa, with its 95 % interval"
    return Plot("pairs", "Agreement of pairs of annotators", words, "points", "coefficient", axis, [Series("", points)])


def filtering_table(studies: Iterable[StudyFacts]) -> Table:
    """Compare agreement over all answers of a study with agreement over what it accepted."""
    columns = [Column("Study"), Column("Labels"), Column("Measure")]
    for when in ("before", "after"):
        columns += [Column(f"Questions {when}", "count"), Column(f"Value {when}", "coefficient")]
        columns += [Column(f"95 % interval {when}", "coefficient")]
    rows: list[Sequence[Cell]] = []
    for study in studies:
        if any(question.answers > 1 for question in study.questions):
            rows += _filtering_rows(study)
    notes = [
        "Before: all answers. After: only answers about instances that the study accepted. Filtering keeps what people "
        "agree on, so the value after it says little about the questions. Questions with two or more "
        "answers are counted; studies without any are left out. Percentile bootstrap intervals over questions."
    ]
    return Table("filtering", "Agreement before and after filtering", columns, rows, notes)


def _filtering_rows(study: StudyFacts) -> Iterable[Sequence[Cell]]:
    accepted = accepted_of(study)
    kept = {question.id for question in study.questions if question.instance in accepted}
    before = _several_answers(study)
    after = [answer for answer in before if answer.question in kept]
    labellings: list[tuple[str, Collapse]] = [("options", str)]
    if study.kinds[0] in COLLAPSES:
        labellings.insert(0, COLLAPSES[study.kinds[0]])
    for labels, collapse in labellings:
        # What could have been answered stays the same after filtering, though nobody's answer may say it any more.
        categories = sorted({collapse(answer.choice) for answer in study.answers})
        ratings = [_ratings(answers, collapse, categories) for answers in (before, after)]
        for name, measure in MEASURES.items():
            cells = [cell for answers in ratings for cell in _of_questions(measure, answers)]
            yield (study.slug, labels, name, *cells)


def _several_answers(study: StudyFacts) -> list[AnswerFacts]:
    """Return the answers to questions that several people answered."""
    times = Counter(answer.question for answer in study.answers)
    return [answer for answer in study.answers if times[answer.question] > 1]


def _ratings(answers: Sequence[AnswerFacts], collapse: Collapse, categories: Sequence[str]) -> Coded:
    """Return questions x answers, in no order of annotators: none of MEASURES looks at who gave which."""
    place = {category: number for number, category in enumerate(categories)}
    labels = {choice: place[collapse(choice)] for choice in {answer.choice for answer in answers}}
    return by_unit([answer.question for answer in answers], [labels[answer.choice] for answer in answers], categories)


def _of_questions(measure: Measure, ratings: Coded) -> Sequence[Cell]:
    """Return on how many questions a coefficient stands, its value and its interval."""
    questions, _, value, interval = _reliability(measure, ratings)
    return (questions, value, interval)


def reliability_table(study: StudyFacts) -> Table:
    """Return every coefficient over all answers of `study`, and over those about what it accepted, with intervals."""
    columns = [Column("Study"), Column("Labels"), Column("Measure"), Column("Filtering")]
    columns += [Column("Questions", "count"), Column("Answers", "count")]
    columns += [Column("Value", "coefficient"), Column("95 % interval", "coefficient")]
    accepted = accepted_of(study)
    kept = {question.id for question in study.questions if question.instance in accepted}
    several = _several_answers(study)
    compared = {"before": several}
    if not any(question.right for question in study.questions):
        compared["after"] = [answer for answer in several if answer.question in kept]
    rows: list[Sequence[Cell]] = []
    labellings: dict[str, Collapse] = dict([_collapse_of(study)])
    for labels, collapse in (labellings | {"options": str}).items():
        categories = sorted({collapse(answer.choice) for answer in study.answers})
        ratings = {when: _ratings(answers, collapse, categories) for when, answers in compared.items()}
        for name, measure in MEASURES.items():
            rows += [(study.slug, labels, name, when, *_reliability(measure, ratings[when])) for when in ratings]
    notes = [
        "Before: all answers. After: only answers about instances that the study accepted; filtering keeps what people "
        "agree on. Questions with two or more answers count. Percentile bootstrap intervals over questions."
    ]
    return Table("reliability", "Agreement over all questions with several answers", columns, rows, notes)


def _reliability(measure: Measure, ratings: Coded) -> Sequence[Cell]:
    if not len(ratings.codes):
        nothing = Undefined("No question was answered twice, so there is nothing to compare.")
        return (0, 0, nothing, nothing)
    found = estimate(measure, ratings)
    interval = agreement_over_units(measure, ratings, rng=np.random.default_rng(SEED))
    return (
        found.n_pairable,
        found.n_ratings,
        value_or_reason(found.value, found.reason),
        range_or_reason(interval),
    )
