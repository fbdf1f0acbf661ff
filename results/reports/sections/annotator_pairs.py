"""Agreement of each pair of annotators with the same survey, by kind, and its mean."""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence, Set
from dataclasses import dataclass, replace

import numpy as np

from analytics.agreement import Coefficient, estimate, gwet_ac1, percent_agreement, specific_agreement
from analytics.annotator_pairs import LEAST_SHARED, MeanOfPairs, Pair, mean_of_pairs, pairs_within
from analytics.intervals.bootstrap import LEAST_RATERS, Interval, interval_of
from analytics.ratings import CodedRatings
from results.reports.base import SEED, Cell, Chart, Column, LinkedCount, Point, Series, Table, Undefined
from results.reports.cells import (
    ends_of,
    intervals_axis,
    intervals_note,
    limits_or_reason,
    range_or_reason,
    value_or_reason,
)
from results.reports.explorer_links import list_query
from results.reports.facts import AnswerFacts, StudyFacts
from results.reports.labels import PARTS, AgreementLabels, answers_to, kappa_paradox_note, main_labels
from studies.wording import format_count

# Of more pairs only the means are drawn.
MOST_PAIRS_DRAWN = 100
TWO = 2
LEVEL = 0.95


@dataclass(frozen=True)
class PairAgreement:
    """The agreement of two annotators who shared a survey of a study, on one kind of question.

    `name`: their names or, if the report does not name them, their seats. `ac1`: None on a scale. `positive`,
    `negative`: agreement on the first and second of two labels, None if there are more. `remark`: a caveat on kappa,
    usually "".
    """

    study: str
    kind: str
    survey: int
    name: str
    labels: str
    n: int
    percent: Coefficient
    kappa: Coefficient
    interval: Interval
    ac1: Coefficient | None
    positive: Coefficient | None
    negative: Coefficient | None
    remark: str


def pair_agreements(study: StudyFacts) -> list[PairAgreement]:
    """Return the agreement of every pair of annotators of `study`, by kind and shared survey.

    Compares planned answers only: later ones were requested because those differed.
    """
    found = []
    instances: dict[Hashable, int] = {question.id: question.instance for question in study.questions}
    for labels in main_labels(study):
        answers = [answer for answer in answers_to(study, labels.kind, labels.unit) if not answer.added]
        answers.sort(key=lambda answer: answer.survey)
        seats = _seats(answers)
        pairs = pairs_within(
            (answer.survey, (answer.question, answer.unit), answer.annotator, labels.label(answer.choice))
            for answer in answers
        )
        found += [_pair_agreement(study, labels, pair, seats, instances) for pair in pairs]
    return found


def _seats(answers: Iterable[AnswerFacts]) -> dict[tuple[int, int], str]:
    """Return (survey, annotator) -> seat number, with the order of people if several had the seat."""
    sitting: dict[tuple[int, int], list[int]] = {}
    for answer in answers:
        people = sitting.setdefault((answer.survey, answer.seat), [])
        if answer.annotator not in people:
            people.append(answer.annotator)
    return {
        (survey, annotator): f"{seat}" if len(people) == 1 else f"{seat} (person {turn})"
        for (survey, seat), people in sitting.items()
        for turn, annotator in enumerate(people, start=1)
    }


def _pair_agreement(
    study: StudyFacts,
    labels: AgreementLabels,
    pair: Pair,
    seats: Mapping[tuple[int, int], str],
    instances: Mapping[Hashable, int],
) -> PairAgreement:
    ratings = labels.code_pairs(pair.ratings)
    survey = int(str(pair.group))
    percent = percent_agreement(ratings)
    kappa = _chance_problem(labels, percent) or estimate(labels.kappa, ratings)
    nominal = labels.scale.level == "nominal"
    two = nominal and len(labels.categories) == TWO
    return PairAgreement(
        study=study.slug,
        kind=labels.kind,
        survey=survey,
        name=_pair_name([int(str(person)) for person in pair.annotators], survey, study, seats),
        labels=labels.title if nominal else f"{labels.title}, quadratic weights",
        # A question has several units where an answer has several labels.
        n=_link_count({unit[0] for unit in pair.units if isinstance(unit, tuple)}, survey, study, instances),
        percent=percent,
        kappa=kappa,
        interval=_interval(labels, kappa, ratings, _clusters(pair, instances)),
        ac1=(_chance_problem(labels, percent) or gwet_ac1(ratings)) if nominal else None,
        positive=specific_agreement(ratings, labels.categories[0]) if two else None,
        negative=specific_agreement(ratings, labels.categories[1]) if two else None,
        remark=kappa_paradox_note(percent, kappa, ratings),
    )


