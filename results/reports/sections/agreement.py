"""Agreement of annotators over all questions with several answers, by kind, before and after filtering."""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass

import numpy as np

from analytics.agreement import estimate, specific_agreement
from analytics.coefficients import PercentAgreement
from analytics.intervals.bootstrap import LEAST_RATERS, Interval, agreement_over_both, interval_of, mean_over_units
from analytics.outcomes import Outcome
from analytics.scores import Score
from results.reports.base import SEED, Cell, Column, Table, Undefined
from results.reports.cells import range_or_reason, share_of, value_or_reason
from results.reports.explorer_links import SEVERAL, question_count
from results.reports.facts import AnswerFacts, MeasuredQuestion, StudyFacts
from results.reports.labels import (
    AC1,
    PARTS,
    PERCENT,
    AgreementLabels,
    answers_to,
    kappa_paradox_note,
    labels_of,
    main_labels,
)
from results.reports.sections.funnel import accepted_instances, accepted_questions

BEFORE, AFTER = "before", "after"
# Without answers added because these differed. However late they came, their questions were not picked because of an
# answer.
OF_EVERY = "asked of every question"
TWO = 2
COLLECTION = "collection"
WHOLE_ANSWERS = "whole answers"
NOTHING = "No question was answered twice, so there is nothing to compare."


@dataclass(frozen=True)
class Reliability:
    """A coefficient for one kind of question and set of labels, `when`: before or after filtering.

    `used`: which answers. `over_questions`, `over_both`: its intervals, None without. `questions`, `answers`, `people`:
    its sample. `remark`: a caveat, usually "".
    """

    study: str
    kind: str
    labels: str
    measure: str
    when: str
    used: str
    questions: int
    answers: int
    people: int
    value: Cell
    over_questions: Interval | None
    over_both: Interval | None
    remark: str = ""


def reliabilities(study: StudyFacts) -> list[Reliability]:
    """Return the agreement on each kind of `study`, over the answers planned for every question.

    Before: all questions with several answers. After: those about instances that the study accepted, if it accepts.
    Answers added to questions with differing ones are separate.
    """
    kept = accepted_questions(study)
    found: list[Reliability] = []
    for labels in labels_of(study):
        answers = answers_to(study, labels.kind, labels.unit)
        if labels.questions is not None:
            answers = [answer for answer in answers if answer.question in labels.questions]
        of_every = [answer for answer in answers if not answer.added]
        some_are_added = len(of_every) < len(answers)
        compared = {BEFORE: _several(of_every)}
        if filters(study):
            compared[AFTER] = [answer for answer in compared[BEFORE] if answer.question in kept]
        for when, these in compared.items():
            found += _answer_reliabilities(study, labels, when, OF_EVERY if some_are_added else "all", these)
        if some_are_added:
            found.append(_added_reliability(study, labels, answers))
    for when, questions in {BEFORE: None, AFTER: kept}.items():
        if when == BEFORE or filters(study):
            found += _own_measures(study, when, questions)
    return found


def filters(study: StudyFacts) -> bool:
    """Whether a study accepts less than it asks about. A collection keeps everything, unless its rule rejected some."""
    rejects = any(question.outcome is Outcome.REJECTED for question in study.questions)
    return study.accepts and (study.purpose != COLLECTION or rejects)


def _own_measures(study: StudyFacts, when: str, kept: Set[int] | None) -> Iterable[Reliability]:
    """Yield the measures of kinds: the mean over instances of the agreement on each question.

    kept: ids of the questions that count, None for all.
    """
    by_measure: dict[tuple[str, str], list[MeasuredQuestion]] = {}
    for each in study.measured:
        of_measure = by_measure.setdefault((each.kind, each.measure), [])
        if kept is None or each.question in kept:
            of_measure.append(each)
    instances = {question.id: question.instance for question in study.questions}
    for (kind, measure), measured in by_measure.items():
        yield _own_measure(study, (kind, measure), when, measured, instances)


