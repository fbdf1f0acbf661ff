"""Agreement of each two annotators who were given the same questions, and its mean (BiVLC, Table 7)."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations

from analytics.agreement import Coefficient
from analytics.scores import Mean


@dataclass(frozen=True)
class Pair:
    """Two annotators in the order in which they first answered, and how both labelled what both answered.

    `ratings`: units x 2, without missing values, as `analytics.agreement.cohen_kappa` takes them.
    """

    group: Hashable
    annotators: tuple[Hashable, Hashable]
    ratings: Sequence[tuple[str, str]]


def pairs_within(answers: Iterable[tuple[Hashable, Hashable, Hashable, str]]) -> list[Pair]:
    """Return every two annotators of a group who answered at least one unit both, in order of appearance.

    answers: (group, unit, annotator, label), at most one per unit and annotator; a group is a survey, for instance.

    Example: ann and ben answer survey 1, cleo survey 2: one pair, (ann, ben).
    """
    groups: dict[Hashable, dict[Hashable, dict[Hashable, str]]] = {}
    for group, unit, annotator, label in answers:
        groups.setdefault(group, {}).setdefault(annotator, {})[unit] = label
    found = []
    for group, people in groups.items():
        for (first, labels), (second, others) in combinations(people.items(), 2):
            ratings = [(label, others[unit]) for unit, label in labels.items() if unit in others]
            if ratings:
                found.append(Pair(group, (first, second), ratings))
    return found


def mean_coefficient(coefficients: Sequence[Coefficient]) -> Mean:
    """Return the mean of the coefficients that are defined; `n` says how many of them those are.

    Each counts once, however many units it stands on. Undefined where none is.

    Example: .66, .43, .56, .43 and .38 have the mean .492.
    """
    values = [each.value for each in coefficients if each.value is not None]
    if not values:
        return Mean(None, 0, "No pair has a coefficient to average.")
    return Mean(sum(values) / len(values), len(values))
