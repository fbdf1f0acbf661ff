"""Whether two answerers (models, or a model and people) differ on the very same questions."""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analytics.bootstrap import LEVEL, RESAMPLES, Interval, mean_over_units
from analytics.people import ONE_PERSON, Answers, answers_of, spread
from analytics.scores import truth_values

Test = Literal["t over people", "McNemar"]
OVER_PEOPLE: Test = "t over people"
MCNEMAR: Test = "McNemar"
NOTHING_APART = "No question tells the two apart."
ALL_ALIKE = "Every person differs from the other by the same, so how far people vary cannot be told."


@dataclass(frozen=True)
class McNemar:
    """Counts of questions by who was right, and the probability of counts at least as uneven were there no difference.

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
class PeopleAgainst:
    """How much more often people are right than somebody else on the questions that each of them answered.

    value: the mean over people of their share right minus the other's share on the same questions, -1 to 1; None
    without people. low, high: its interval; p: two-sided probability of a difference as large were there none. These
    three are None exactly when `reason` says why. test: "t over people" or "McNemar", which was used for p.
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


@dataclass(frozen=True)
class Difference:
    """Mean of the first minus mean of the second over `n` questions, with its interval; None when `reason` says why."""

    value: float | None
    n: int
    interval: Interval
    reason: str | None = None


def mcnemar(first: ArrayLike, second: ArrayLike) -> McNemar:
    """Test whether two answerers are right equally often, from the questions that only one of them got right.

    first, second: truth values of the same length, the same question at the same place. Undefined when no question
    tells them apart. It takes every question for independent of the others: where one person answered several, take
    `people_against`. Raises ValueError for two different lengths, and for what is no truth value.

    Source: McNemar 1947, "Note on the sampling error of the difference between correlated proportions", p. 155; the
    exact test is the sign test of the discordant pairs, twice the smaller tail, at most 1.

    Example: only the first right on 1 question and only the second on 9: p = 2 (1 + 10) / 1024 = 0.0215,
    chi-squared 6.4.
    """
    left, right = _paired(truth_values(first), truth_values(second), np.bool_)
    only_first, only_second = int((left & ~right).sum()), int((~left & right).sum())
    both, neither = int((left & right).sum()), int((~left & ~right).sum())
    apart = only_first + only_second
    counts = (left.size, both, only_first, only_second, neither)
    if not apart:
        return McNemar(*counts, None, None, None, NOTHING_APART)
    # Here, because loading it takes longer than everything else that a page of the site loads.
    from scipy.special import bdtr, chdtrc

    chi_squared = (only_first - only_second) ** 2 / apart
    exact = min(1.0, 2 * float(bdtr(min(only_first, only_second), apart, 0.5)))
    return McNemar(*counts, exact, chi_squared, float(chdtrc(1, chi_squared)))


