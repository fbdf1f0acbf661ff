"""What answers are compared by: the labels of a kind, declared by what could be answered and not by what was."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace

import numpy as np

from analytics.agreement import Coefficient
from analytics.coefficients import (
    CohenKappa,
    FleissKappa,
    GwetAC1,
    KrippendorffAlpha,
    Measure,
    PercentAgreement,
)
from analytics.ratings import Coded, by_unit
from analytics.scales import number_of
from results.reports.facts import Answerable, AnswerFacts, StudyFacts
from studies.kinds.base import LabelGrouping, Scale

OPTIONS = "options"
PERCENT, AC1 = "Percent agreement", "Gwet's AC1"
# Kappa is called low below the first though agreement is at least the second, and a label rare below the third.
LOW_KAPPA, HIGH_AGREEMENT, RARE_LABEL = 0.4, 0.8, 0.2
PARTS = "Labels of the same answer are not independent, so that there is no interval."
OTHER_OPTIONS = "The questions offer different options, so how often chance alone agrees is another in each."


@dataclass(frozen=True)
class Labels:
    """How answers to a kind of question are compared. `categories`: every label there can be, in order; `collapse`: how
    labels are put together first, None where they stand as they are, with the `scale` that they are on.

    `no_chance`: why agreement by chance cannot be told, "" mostly. `are_parts`: an answer has several labels, so that
    those of one question are not independent. `unit`: the one thing asked that they are compared on, None for all.
    `questions`: the ids of those whose answers compare so, None for all.
    """

    kind: str
    title: str
    categories: Sequence[str]
    collapse: LabelGrouping | None = None
    scale: Scale = field(default_factory=Scale)
    no_chance: str = ""
    are_parts: bool = False
    unit: str | None = None
    questions: frozenset[int] | None = None

    def label(self, choice: str) -> str:
        return choice if self.collapse is None else self.collapse.label(choice)

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The coefficients over all annotators that fit the scale."""
        if self.scale.level == "nominal":
            return {
                PERCENT: PercentAgreement(),
                "Krippendorff's alpha": KrippendorffAlpha("nominal"),
                "Fleiss' kappa": FleissKappa(),
                AC1: GwetAC1(),
            }
        found: dict[str, Measure] = {PERCENT: PercentAgreement()}
        found["Krippendorff's alpha (ordinal)"] = KrippendorffAlpha("ordinal")
        if self.scale.level == "interval":
            found["Krippendorff's alpha (interval)"] = KrippendorffAlpha("interval")
        return found

    @property
    def kappa(self) -> CohenKappa:
        """The kappa of two annotators that fits the scale: on one with an order, near misses weigh less."""
        return CohenKappa() if self.scale.level == "nominal" else CohenKappa("quadratic")

    def ratings(self, answers: Sequence[AnswerFacts]) -> Coded:
        """Return units x answers, with who gave each; a question is one unit for most kinds."""
        index = {category: number for number, category in enumerate(self.categories)}
        label = {choice: index[self.label(choice)] for choice in {answer.choice for answer in answers}}
        units: dict[tuple[int, str], int] = {}
        return by_unit(
            [units.setdefault((answer.question, answer.unit), len(units)) for answer in answers],
            [label[answer.choice] for answer in answers],
            self.categories,
            [answer.annotator for answer in answers],
            self._numbers(),
        )

    def instances(self, answers: Sequence[AnswerFacts], about: Mapping[int, int]) -> list[int]:
        """Return the instance of each unit of `ratings`. about: question -> instance."""
        return [about[question] for question, _ in dict.fromkeys((answer.question, answer.unit) for answer in answers)]

    def _numbers(self) -> list[float] | None:
        if self.scale.level == "nominal":
            return None
        return list(number_of(self.categories, self.scale.values).values())

    def paired(self, ratings: Sequence[tuple[str, str]]) -> Coded:
        """Return questions x two people; `ratings` are labels."""
        index = {category: number for number, category in enumerate(self.categories)}
        codes = np.array([(index[first], index[second]) for first, second in ratings], dtype=np.int32)
        return Coded(codes.reshape(-1, 2), tuple(self.categories), None, ordered=True)


def labels_of(study: StudyFacts) -> Iterable[Labels]:
    """Yield the labels by which agreement on each kind of a study is told: put together first, then as they are."""
    for kind, answerable in study.answerable.items():
        if answerable.units:
            yield from _by_unit(kind, answerable)
            continue
        yield from _collapsed(kind, answerable)
        options = _options(study, kind, answerable)
        # Free texts have nothing that could be the same.
        if options or answerable.has_one_label:
            yield _as_they_are(kind, answerable, options)
            yield from _apart(kind, answerable, options)
        if options and not answerable.has_one_label:
            together = _as_they_are(kind, answerable, options)
            for unit in units_of(answers_to(study, kind)):
                yield replace(together, title=f"{unit}: {together.title}", are_parts=False, unit=unit)


