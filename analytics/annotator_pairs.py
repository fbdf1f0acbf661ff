"""Agreement of each pair of annotators with the same questions, and its mean (BiVLC, Table 7)."""

from collections.abc import Hashable, Iterable, Sequence
from dataclasses import dataclass
from itertools import combinations
from math import sqrt

import numpy as np

from analytics.agreement import Coefficient
from analytics.intervals.bootstrap import LEAST_RATERS
from analytics.ratings import number_values
from analytics.scores import Mean, t_quantile

# Pairs that answered fewer questions together are left out of a mean.
LEAST_SHARED = 10
NO_PAIR = "No pair has a coefficient to average."
FEW_GROUPS = "Too few pairs: an interval for other pairs needs {} surveys with a pair, and there {} {}."


@dataclass(frozen=True)
class Pair:
    """Two annotators in the order of their first answers, and their labels of the units that both answered.

    `ratings`: units x 2, without missing values, as for `analytics.agreement.cohen_kappa`. `units`: the unit of each
    row.
    """

    group: Hashable
    annotators: tuple[Hashable, Hashable]
    ratings: Sequence[tuple[str, str]]
    units: Sequence[Hashable] = ()


def pairs_within(answers: Iterable[tuple[Hashable, Hashable, Hashable, str]]) -> list[Pair]:
    """Return all pairs of annotators of a group who both answered at least one unit, in order of appearance.

    answers: (group, unit, annotator, label), at most one per unit and annotator; a group is a survey, for instance.

    Example: ann and ben answer survey 1, cleo survey 2: one pair, (ann, ben).
    """
    groups: dict[Hashable, dict[Hashable, dict[Hashable, str]]] = {}
    for group, unit, annotator, label in answers:
        groups.setdefault(group, {}).setdefault(annotator, {})[unit] = label
    found = []
    for group, people in groups.items():
        for (first, labels), (second, others) in combinations(people.items(), 2):
            shared = {unit: (label, others[unit]) for unit, label in labels.items() if unit in others}
            if shared:
                found.append(Pair(group, (first, second), list(shared.values()), list(shared)))
    return found


def mean_coefficient(coefficients: Sequence[Coefficient]) -> Mean:
    """Return the mean of the defined coefficients; `n` is their number.

    Each counts once, however many units it is computed from. Undefined if no coefficient is defined.

    Example: .66, .43, .56, .43 and .38 have the mean .492.
    """
    values = [each.value for each in coefficients if each.value is not None]
    if not values:
        return Mean(None, 0, NO_PAIR)
    return Mean(sum(values) / len(values), len(values))


@dataclass(frozen=True)
class MeanOfPairs:
    """The mean coefficient of pairs with its interval for other people.

    value: None exactly when `reason` says why. low, high: None exactly when `no_interval` says why. n_pairs: pairs
    that count; n_groups: surveys they sit in. n_small: pairs left out for answering too little together; n_undefined:
    pairs left out because the coefficient is undefined, with `undefined_units` questions between them.
    """

    value: float | None
    low: float | None
    high: float | None
    n_pairs: int
    n_groups: int
    n_small: int
    n_undefined: int
    undefined_units: int
    reason: str | None = None
    no_interval: str | None = None


def mean_of_pairs(
    pairs: Sequence[tuple[Hashable, Coefficient]], *, least: int = LEAST_SHARED, level: float = 0.95
) -> MeanOfPairs:
    """Return the mean over pairs of (group, coefficient), each counting once, with its interval for other pairs.

    group: where the pair sits, a survey; pairs of one group share people, so groups are what is independent. The
    interval is Student's t over groups, within -1 and 1: undefined for fewer than `LEAST_RATERS`, as for annotators.
    least: pairs that answered fewer questions together are left out, for a kappa of three questions is chance alone.

    Example: .66, .43, .56, .43 and .38, one pair per survey: .492, from .349 to .635.
    """
    large = [(group, each) for group, each in pairs if each.n_pairable >= least]
    known = [(group, each.value) for group, each in large if each.value is not None]
    missing = [each for _, each in large if each.value is None]
    left_out = (len(pairs) - len(large), len(missing), sum(each.n_pairable for each in missing))
    groups = {group for group, _ in known}
    if not known:
        reason = NO_PAIR if large or not pairs else f"No pair answered {least} questions together."
        return MeanOfPairs(None, None, None, 0, 0, *left_out, reason, reason)
    values = np.array([value for _, value in known])
    mean, counts = float(values.mean()), (len(known), len(groups), *left_out)
    if len(groups) < LEAST_RATERS:
        reason = FEW_GROUPS.format(LEAST_RATERS, "is" if len(groups) == 1 else "are", len(groups))
        return MeanOfPairs(mean, None, None, *counts, None, reason)
    sums = np.bincount(number_values(group for group, _ in known), weights=values - mean)
    error = sqrt(sums.size / (sums.size - 1) * float((sums**2).sum())) / len(known)
    half = t_quantile(level, len(groups) - 1) * error
    return MeanOfPairs(mean, max(-1.0, mean - half), min(1.0, mean + half), *counts)