def _own_measure(
    study: StudyFacts,
    of: tuple[str, str],
    when: str,
    measured: Sequence[MeasuredQuestion],
    instances: Mapping[int, int],
) -> Reliability:
    kind, measure = of
    used = OF_EVERY if any(answer.added for answer in study.answers) else "all"
    what = (study.slug, kind, WHOLE_ANSWERS, measure, when, used)
    known = [each for each in measured if each.value is not None]
    by_instance: dict[int, list[float]] = {}
    for each in known:
        by_instance.setdefault(instances[each.question], []).append(each.value or 0.0)
    means = [sum(values) / len(values) for values in by_instance.values()]
    people = {person for each in known for person in each.people}
    about = {instances[each.question] for each in known}
    listed = question_count(
        len(known), about, study, SEVERAL, accepted=accepted_instances(study) if when == AFTER else None
    )
    counts = (listed, sum(len(each.people) for each in known), len(people))
    if not means:
        reason = next((each.reason for each in measured), NOTHING)
        return Reliability(*what, *counts, Undefined(reason), None, None)
    left_out = f"{len(measured) - len(known)} of {len(measured)} questions have no {measure}: " if measured else ""
    reasons = " ".join(dict.fromkeys(each.reason for each in measured if each.reason))
    interval = mean_over_units(means, rng=np.random.default_rng(SEED))
    remark = " ".join(filter(None, ("Mean over instances.", left_out + reasons if reasons else "")))
    return Reliability(*what, *counts, sum(means) / len(means), interval, None, remark)


def _several(answers: Sequence[AnswerFacts]) -> list[AnswerFacts]:
    """Return the answers to questions with several answerers."""
    times = Counter((answer.question, answer.unit) for answer in answers)
    return [answer for answer in answers if times[answer.question, answer.unit] > 1]


def _answer_reliabilities(
    study: StudyFacts, labels: AgreementLabels, when: str, used: str, answers: Sequence[AnswerFacts]
) -> Iterable[Reliability]:
    # Leaving out annotators is slow, so only for the labels of the kind's rule.
    is_main = labels.unit is not None or (labels.kind, labels.title) in {
        (main.kind, main.title) for main in main_labels(study)
    }
    what = (study.slug, labels.kind, labels.title)
    if not answers:
        for name in labels.measures:
            yield Reliability(*what, name, when, used, 0, 0, 0, Undefined(NOTHING), None, None)
        return
    ratings = labels.ratings(answers)
    instances = labels.instances(answers, {question.id: question.instance for question in study.questions})
    agreed = estimate(PercentAgreement(), ratings)
    counts = _counts(answers, study, when)
    for name, measure in labels.measures.items():
        if labels.no_chance and name != PERCENT:
            yield Reliability(*what, name, when, used, *counts, Undefined(labels.no_chance), None, None)
            continue
        found = estimate(measure, ratings)
        over_questions = over_both = None
        if not labels.are_parts:
            rng = np.random.default_rng(SEED)
            over_questions = interval_of(found, measure, ratings, rng=rng, method="BCa", clusters=instances)
            if when == BEFORE and is_main:
                over_both = agreement_over_both(measure, ratings, clusters=instances)
        by_chance = name not in (PERCENT, AC1)
        remarks = (
            kappa_paradox_note(agreed, found, ratings) if by_chance else "",
            "" if over_questions else PARTS,
        )
        value = value_or_reason(found.value, found.reason)
        remark = " ".join(filter(None, remarks))
        yield Reliability(*what, name, when, used, *counts, value, over_questions, over_both, remark)
    if labels.scale.level == "nominal" and len(labels.categories) == TWO:
        for label in labels.categories:
            found = specific_agreement(ratings, label)
            value = value_or_reason(found.value, found.reason)
            yield Reliability(*what, f"Agreement on {label!r}", when, used, *counts, value, None, None)


def _counts(answers: Sequence[AnswerFacts], study: StudyFacts, when: str) -> tuple[int, int, int]:
    """Return the number of questions (linked to their instances), of answers and of people.

    An answer may have several labels.
    """
    questions, people = {answer.question for answer in answers}, {answer.annotator for answer in answers}
    about = {question.instance for question in study.questions if question.id in questions}
    accepted = accepted_instances(study) if when == AFTER else None
    listed = question_count(len(questions), about, study, SEVERAL, accepted=accepted)
    return listed, len({(answer.question, answer.annotator) for answer in answers}), len(people)