def units_of(answers: Iterable[AnswerFacts]) -> list[str]:
    """Return what was asked at once, in the order of the first answers."""
    return list(dict.fromkeys(answer.unit for answer in answers))


def rule_labels(kind: str, answerable: Answerable) -> list[Labels]:
    """Return the labels of a kind that the rule of the study compares, the coarsest first; all there are where it names
    a grouping that the kind does not have."""
    if answerable.units:
        return list(_by_unit(kind, answerable))
    as_they_are = _as_they_are(kind, answerable, answerable.options)
    grouped = next(iter(_collapsed(kind, answerable)), as_they_are)
    found = [grouped if compared == "groups" else as_they_are for compared in answerable.compares]
    return list({labels.title: labels for labels in found}.values())


def _by_unit(kind: str, answerable: Answerable) -> Iterable[Labels]:
    """Yield the labels of each unit, where each has a scale of its own."""
    for unit, scale in answerable.units.items():
        name = f"scale {scale.labels[0]} to {scale.labels[-1]}" if scale.level != "nominal" else OPTIONS
        yield Labels(kind, f"{unit}: {name}", scale.labels, scale=scale, unit=unit)


def _collapsed(kind: str, answerable: Answerable) -> Iterable[Labels]:
    parts = not answerable.has_one_label
    for collapse in answerable.groupings:
        yield Labels(kind, collapse.title, collapse.categories, collapse, are_parts=parts)


def _as_they_are(kind: str, answerable: Answerable, options: Sequence[str]) -> Labels:
    return Labels(
        kind,
        f"scale {options[0]} to {options[-1]}" if answerable.is_scale and options else OPTIONS,
        options,
        scale=answerable.scale,
        no_chance="" if answerable.same_for_all else OTHER_OPTIONS,
        are_parts=not answerable.has_one_label,
    )


def _apart(kind: str, answerable: Answerable, options: Sequence[str]) -> Iterable[Labels]:
    """Yield the labels of the questions on each scale, where a kind has questions on several."""
    for scale, questions in answerable.apart:
        if scale.level == "nominal":
            title, on_it = f"{OPTIONS}, where they have no order", options
        else:
            on_it = [option for option in options if option in scale.values]
            title = f"scale {on_it[0]} to {on_it[-1]}, where they have one"
        together = _as_they_are(kind, answerable, on_it)
        yield replace(together, title=title, scale=scale, questions=questions)


def main_labels(study: StudyFacts) -> list[Labels]:
    """Return the labels by which pairs are compared: of each kind the first that the rule of the study compares, and of
    units with scales of their own those of each unit."""
    found: list[Labels] = []
    by_kind: dict[str, list[Labels]] = {}
    for labels in labels_of(study):
        by_kind.setdefault(labels.kind, []).append(labels)
    for kind, of_kind in by_kind.items():
        answerable = study.answerable[kind]
        first = rule_labels(kind, answerable)[0].title
        if answerable.units:
            found += of_kind
        else:
            found.append(next((labels for labels in of_kind if labels.title == first), of_kind[0]))
    return found


def answers_to(study: StudyFacts, kind: str, unit: str | None = None) -> list[AnswerFacts]:
    """Return the counted answers to questions of one kind, in the order in which they came.

    unit: only the labels of this one of several things that are asked at once.
    """
    of_kind = {question.id for question in study.questions if question.kind == kind}
    return [answer for answer in study.answers if answer.question in of_kind and (unit is None or answer.unit == unit)]


def _options(study: StudyFacts, kind: str, answerable: Answerable) -> list[str]:
    """Return what could be answered; what was answered too, should a question have offered something of its own."""
    given = {answer.choice for answer in answers_to(study, kind)}
    return [*answerable.options, *sorted(given - set(answerable.options))]


def rarity(agreed: Coefficient, kappa: Coefficient, ratings: Coded) -> str:
    """Return one sentence where kappa is low because nearly all answers have the same label, "" elsewhere.

    Source: Feinstein and Cicchetti 1990, "High agreement but low kappa: I. The problems of two paradoxes".
    """
    if agreed.value is None or kappa.value is None or kappa.value >= LOW_KAPPA or agreed.value < HIGH_AGREEMENT:
        return ""
    given = [int((ratings.codes == index).sum()) for index in range(len(ratings.categories))]
    others = sum(given) - max(given)
    if others >= RARE_LABEL * sum(given):
        return ""
    return (
        f"Low because {others} of {sum(given)} answers are anything but {ratings.categories[given.index(max(given))]!r}"
        ": chance alone agrees nearly as often, so look at AC1 and at the agreement on each label."
    )
