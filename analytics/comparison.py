"""Compare two answerers (models, or a model and people) on the same questions."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import exp, log, sqrt
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from analytics.intervals.bootstrap import LEVEL
from analytics.people import ONE_PERSON, Answers, Spread, answers_of, evidence_of, share_interval, spread
from analytics.ratings import Floats
from analytics.scores import scores_in_range, truth_values

# Names of the tests, stored with results. "t over people" was used before.
Test = Literal["clustered score test", "McNemar"]
OVER_PEOPLE: Test = "clustered score test"
MCNEMAR: Test = "McNemar"
NOTHING_APART = "No question tells the two apart."
# Smallest probability reported by the clustered score test, and the number of bisection steps.
SMALLEST_P, STEPS = 1e-12, 50


@dataclass(frozen=True)
class McNemar:
    """Questions by who was right, and the probability of counts at least as uneven under no difference.

    p: exact and two-sided. chi_squared, p_chi_squared: the approximation for many questions, one degree of freedom,
    without continuity correction. The three are None exactly when `reason` says why.
    """

    n: int
    both: int
    only_first: int
    only_second: int
    neither: int
    p: float | None
    chi_squared: float | None
    p_chi_squared: float | None
    reason: str | None = None


@dataclass(frozen=True)
class PeopleComparison:
    """Difference between people's accuracy and somebody else's on the questions that each person answered.

    value: the mean over people of their share right minus the other's share on the same questions, -1 to 1; None
    without people. low, high: its interval; p: two-sided p-value. These three are None exactly when `reason` says why.
    test: the test used for p. people, other: the two shares of which `value` is the difference, each the mean over
    people; None without people.
    """

    value: float | None
    low: float | None
    high: float | None
    p: float | None
    test: Test
    n_people: int
    n_questions: int
    n_answers: int
    reason: str | None = None
    people: float | None = None
    other: float | None = None


def mcnemar(first: ArrayLike, second: ArrayLike) -> McNemar:
    """Test whether two answerers are right equally often, from the questions that only one got right.

    first, second: truth values of the same length, the same question at the same place. Undefined when no question
    tells them apart. It assumes independent questions: if one person answered several, use `compare_people`. Raises
    ValueError for two different lengths, and for what is no truth value.

    Source: McNemar 1947, "Note on the sampling error of the difference between correlated proportions", p. 155; the
    exact test is the sign test of the discordant pairs, twice the smaller tail, at most 1.

    Example: only the first right on 1 question and only the second on 9: p = 2 (1 + 10) / 1024 = 0.0215,
    chi-squared 6.4.
    """
    left, right = truth_values(first), truth_values(second)
    if left.ndim != 1 or left.shape != right.shape:
        raise ValueError(f"A comparison takes two lists over the same questions, not {left.shape} and {right.shape}.")
    only_first, only_second = int((left & ~right).sum()), int((~left & right).sum())
    both, neither = int((left & right).sum()), int((~left & ~right).sum())
    apart = only_first + only_second
    counts = (left.size, both, only_first, only_second, neither)
    if not apart:
        return McNemar(*counts, None, None, None, NOTHING_APART)
    # Imported here: it takes longer than all other imports of a page.
    from scipy.special import bdtr, chdtrc

    chi_squared = (only_first - only_second) ** 2 / apart
    exact = min(1.0, 2 * float(bdtr(min(only_first, only_second), apart, 0.5)))
    return McNemar(*counts, exact, chi_squared, float(chdtrc(1, chi_squared)))


def compare_people(
    right: ArrayLike,
    others: ArrayLike,
    people: Sequence[Hashable],
    questions: Sequence[Hashable],
    instances: Sequence[Hashable] | None = None,
    *,
    level: float = LEVEL,
) -> PeopleComparison:
    """Compare people with somebody (a model) on the same questions, with one value per person.

    right, others: the score of each answer of a person, and of the other's answer to the same question: truth values,
    or numbers from 0 to 1. people, questions: author and question of each answer. instances: the instance of each
    question, if there are several questions about one. The interval is computed from the intervals of the two shares
    (`_difference_interval`): that of people for other people and instances, and the other's for other instances. p is
    the smallest level at which the interval excludes 0, and at least `SMALLEST_P`. McNemar's p replaces it where all
    answers are independent: each is right or wrong, and no two share a person or an instance.

    Undefined for one person, and if both are right on the same questions. Raises ValueError for different lengths, for
    values that are not scores from 0 to 1, and if a person answered a question twice. Source: Zou and Donner 2008,
    "Construction of confidence limits about effect measures: a general approach", Statistics in Medicine 27, pp.
    1693-1702; for one answer each it is method 10 of Newcombe 1998, "Improved confidence intervals for the difference
    between binomial proportions based on paired data", Statistics in Medicine 17.

    Example: ann 3 of 4 right and ben 2 of 4, the other 1 of 4 and 1 of 4: the differences are 0.5 and 0.25, their mean
    is 0.375.
    """
    mine, its = scores_in_range(right), scores_in_range(others)
    if mine.shape != its.shape:
        raise ValueError(f"A comparison takes two lists over the same questions, not {mine.shape} and {its.shape}.")
    given = answers_of(mine, people, questions, instances)
    counts = (given.n_people, given.n_questions, given.values.size)
    are_counts = bool(np.isin((mine, its), (0, 1)).all())
    alone = given.n_people == given.n_instances == given.values.size and given.n_people > 1 and are_counts
    test = MCNEMAR if alone else OVER_PEOPLE
    if not given.values.size:
        return PeopleComparison(None, None, None, None, test, *counts, ONE_PERSON)
    both = _Both.of(given, its)
    shares = (both.people.value, both.other.value)
    reason = spread(given).reason or (None if (mine != its).any() else NOTHING_APART)
    if reason is not None:
        return PeopleComparison(both.value, None, None, None, test, *counts, reason, *shares)
    p = mcnemar(mine, its).p if alone else _probability(both)
    return PeopleComparison(both.value, *_difference_interval(both, level), p, test, *counts, None, *shares)


@dataclass(frozen=True)
class _Share:
    """A share right that is as informative as `n` independent answers."""

    value: float
    n: float
    degrees: float

    def interval(self, level: float) -> tuple[float, float]:
        return share_interval(self.value, self.n, 1, self.degrees, level=level)


@dataclass(frozen=True)
class _Both:
    """The share right of people and that of the other, and how their estimates correlate."""

    people: _Share
    other: _Share
    correlation: float

    @property
    def value(self) -> float:
        return self.people.value - self.other.value

    @classmethod
    def of(cls, given: Answers, its: Floats) -> "_Both":
        people, found = float(given.means.mean()), spread(given)
        # Weights sum to 1 up to rounding.
        other = min(1.0, float((given.weights * its).sum()))
        of_people, of_other = (
            np.bincount(given.instance, weights=given.weights * apart, minlength=given.n_instances)
            for apart in (given.values - people, its - other)
        )
        most = max(2, given.n_instances)
        variance = float((of_other**2).sum()) * most / (most - 1)
        covariance = float((of_people * of_other).sum()) * most / (most - 1)
        scale = sqrt((found.variance or 0.0) * variance)
        # A question counts once for the other answerer, however many people answered it.
        of_question = np.bincount(given.question, weights=given.weights)
        return cls(
            _share(people, found, given.weights, given.values, given.single_answers),
            _share(other, Spread(variance, most - 1.0), given.weights, its, 1 / float((of_question**2).sum())),
            max(-1.0, min(1.0, covariance / scale)) if scale > 0 else 0.0,
        )


def _share(value: float, found: Spread, weights: Floats, values: Floats, most: float) -> _Share:
    """Return a share with its estimated variance, or that of `most` independent answers if smaller."""
    alone = float((weights * (values - value) ** 2).sum())
    told = evidence_of(value, found, alone, most)
    return _Share(value, told.n, told.degrees)


def _difference_interval(both: _Both, level: float) -> tuple[float, float]:
    """Return the interval of a difference of two shares from their intervals (Zou and Donner 2008, equation 7)."""
    (low, high), (its_low, its_high) = both.people.interval(level), both.other.interval(level)
    value, mine, its = both.value, both.people.value, both.other.value
    below = _together(mine - low, its_high - its, both.correlation)
    above = _together(high - mine, its - its_low, both.correlation)
    return max(-1.0, value - below), min(1.0, value + above)


def _together(first: float, second: float, correlation: float) -> float:
    return sqrt(max(0.0, first**2 - 2 * correlation * first * second + second**2))


def _probability(both: _Both) -> float:
    """Return the smallest level at which the interval excludes 0."""
    if not both.value:
        return 1.0
    least, most = log(SMALLEST_P), 0.0
    for _ in range(STEPS):
        middle = (least + most) / 2
        low, high = _difference_interval(both, 1 - exp(middle))
        least, most = (least, middle) if low > 0 or high < 0 else (middle, most)
    return exp(most)


def holm(probabilities: Sequence[float | None]) -> list[float | None]:
    """Return the probabilities adjusted for multiple tests; None, a test not made, stays None.

    Source: Holm 1979, "A simple sequentially rejective multiple test procedure", Scandinavian Journal of Statistics 6.

    Example: 0.01, 0.04, 0.03 become 0.03, 0.06, 0.06.
    """
    made = sorted((p, index) for index, p in enumerate(probabilities) if p is not None)
    adjusted: list[float | None] = [None] * len(probabilities)
    largest = 0.0
    for before, (p, index) in enumerate(made):
        largest = max(largest, min(1.0, (len(made) - before) * p))
        adjusted[index] = largest
    return adjusted
