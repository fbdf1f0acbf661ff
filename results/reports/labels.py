"""What answers are compared by: the labels of a kind, declared by what could be answered and not by what was."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from analytics.acceptance import NONE, ORIGINAL
from analytics.agreement import Coefficient
from analytics.ratings import Coded, by_unit
from results.reports.facts import AnswerFacts, PartFacts, StudyFacts

ANY, NOT_ORIGINAL = "any image", "not told apart"
OPTIONS = "options"
# Kappa is called low below the first though agreement is at least the second, and a label rare below the third.
LOW_KAPPA, HIGH_AGREEMENT, RARE_LABEL = 0.4, 0.8, 0.2
Collapse = Callable[[str], str]


def _chosen_or_not(choice: str) -> str:
    return NONE if choice == NONE else ANY


def _original_or_not(choice: str) -> str:
    return ORIGINAL if choice == ORIGINAL else NOT_ORIGINAL


@dataclass(frozen=True)
class Labels:
    """How answers to a kind of question are put together. `categories`: every label there can be, in order."""

    kind: str
    title: str
    collapse: Collapse
    categories: Sequence[str]

    def ratings(self, answers: Sequence[AnswerFacts]) -> Coded:
        """Return questions x answers, with who gave each."""
        place = {category: number for number, category in enumerate(self.categories)}
        label = {choice: place[self.collapse(choice)] for choice in {answer.choice for answer in answers}}
        return by_unit(
            [answer.question for answer in answers],
            [label[answer.choice] for answer in answers],
            self.categories,
            [answer.annotator for answer in answers],
        )

    def paired(self, ratings: Sequence[tuple[str, str]]) -> Coded:
        """Return questions x two people; `ratings` are labels."""
        place = {category: number for number, category in enumerate(self.categories)}
        codes = np.array([(place[first], place[second]) for first, second in ratings], dtype=np.int32)
        return Coded(codes.reshape(-1, 2), tuple(self.categories), None, ordered=True)


# How a kind's options are put together for agreement: what its acceptance rule tells apart. The first label is the
# positive one.
COLLAPSES: Mapping[str, tuple[str, Collapse, tuple[str, ...]]] = {
    "best_of_n": ("any image / None", _chosen_or_not, (ANY, NONE)),
    "ambiguity": ("original / not told apart", _original_or_not, (ORIGINAL, NOT_ORIGINAL)),
}


def labels_of(study: StudyFacts) -> Iterable[Labels]:
    """Yield the labels by which agreement on each kind of a study is told: put together first, then its options."""
    for part in study.parts:
        if part.kind in COLLAPSES:
            title, collapse, categories = COLLAPSES[part.kind]
            yield Labels(part.kind, title, collapse, categories)
        yield Labels(part.kind, OPTIONS, str, _options(study, part))


def main_labels(study: StudyFacts) -> dict[str, Labels]:
    """Return the labels by which pairs are compared: kind -> what its acceptance rule tells apart."""
    found: dict[str, Labels] = {}
    for labels in labels_of(study):
        found.setdefault(labels.kind, labels)
    return found


def answers_to(study: StudyFacts, kind: str) -> list[AnswerFacts]:
    """Return the counted answers to questions of one kind, in the order in which they came."""
    of_kind = {question.id for question in study.questions if question.kind == kind}
    return [answer for answer in study.answers if answer.question in of_kind]


def _options(study: StudyFacts, part: PartFacts) -> list[str]:
    """Return what could be answered; what was answered too, should a question have offered something of its own."""
    given = {answer.choice for answer in answers_to(study, part.kind)}
    return [*part.options, *sorted(given - set(part.options))]


def rarity(agreed: Coefficient, kappa: Coefficient, ratings: Coded) -> str:
    """Return one sentence where kappa is low because nearly all answers have the same label, "" elsewhere.

    Source: Feinstein and Cicchetti 1990, "High agreement but low kappa: I. The problems of two paradoxes".
    """
    if agreed.value is None or kappa.value is None or kappa.value >= LOW_KAPPA or agreed.value < HIGH_AGREEMENT:
        return ""
    given = [int((ratings.codes == place).sum()) for place in range(len(ratings.categories))]
    others = sum(given) - max(given)
    if others >= RARE_LABEL * sum(given):
        return ""
    return (
        f"Low because {others} of {sum(given)} answers are anything but {ratings.categories[given.index(max(given))]!r}"
        ": chance alone agrees nearly as often, so look at AC1 and at the agreement on each label."
    )