def _pair_name(people: Sequence[int], survey: int, study: StudyFacts, seats: Mapping[tuple[int, int], str]) -> str:
    if all(person in study.names for person in people):
        return " and ".join(study.names[person] for person in people)
    return "places " + " and ".join(seats[survey, person] for person in people)


def _link_count(questions: Set[Hashable], survey: int, study: StudyFacts, instances: Mapping[Hashable, int]) -> int:
    """Return the number of questions both answered, linked to their instances if they are the whole survey."""
    about = {instances.get(question) for question in questions}
    if about != study.surveys.get(survey):
        return len(questions)
    query = list_query(study=study.slug, survey=str(survey))
    return LinkedCount(len(questions), query, unit="questions", instances=len(about))


def _chance_problem(labels: AgreementLabels, percent: Coefficient) -> Coefficient | None:
    """Return a coefficient without a value if chance agreement is undefined, else None."""
    return replace(percent, value=None, reason=labels.no_chance) if labels.no_chance else None


def _clusters(pair: Pair, instances: Mapping[Hashable, int]) -> list[int]:
    """Return the instance of each unit that both rated."""
    return [instances[unit[0]] for unit in pair.units if isinstance(unit, tuple)]


def _interval(labels: AgreementLabels, kappa: Coefficient, ratings: CodedRatings, clusters: Sequence[int]) -> Interval:
    reason = labels.no_chance or (PARTS if labels.are_parts else "")
    if reason:
        return Interval(None, None, reason, kappa.n_units)
    rng = np.random.default_rng(SEED)
    return interval_of(kappa, labels.kappa, ratings, rng=rng, method="BCa", clusters=clusters)


def pairs_table(found: Mapping[str, Sequence[PairAgreement]]) -> Table:
    """Return a row per pair and a row with the mean for each kind of each study. found: study -> its pairs."""
    columns = [
        *(Column("Study"), Column("Kind"), Column("Pair"), Column("Survey"), Column("Labels")),
        Column("Questions", "count"),
        *(Column("Agreed", "share"), Column("Cohen's kappa", "coefficient"), Column("95 % interval", "coefficient")),
        *(Column("Gwet's AC1", "coefficient"), Column("Positive agreement", "share")),
        *(Column("Negative agreement", "share"), Column("Remark")),
    ]
    rows: list[Sequence[Cell]] = []
    for pairs in found.values():
        for alike in _alike(pairs):
            rows += [_row(pair) for pair in alike]
            rows.append(_mean_row(alike))
    notes = [
        "Every pair of annotators with the same survey, over the questions that both answered; added answers are left "
        "out, and kinds are separate. Intervals of pairs: BCa bootstrap over questions, or jackknife over instances if "
        "an instance has several questions. Positive and negative agreement: on the first and second of two labels. "
        f"The mean leaves out pairs with fewer than {LEAST_SHARED} shared questions or without a kappa. Interval of "
        f"the mean: Student's t over surveys, with at least {LEAST_RATERS}."
    ]
    return Table("pairs", "Agreement of pairs of annotators", columns, rows, notes, list(found))


def _row(pair: PairAgreement) -> Sequence[Cell]:
    small = f"Fewer than {LEAST_SHARED} questions: not in the mean." if pair.n < LEAST_SHARED else ""
    return (
        *(pair.study, pair.kind, pair.name, pair.survey, pair.labels, pair.n),
        value_or_reason(pair.percent.value, pair.percent.reason),
        value_or_reason(pair.kappa.value, pair.kappa.reason),
        range_or_reason(pair.interval),
        *(_value(each) for each in (pair.ac1, pair.positive, pair.negative)),
        " ".join(filter(None, (small, pair.remark))),
    )


