"""Labels by which answers are compared, declared by what could be answered, not by what was."""

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
from analytics.ratings import CodedRatings, by_unit
from analytics.scales import number_of
from results.reports.facts import AnswerFacts, LabelSpace, StudyFacts
from studies.kinds.base import LabelGrouping, Scale
from studies.wording import format_count

OPTIONS = "options"
PERCENT, AC1 = "Percent agreement", "Gwet's AC1"
# Kappa is low below the first if agreement is at least the second; a label is rare below the third.
LOW_KAPPA, HIGH_AGREEMENT, RARE_LABEL = 0.4, 0.8, 0.2
PARTS = "Labels of the same answer are not independent, so there is no interval."
_LOOK_AT_AC1 = ": chance alone agrees nearly as often, so look at AC1 and at the agreement on each label."
OTHER_OPTIONS = "The questions offer different options, so chance agreement differs between them."


@dataclass(frozen=True)
class AgreementLabels:
    """How answers to a kind of question are compared.

    `categories`: every possible label, in order. `grouping`: the grouping of labels, None for labels as they are, on
    their `scale`. `no_chance`: why chance agreement is undefined, usually "". `are_parts`: an answer has several
    labels, so that those of one question are not independent. `unit`: the one thing compared, None for all.
    `questions`: ids of the questions compared this way, None for all.
    """

    kind: str
    title: str
    categories: Sequence[str]
    grouping: LabelGrouping | None = None
    scale: Scale = field(default_factory=Scale)
    no_chance: str = ""
    are_parts: bool = False
    unit: str | None = None
    questions: frozenset[int] | None = None

    def label(self, choice: str) -> str:
        return choice if self.grouping is None else self.grouping.label(choice)

    @property
    def measures(self) -> Mapping[str, Measure]:
        """The coefficients over all annotators for this scale."""
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
        """The pairwise kappa for this scale: with an order, near misses weigh less."""
        return CohenKappa() if self.scale.level == "nominal" else CohenKappa("quadratic")

    def ratings(self, answers: Sequence[AnswerFacts]) -> CodedRatings:
        """Return units x answers, with the annotator of each; a question is one unit for most kinds."""
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

    def code_pairs(self, ratings: Sequence[tuple[str, str]]) -> CodedRatings:
        """Return questions x two people; `ratings` are labels."""
        index = {category: number for number, category in enumerate(self.categories)}
        codes = np.array([(index[first], index[second]) for first, second in ratings], dtype=np.int32)
        return CodedRatings(codes.reshape(-1, 2), tuple(self.categories), None, ordered=True)


def labels_of(study: StudyFacts) -> Iterable[AgreementLabels]:
    """Yield the labels for agreement on each kind of a study: groupings first, then as they are."""
    for kind, label_space in study.label_spaces.items():
        if label_space.units:
            yield from _by_unit(kind, label_space)
            continue
        yield from _label_groupings(kind, label_space)
        options = _options(study, kind, label_space)
        # Free texts have no labels to compare.
        if options or label_space.has_one_label:
            yield _raw_labels(kind, label_space, options)
            yield from _labels_by_scale(kind, label_space, options)
        if options and not label_space.has_one_label:
            together = _raw_labels(kind, label_space, options)
            for unit in units_of(answers_to(study, kind)):
                yield replace(together, title=f"{unit}: {together.title}", are_parts=False, unit=unit)


def units_of(answers: Iterable[AnswerFacts]) -> list[str]:
    """Return the units asked at once, in order of the first answers."""
    return list(dict.fromkeys(answer.unit for answer in answers))


def rule_labels(kind: str, label_space: LabelSpace) -> list[AgreementLabels]:
    """Return the labels of a kind that the study's rule compares, coarsest first.

    All labels if the rule names a grouping that the kind does not have.
    """
    if label_space.units:
        return list(_by_unit(kind, label_space))
    as_they_are = _raw_labels(kind, label_space, label_space.options)
    grouped = next(iter(_label_groupings(kind, label_space)), as_they_are)
    found = [grouped if compared == "groups" else as_they_are for compared in label_space.compares]
    return list({labels.title: labels for labels in found}.values())