def people_against(
    right: ArrayLike,
    others: ArrayLike,
    people: Sequence[Hashable],
    questions: Sequence[Hashable],
    *,
    level: float = LEVEL,
) -> PeopleAgainst:
    """Compare people with somebody (a model) who answered the same questions, with one value per person.

    right, others: whether each answer of a person is right, and whether the other's to the same question is. people,
    questions: whose answer it is and to what. The test is Student's t over people, whose variance allows for questions
    that several people share (`analytics.people.spread`), and where they do is no less than `_over_questions`;
    McNemar's takes its place only where every answer comes from a person of its own and to a question of its own, so
    that nothing depends on anything.

    Undefined for one person, and where the differences of all people are the same. Raises ValueError for different
    lengths, for what is no truth value, and when a person has answered a question twice.
    Source: Donner and Klar 2000, "Design and analysis of cluster randomization trials in health research".

    Example: ann 3 of 4 right and ben 2 of 4, the other 1 of 4 and 1 of 4: the differences are 0.5 and 0.25, their mean
    0.375, t = 0.375 / 0.125 = 3 with 1 degree of freedom, p = 0.205.
    """
    mine, its = truth_values(right), truth_values(others)
    if mine.shape != its.shape:
        raise ValueError(f"A comparison takes two lists over the same questions, not {mine.shape} and {its.shape}.")
    given = answers_of(mine.astype(np.float64) - its, people, questions)
    counts = (given.n_people, given.n_questions, given.values.size)
    alone = given.n_people == given.n_questions == given.values.size and given.n_people > 1
    test = MCNEMAR if alone else OVER_PEOPLE
    if not given.values.size:
        return PeopleAgainst(None, None, None, None, test, *counts, ONE_PERSON)
    value, found = float(given.means.mean()), spread(given)
    if found.variance is None or found.degrees is None:
        return PeopleAgainst(value, None, None, None, test, *counts, found.reason)
    if not found.variance:
        reason = ALL_ALIKE if given.values.any() else NOTHING_APART
        return PeopleAgainst(value, None, None, None, test, *counts, reason)
    # Here, because loading it takes longer than everything else that a page of the site loads.
    from scipy.special import stdtr, stdtrit

    error = sqrt(max(found.variance, _over_questions(given)))
    half = float(stdtrit(found.degrees, (1 + level) / 2)) * error
    p = mcnemar(mine, its).p if alone else 2 * float(stdtr(found.degrees, -abs(value) / error))
    return PeopleAgainst(value, max(-1.0, value - half), min(1.0, value + half), p, test, *counts)


def _over_questions(given: Answers) -> float:
    """Return the least variance that the draw of questions gives a mean difference; 0 where no question is shared.

    Where people share questions, the other's answers to them are the same for all: a model that is right on 25 of 25
    says nothing of how far it would be on others, and people who are right nearly as often would differ from it for
    sure. So there are two questions more, one that people alone and one that the other alone is right on, as Bonett
    and Price 2012, "Adjusted Wald confidence interval for a difference of binomial proportions based on paired data",
    Journal of Educational and Behavioral Statistics 37, have it for one answer to each.
    """
    questions = given.n_questions
    if given.values.size == questions:
        return 0.0
    weights = 1 / (given.n_people * given.per_person[given.person])
    of_question = np.bincount(given.question, weights=weights)
    differences = np.bincount(given.question, weights=weights * given.values) / of_question
    apart = differences - float(given.means.mean())
    varying = float((of_question**2 * apart**2).sum()) + 2 / questions**2
    return varying * (questions / (questions + 2)) ** 2


def holm(probabilities: Sequence[float | None]) -> list[float | None]:
    """Return the probabilities adjusted for having made several tests; None, a test not made, stays None.

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


def difference(
    first: ArrayLike,
    second: ArrayLike,
    *,
    rng: np.random.Generator,
    resamples: int = RESAMPLES,
    level: float = LEVEL,
) -> Difference:
    """Return how much better the first is than the second, with a paired bootstrap interval over questions.

    first, second: numbers or truth values of the same length, the same question at the same place; a question is drawn
    with both its outcomes. Raises ValueError for two different lengths, and as `analytics.bootstrap.mean_over_units`.

    Example: [1, 1, 0, 1] against [1, 0, 0, 0] is 0.5 better.
    """
    left, right = _paired(first, second, np.float64)
    interval = mean_over_units(left - right, rng=rng, resamples=resamples, level=level)
    if not left.size:
        return Difference(None, 0, interval, interval.reason)
    return Difference(float((left - right).mean()), left.size, interval)


def _paired(first: ArrayLike, second: ArrayLike, dtype: type) -> tuple[NDArray[Any], NDArray[Any]]:
    left: NDArray[Any] = np.asarray(first, dtype=dtype)
    right: NDArray[Any] = np.asarray(second, dtype=dtype)
    if left.ndim != 1 or left.shape != right.shape:
        raise ValueError(f"A comparison takes two lists over the same questions, not {left.shape} and {right.shape}.")
    return left, right
