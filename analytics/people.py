"""How often people are right, for other people like these on other questions like these.

Every person counts once, however much they answered. The interval allows for both draws: of people, whose answers are
alike because they are one person's, and of questions, which several people may share. It is the exact interval of a
share (Clopper and Pearson 1934) on the number of single answers that would tell as much, corrected for the few people
that the variance is estimated from (Korn and Graubard 1998, "Confidence intervals for proportions with small expected
number of positive counts estimated from survey data", Survey Methodology 24, pp. 193-201). `benchmarks/coverage.py`
measures how often it holds what it promises; docs/decisions/0011-intervals-for-other-people.md says why this one.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analytics.ratings import Floats
from analytics.scores import NOTHING, truth_values

LEVEL = 0.95
# Rounds in which a limit and the design effect that belongs to it settle; six change nothing that anybody prints.
ROUNDS = 12
# A variance of shares below this is zero but for rounding.
ROUNDING = 1e-20
ONE_PERSON = "One person answered, and what one person does says nothing about others."
ONE_QUESTION = "One question was answered, which says nothing about other questions."


@dataclass(frozen=True)
class Spread:
    """How far a mean over people may lie from what other people and other questions would give.

    variance: of the mean. degrees: of freedom of that estimate. Both are None exactly when `reason` says why.
    """

    variance: float | None
    degrees: float | None
    reason: str | None = None


@dataclass(frozen=True)
class PeopleScore:
    """The mean over `n_people` of each one's share right, with its interval.

    value: 0 to 1, None exactly when nobody answered. low, high: None exactly when `reason` says why. n_questions:
    different ones; n_answers: over all people. icc: how much more alike two answers of one person are than two of two
    people (analysis of variance; at most 1, under 0 when people differ less than chance makes them; None where it
    cannot be told). design_effect: how many answers tell as much as one single independent one would, at least 1;
    None with the interval.
    """

    value: float | None
    low: float | None
    high: float | None
    n_people: int
    n_questions: int
    n_answers: int
    icc: float | None
    design_effect: float | None
    reason: str | None = None


@dataclass(frozen=True)
class Answers:
    """Numbers by who gave them and about what: three columns of equal length, people and questions numbered from 0."""

    values: Floats
    person: NDArray[np.intp]
    question: NDArray[np.intp]
    n_people: int
    n_questions: int

    @property
    def per_person(self) -> Floats:
        return np.bincount(self.person, minlength=self.n_people).astype(np.float64)

    @property
    def means(self) -> Floats:
        """The mean of each person."""
        means: Floats = np.bincount(self.person, weights=self.values, minlength=self.n_people) / self.per_person
        return means

    @property
    def single_answers(self) -> float:
        """How many answers count as much as these do when every person counts once (Kish 1965, section 11.7)."""
        return self.n_people**2 / float((1 / self.per_person).sum())


def answers_of(values: ArrayLike, people: Sequence[Hashable], questions: Sequence[Hashable]) -> Answers:
    """Number people and questions in order of appearance.

    values: one number per answer. people, questions: whose it is and about what, of the same length. Raises ValueError
    for other lengths, for what is no number, and when one person has answered a question twice.
    """
    numbers = np.asarray(values, dtype=np.float64)
    if numbers.ndim != 1 or len(people) != numbers.size or len(questions) != numbers.size:
        raise ValueError(
            f"Each answer has a person and a question, not {numbers.size} answers with {len(people)} and "
            f"{len(questions)}."
        )
    if np.isnan(numbers).any():
        raise ValueError(f"Answer {int(np.isnan(numbers).argmax())} (counted from 0) is not a number.")
    if len(set(zip(people, questions, strict=True))) < numbers.size:
        raise ValueError("A person has answered a question twice; each answers a question once.")
    who, what = _numbered(people), _numbered(questions)
    return Answers(numbers, who, what, int(who.max(initial=-1)) + 1, int(what.max(initial=-1)) + 1)


def score_of_people(
    right: ArrayLike, people: Sequence[Hashable], questions: Sequence[Hashable], *, level: float = LEVEL
) -> PeopleScore:
    """Return the mean over people of their share right, with its interval for other people and questions.

    right: whether each answer is right. people, questions: whose answer it is and to what, of the same length; an
    instance that a person answered several questions about may stand as one question.

    Raises ValueError as `answers_of`, for what is no truth value, and for a level outside 0 to 1.
    Source: see the head of this module; two-way variance as in Searle, Casella and McCulloch 1992, "Variance
    components". The design effect of a limit nearer to one half is taken larger, by the spread of a share
    there: people who differ a little near 1 differ more below, and without it twenty people who are right on 97 %
    are covered 92 times in 100.

    Example: ann right on 3 of 4 questions and ben on 1 of 2: (0.75 + 0.5) / 2 = 0.625, where 4 of 6 answers are right.
    """
    given = answers_of(truth_values(right), people, questions)
    counts = (given.n_people, given.n_questions, given.values.size)
    if not given.values.size:
        return PeopleScore(None, None, None, *counts, None, None, NOTHING)
    value, icc, found = float(given.means.mean()), intraclass_correlation(given), spread(given)
    if found.variance is None or found.degrees is None:
        return PeopleScore(value, None, None, *counts, icc, None, found.reason)
    single = value * (1 - value)
    independent = given.single_answers
    if found.variance > 0 and single > 0:
        independent = min(independent, single / found.variance)
    low, high = share_interval(value, counts[2], counts[2] / independent, found.degrees, level=level)
    return PeopleScore(value, low, high, *counts, icc, counts[2] / independent)


def share_interval(
    share: float, n: int, design_effect: float, degrees: float, *, level: float = LEVEL
) -> tuple[float, float]:
    """Return the interval of a share of `n` answers of which `design_effect` tell as much as one independent one.

    share: 0 to 1. degrees: of freedom of the design effect, at least 1. Raises ValueError for numbers outside these.
    Source: Korn and Graubard 1998; the design effect of a limit as in `score_of_people`.

    Example: 90 of 100 with a design effect of 1 and very many degrees is Clopper and Pearson's 0.824 to 0.951.
    """
    if not (0 <= share <= 1 and n >= 1 and design_effect > 0 and degrees > 0 and 0 < level < 1):
        raise ValueError(
            f"Not a share of {share} of {n} answers with a design effect of {design_effect}, {degrees} degrees of "
            f"freedom and level {level}."
        )
    lower = _lower_limit(share, n, design_effect, degrees, level)
    return lower, 1 - _lower_limit(1 - share, n, design_effect, degrees, level)


def spread(given: Answers) -> Spread:
    """Return the variance of the mean over people when both people and questions are drawn anew.

    That of the means of people over their number, plus what two people's means have in common through questions that
    both answered (0 when no question is shared). Undefined for one person, and for one question.

    Example: people with means 1 and 0.5 on questions of their own: 0.125 / 2 = 0.0625 with 1 degree of freedom.
    """
    people, questions = given.n_people, given.n_questions
    if people < 2:
        return Spread(None, None, ONE_PERSON if people else NOTHING)
    if questions < 2:
        return Spread(None, None, ONE_QUESTION)
    own = float(np.var(given.means, ddof=1)) / people
    shared = max(0.0, _in_common(given))
    variance, most = own + shared, float(people - 1)
    if variance < ROUNDING:
        return Spread(0.0, most)
    degrees = variance**2 / (own**2 / most + shared**2 / (questions - 1))
    return Spread(variance, min(most, degrees))


def intraclass_correlation(given: Answers) -> float | None:
    """Return how much more alike two answers of one person are than two of two people; None where it cannot be told.

    Source: one-way analysis of variance with unequal groups, Donner 1986, "A review of inference procedures for the
    intraclass correlation coefficient in the one-way random effects model", International Statistical Review 54.

    Example: ann 1, 1 and ben 0, 0 is 1; ann 1, 0 and ben 1, 0 is -1.
    """
    n, people, each = given.values.size, given.n_people, given.per_person
    if people < 2 or n <= people:
        return None
    between = float((each * (given.means - given.values.mean()) ** 2).sum()) / (people - 1)
    within = float(((given.values - given.means[given.person]) ** 2).sum()) / (n - people)
    usual = (n - float((each**2).sum()) / n) / (people - 1)
    all_of_it = between + (usual - 1) * within
    return (between - within) / all_of_it if all_of_it else None


def _in_common(given: Answers) -> float:
    """Return the mean over pairs of people of the covariance that their means have through questions they share."""
    each, people = given.per_person, given.n_people
    apart = (given.values - given.means[given.person]) / each[given.person]
    by_question = np.bincount(given.question, weights=apart, minlength=given.n_questions)
    products = float((by_question**2).sum() - (apart**2).sum())
    usual = people / float((1 / each).sum())
    # A person's mean is taken from their own answers, which uses up one of them.
    left = usual / (usual - 1) if usual > 1 else 1.0
    return left * products / (people * (people - 1))


def _lower_limit(share: float, n: int, design_effect: float, degrees: float, level: float) -> float:
    if share <= 0:
        return 0.0
    # Here, because loading it takes longer than everything else that a page of the site loads.
    from scipy.special import betaincinv, stdtrit

    tail = (1 - level) / 2
    few = (stdtrit(max(n - 1, 1), 1 - tail) / stdtrit(degrees, 1 - tail)) ** 2
    least = max(share * (1 - share), 1 / (2 * n))
    grown, limit = 1.0, share
    for _ in range(ROUNDS):
        independent = n / (1 + (design_effect - 1) * grown) * min(1.0, few)
        right = share * independent
        limit = float(betaincinv(right, independent - right + 1, tail))
        grown = max(1.0, limit * (1 - limit) / least) ** 0.5
    return limit


def _numbered(column: Sequence[Any]) -> NDArray[np.intp]:
    index: dict[Any, int] = {}
    return np.array([index.setdefault(value, len(index)) for value in column], dtype=np.intp)