def _value(found: Coefficient | None) -> Cell:
    return None if found is None else value_or_reason(found.value, found.reason)


def _alike(pairs: Sequence[PairAgreement]) -> Iterable[list[PairAgreement]]:
    """Yield the pairs of each kind and label set."""
    for compared in dict.fromkeys((pair.kind, pair.labels) for pair in pairs):
        yield [pair for pair in pairs if (pair.kind, pair.labels) == compared]


def _mean_of(pairs: Sequence[PairAgreement]) -> MeanOfPairs:
    return mean_of_pairs([(pair.survey, replace(pair.kappa, n_pairable=pair.n)) for pair in pairs])


def _mean_row(pairs: Sequence[PairAgreement]) -> Sequence[Cell]:
    mean = _mean_of(pairs)
    return (
        *(pairs[0].study, pairs[0].kind, f"mean of {mean.n_pairs}", None, pairs[0].labels, None, None),
        value_or_reason(mean.value, mean.reason),
        limits_or_reason(mean.low, mean.high, mean.no_interval),
        *(None, None, None, _left_out(mean)),
    )


def _left_out(mean: MeanOfPairs) -> str:
    said = []
    if mean.n_small:
        said.append(f"{format_count(mean.n_small, 'pair')} with fewer than {LEAST_SHARED} shared questions left out.")
    if mean.n_undefined:
        questions = format_count(mean.undefined_units, "question")
        said.append(f"{format_count(mean.n_undefined, 'pair')} without a kappa left out ({questions}).")
    return " ".join(said)


def pairs_chart(found: Mapping[str, Sequence[PairAgreement]]) -> Chart:
    points = []
    reasons: list[tuple[str, str | None]] = []
    is_drawn = sum(map(len, found.values())) <= MOST_PAIRS_DRAWN
    for study, pairs in found.items():
        before = f"{study}: " * (len(found) > 1)
        for alike in _alike(pairs):
            name = f"{before}{_kind_prefix(alike[0], pairs)}"
            times = Counter(pair.name for pair in alike)
            for pair in alike if is_drawn else ():
                if pair.kappa.value is None:
                    continue
                interval = range_or_reason(pair.interval)
                survey = f", survey {pair.survey}" * (times[pair.name] > 1)
                points.append(Point(f"{name}{pair.name}{survey}", pair.kappa.value, *ends_of(interval)))
                if isinstance(interval, Undefined):
                    reasons.append((points[-1].label, interval.reason))
            mean = _mean_of(alike)
            if mean.n_pairs > 1 and mean.value is not None:
                points.append(Point(f"{name}mean of {mean.n_pairs} pairs", mean.value, mean.low, mean.high))
                reasons += [(points[-1].label, mean.no_interval)] if mean.no_interval else []
    known = [f"{point.label} {point.value:.2f}" for point in points if point.value is not None]
    has_intervals = any(point.low is not None for point in points)
    words = f"Cohen's kappa{' with 95 % intervals' * has_intervals}: {', '.join(known) or 'none is defined'}."
    title = "Agreement of pairs of annotators"
    series = [Series("", points)]
    axis = intervals_axis("Cohen's kappa", series, (reason for _, reason in reasons))
    note = intervals_note("Chart: intervals of pairs generalise to other questions.", reasons) if reasons else ""
    return Chart("pairs", title, words, "dots", "coefficient", axis, series, method=note)


def _kind_prefix(pair: PairAgreement, pairs: Sequence[PairAgreement]) -> str:
    """Return what distinguishes the same pair in a study with several kinds or scales."""
    kind = f"{pair.kind}, " if len({each.kind for each in pairs}) > 1 else ""
    of_kind = {each.labels for each in pairs if each.kind == pair.kind}
    return f"{kind}{pair.labels}, " if len(of_kind) > 1 else kind