def _by_unit(kind: str, label_space: LabelSpace) -> Iterable[AgreementLabels]:
    """Yield the labels of each unit, if each has its own scale."""
    for unit, scale in label_space.units.items():
        name = f"scale {scale.labels[0]} to {scale.labels[-1]}" if scale.level != "nominal" else OPTIONS
        yield AgreementLabels(kind, f"{unit}: {name}", scale.labels, scale=scale, unit=unit)


def _label_groupings(kind: str, label_space: LabelSpace) -> Iterable[AgreementLabels]:
    parts = not label_space.has_one_label
    for grouping in label_space.groupings:
        yield AgreementLabels(kind, grouping.title, grouping.categories, grouping, are_parts=parts)


def _raw_labels(kind: str, label_space: LabelSpace, options: Sequence[str]) -> AgreementLabels:
    return AgreementLabels(
        kind,
        f"scale {options[0]} to {options[-1]}" if label_space.is_scale and options else OPTIONS,
        options,
        scale=label_space.scale,
        no_chance="" if label_space.same_for_all else OTHER_OPTIONS,
        are_parts=not label_space.has_one_label,
    )


def _labels_by_scale(kind: str, label_space: LabelSpace, options: Sequence[str]) -> Iterable[AgreementLabels]:
    """Yield the labels of the questions on each scale, if a kind uses several."""
    for scale, questions in label_space.apart:
        if scale.level == "nominal":
            title, on_it = f"{OPTIONS}, where they have no order", options
        else:
            on_it = [option for option in options if option in scale.values]
            title = f"scale {on_it[0]} to {on_it[-1]}, where they have one"
        together = _raw_labels(kind, label_space, on_it)
        yield replace(together, title=title, scale=scale, questions=questions)


def main_labels(study: StudyFacts) -> list[AgreementLabels]:
    """Return the labels for pairs: of each kind the first that the study's rule compares.

    For units with their own scales, those of each unit.
    """
    found: list[AgreementLabels] = []
    by_kind: dict[str, list[AgreementLabels]] = {}
    for labels in labels_of(study):
        by_kind.setdefault(labels.kind, []).append(labels)
    for kind, of_kind in by_kind.items():
        label_space = study.label_spaces[kind]
        first = rule_labels(kind, label_space)[0].title
        if label_space.units:
            found += of_kind
        else:
            found.append(next((labels for labels in of_kind if labels.title == first), of_kind[0]))
    return found


def answers_to(study: StudyFacts, kind: str, unit: str | None = None) -> list[AnswerFacts]:
    """Return the counted answers to questions of one kind, in order of arrival.

    unit: only the labels of this one of several things asked at once.
    """
    of_kind = {question.id for question in study.questions if question.kind == kind}
    return [answer for answer in study.answers if answer.question in of_kind and (unit is None or answer.unit == unit)]


def _options(study: StudyFacts, kind: str, label_space: LabelSpace) -> list[str]:
    """Return all possible answers, plus those given if a question offered others."""
    given = {answer.choice for answer in answers_to(study, kind)}
    return [*label_space.options, *sorted(given - set(label_space.options))]


def kappa_paradox_note(agreed: Coefficient, kappa: Coefficient, ratings: CodedRatings) -> str:
    """Return a remark if kappa is low because nearly all answers have the same label, else "".

    agreed: percent agreement of the same `ratings`.

    Source: Feinstein and Cicchetti 1990, "High agreement but low kappa: I. The problems of two paradoxes".
    """
    if agreed.value is None or kappa.value is None or kappa.value >= LOW_KAPPA or agreed.value < HIGH_AGREEMENT:
        return ""
    given = [int((ratings.codes == index).sum()) for index in range(len(ratings.categories))]
    others = sum(given) - max(given)
    if others >= RARE_LABEL * sum(given):
        return ""
    differ = f"{format_count(others, 'answer')} of {sum(given):,} {'differs' if others == 1 else 'differ'}"
    return f"Low because only {differ} from {ratings.categories[given.index(max(given))]!r}{_LOOK_AT_AC1}"


def short_kappa_paradox_note(remark: str) -> str:
    """Return why kappa is low, for the middle of a sentence, if `remark` contains `kappa_paradox_note`; else "".

    Example: "low because only 1 answer of 48 differs from 'none'".
    """
    reason, note, _ = remark.partition(_LOOK_AT_AC1)
    return f"{reason[0].lower()}{reason[1:]}" if note else ""