def _added_reliability(study: StudyFacts, labels: AgreementLabels, answers: Sequence[AnswerFacts]) -> Reliability:
    """Return how often an added answer equals one of the other answers to its question."""
    of_every: dict[tuple[int, str], list[str]] = {}
    for answer in answers:
        if not answer.added:
            of_every.setdefault((answer.question, answer.unit), []).append(labels.label(answer.choice))
    added = [answer for answer in answers if answer.added]
    beside = [(of_every.get((answer.question, answer.unit), []), labels.label(answer.choice)) for answer in added]
    same, compared = sum(said.count(own) for said, own in beside), sum(len(said) for said, _ in beside)
    return Reliability(
        *(study.slug, labels.kind, labels.title, PERCENT, BEFORE),
        used=f"added, each against those {OF_EVERY}",
        questions=len({answer.question for answer in added}),
        answers=len({(answer.question, answer.annotator) for answer in added}),
        people=len({answer.annotator for answer in added}),
        value=share_of(Score(same, compared)),
        over_questions=None,
        over_both=None,
        remark="Added where the first answers differed; not part of any coefficient.",
    )


def reliability_table(found: Mapping[str, Sequence[Reliability]]) -> Table:
    """Return every coefficient with its sample and intervals. found: study -> its coefficients."""
    columns = [Column("Study"), Column("Kind"), Column("Labels"), Column("Measure"), Column("Filtering")]
    columns += [Column("Answers used"), Column("Questions", "count"), Column("Answers", "count")]
    columns += [Column("People", "count"), Column("Value", "coefficient")]
    columns += [Column("95 % interval over questions", "coefficient")]
    columns += [Column("95 % interval over people and questions", "coefficient"), Column("Remark")]
    rows: list[Sequence[Cell]] = [
        (
            *(each.study, each.kind, each.labels, each.measure, each.when, each.used),
            *(each.questions, each.answers, each.people, each.value, _interval(each.over_questions)),
            *(_interval(each.over_both), each.remark),
        )
        for of_study in found.values()
        for each in of_study
    ]
    notes = [
        "Questions with two or more answers, separately by kind. After: only questions about accepted instances, "
        "which inflates agreement. Labels that nobody chose are included if they were offered. Interval over "
        "questions: BCa bootstrap, or jackknife over instances if an instance has several questions. Interval over "
        f"people and questions: jackknife, with at least {LEAST_RATERS} people, for the labels that the kind's rule "
        "compares, and for each part of a multi-part answer. Agreement on a label: when one person chooses it, how "
        "often another person does."
    ]
    if any(each.labels == WHOLE_ANSWERS for of_study in found.values() for each in of_study):
        notes.append(
            f"{WHOLE_ANSWERS.capitalize()}: the kind's own measures, the mean over instances and its bootstrap."
        )
    return Table("reliability", "Agreement over all questions with several answers", columns, rows, notes, list(found))


def _interval(found: Interval | None) -> Cell:
    return None if found is None else range_or_reason(found)


def filtering_table(found: Mapping[str, Sequence[Reliability]]) -> Table:
    """Compare agreement over all answers of a study with agreement over what it accepted."""
    columns = [Column("Study"), Column("Kind"), Column("Labels"), Column("Measure")]
    for when in (BEFORE, AFTER):
        columns += [Column(f"Questions {when}", "count"), Column(f"Value {when}", "coefficient")]
        columns += [Column(f"95 % interval {when}", "coefficient")]
    rows: list[Sequence[Cell]] = []
    for of_study in found.values():
        after = {(each.kind, each.labels, each.measure): each for each in of_study if each.when == AFTER}
        for each in of_study:
            kept = after.get((each.kind, each.labels, each.measure))
            if each.when == BEFORE and each.over_questions is not None and kept is not None:
                cells = [cell for one in (each, kept) for cell in (one.questions, one.value, _over_questions(one))]
                rows.append((each.study, each.kind, each.labels, each.measure, *cells))
    notes = [
        "Before: all questions with two or more answers. After: only those about instances that the study accepted. "
        "Agreement after filtering is inflated, because filtering keeps what people agree on. BCa bootstrap "
        "intervals over questions."
    ]
    return Table("filtering", "Agreement before and after filtering", columns, rows, notes, list(found))


def _over_questions(each: Reliability) -> Cell:
    return Undefined(NOTHING) if each.over_questions is None else range_or_reason(each.over_questions)
