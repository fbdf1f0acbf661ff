"""Accuracy of people, with an interval for other people on other instances.

Every person counts once, whatever the number of their answers. The interval accounts for two samples: people, whose own
answers are correlated, and instances, which several people may share and which may have several questions. It is
Wilson's interval of a share (1927) with Student's t and the effective number of independent answers.
`benchmarks/coverage.py` measures its coverage; docs/decisions/0057-intervals-by-instance.md explains the choice.

Korn and Graubard 1998, "Confidence intervals for proportions with small expected number of positive counts estimated
from survey data", Survey Methodology 24, pp. 193-201. Franco, Little, Louis and Slud 2019, "Comparative study of
confidence intervals for proportions in complex sample surveys", Journal of Survey Statistics and Methodology 7,
pp. 334-364.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np
from numpy.typing import ArrayLike, NDArray

from analytics.ratings import Floats, number_values
from analytics.scores import NOTHING, scores_in_range, t_quantile

LEVEL = 0.95
# People who differ a little near 1 differ more below. The design effect of a limit nearer to one half grows by this
# power of how much more a share varies there. The power is larger where people are few (by 2 over the degrees of
# freedom) or the share is skewed (by its squared skewness over 60), up to 1.25. Chosen by `benchmarks/coverage.py`.
POWER, FEW_DEGREES, SKEWED, LARGEST_POWER = 0.4, 2.0, 60.0, 1.25
# A variance below that of independent answers gets more degrees of freedom: at most one fifth of them times as many.
DEGREES_TO_BELIEVE = 5.0
# Iterations until a limit and its design effect settle; six change no printed digit.
ROUNDS = 12
# A smaller variance of shares is zero up to rounding.
ROUNDING = 1e-20
ONE_PERSON = "Only one person answered, so there is no interval for other people."
ONE_QUESTION = "Only one question was answered, so there is no interval for other questions."
ONE_INSTANCE = "All answers are about one instance, so there is no interval for other instances."


@dataclass(frozen=True)
class Spread:
    """Variance of a mean over people, for other people and other instances.

    variance: of the mean, at least 0. degrees: of freedom of that estimate. Both are None exactly when `reason` says
    why.
    """

    variance: float | None
    degrees: float | None
    reason: str | None = None


@dataclass(frozen=True)
class Evidence:
    """The number of independent answers of 0 or 1 that are as informative as the answers behind a share.

    most: the number if the answers were independent. n: the actual number, at most `most`. degrees: of freedom of `n`.
    """

    n: float
    most: float
    degrees: float

    @property
    def design_effect(self) -> float:
        return self.most / self.n


@dataclass(frozen=True)
class PeopleScore:
    """The mean over `n_people` of each person's share right, with its interval.

    value: 0 to 1, None exactly when nobody answered. low, high: None exactly when `reason` says why. n_questions:
    different ones; n_answers: over all people. icc: intraclass correlation of answers by person (analysis of variance).
    It is at most 1, negative if people differ less than by chance, and None if undefined. design_effect: the number of
    answers that are as informative as one independent answer, at least 1; None if the interval is.
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
    """Values with person, question and instance: columns of equal length; people, questions and instances numbered from
    0."""

    values: Floats
    person: NDArray[np.intp]
    question: NDArray[np.intp]
    instance: NDArray[np.intp]
    n_people: int
    n_questions: int
    n_instances: int

    @property
    def per_person(self) -> Floats:
        return np.bincount(self.person, minlength=self.n_people).astype(np.float64)

    @property
    def means(self) -> Floats:
        """The mean of each person."""
        return np.bincount(self.person, weights=self.values, minlength=self.n_people) / self.per_person

    @property
    def single_answers(self) -> float:
        """The effective number of answers when each person counts once (Kish 1965, section 11.7)."""
        return self.n_people**2 / float((1 / self.per_person).sum())

    @property
    def weights(self) -> Floats:
        """The weight of each answer in the mean over people; they sum to 1."""
        return 1 / (self.n_people * self.per_person[self.person])


def answers_of(
    values: ArrayLike,
    people: Sequence[Hashable],
    questions: Sequence[Hashable],
    instances: Sequence[Hashable] | None = None,
) -> Answers:
    """Number people, questions and instances in order of appearance.

    values: one number per answer. people, questions: author and question of each value, of the same length. instances:
    the instance of the question; without it, every question has a separate instance. Raises ValueError for other
    lengths, for values that are not numbers, and if one person answered a question twice.
    """
    numbers = np.asarray(values, dtype=np.float64)
    about = questions if instances is None else instances
    if numbers.ndim != 1 or not len(people) == len(questions) == len(about) == numbers.size:
        raise ValueError(
            f"Each answer has a person and a question, not {numbers.size} answers with {len(people)} and "
            f"{len(questions)}, about {len(about)} instances."
        )
    if np.isnan(numbers).any():
        raise ValueError(f"Answer {int(np.isnan(numbers).argmax())} (counted from 0) is not a number.")
    if len(set(zip(people, questions, strict=True))) < numbers.size:
        raise ValueError("A person has answered a question twice; each answers a question once.")
    columns = number_values(people), number_values(questions), number_values(about)
    return Answers(numbers, *columns, *(int(column.max(initial=-1)) + 1 for column in columns))


def number_answers(people: Sequence[int], instances: Sequence[int]) -> Answers:
    """Number people and instances by size, each answer with its own question; fast, and without values."""
    n = len(people)
    who, person = np.unique(np.asarray(people, dtype=np.int64), return_inverse=True)
    about, instance = np.unique(np.asarray(instances, dtype=np.int64), return_inverse=True)
    return Answers(np.zeros(n), person, np.arange(n), instance, who.size, n, about.size)


def score_of_people(
    right: ArrayLike,
    people: Sequence[Hashable],
    questions: Sequence[Hashable],
    instances: Sequence[Hashable] | None = None,
    *,
    level: float = LEVEL,
) -> PeopleScore:
    """Return the mean over people of their share right, with its interval for other people and instances.

    right: the score of each answer, a truth value or a number from 0 to 1. people, questions: author and question of
    each answer, of the same length; several questions about an instance may be combined into one. instances: the
    instance of each question, if there are several questions about one.

    Raises ValueError like `answers_of`, for values that are not scores from 0 to 1, and for a level outside 0 to 1.
    Source: see the head of this module; two-way variance as in Searle, Casella and McCulloch 1992, "Variance
    components". The design effect of a limit nearer to one half is taken larger (`POWER`).

    Example: ann right on 3 of 4 questions and ben on 1 of 2: (0.75 + 0.5) / 2 = 0.625, where 4 of 6 answers are right.
    """
    return score_of(answers_of(scores_in_range(right), people, questions, instances), level=level)


def score_of(given: Answers, *, level: float = LEVEL) -> PeopleScore:
    """Return `score_of_people` of numbered answers with values from 0 to 1."""
    counts = (given.n_people, given.n_questions, given.values.size)
    if not given.values.size:
        return PeopleScore(None, None, None, *counts, None, None, NOTHING)
    value, icc, found = float(given.means.mean()), intraclass_correlation(given), spread(given)
    if found.variance is None or found.degrees is None:
        return PeopleScore(value, None, None, *counts, icc, None, found.reason)
    alone = float((given.weights * (given.values - value) ** 2).sum())
    told = evidence_of(value, found, alone, given.single_answers)
    low, high = share_interval(value, told.most, told.design_effect, told.degrees, level=level)
    return PeopleScore(value, low, high, *counts, icc, counts[2] / told.n)


def evidence_of(share: float, found: Spread, alone: float, answers: float) -> Evidence:
    """Return the number of independent answers as informative as a share with this variance.

    alone: the variance of a single answer. answers: the maximum number of independent answers. If the variance is
    smaller than theirs by chance, theirs is used. Its degrees of freedom are those of Satterthwaite 1946, "An
    approximate distribution of estimates of variance components", Biometrics Bulletin 2: the squared ratio of the two
    variances times as many (`DEGREES_TO_BELIEVE` bounds it, because few people often seem alike).

    Example: a share of .5 of 16 answers, with the variance 1/32 and 19 degrees of freedom, is worth 8 answers; with
    1/128 it is worth 16, with 19 * min(2^2, 19 / 5) degrees.
    """
    variance, degrees, floor = found.variance or 0.0, found.degrees or 1.0, alone / answers
    if floor > variance:
        most_times = max(1.0, degrees / DEGREES_TO_BELIEVE)
        degrees *= min(most_times, (floor / variance) ** 2 if variance else most_times)
    single, least = share * (1 - share), max(variance, floor)
    if not (single > 0 and floor > 0):
        return Evidence(answers, answers, degrees)
    return Evidence(single / least, single / floor, degrees)


def share_interval(
    share: float, n: float, design_effect: float, degrees: float, *, level: float = LEVEL
) -> tuple[float, float]:
    """Return the interval of a share of `n` answers, of which `design_effect` are as informative as one independent
    one.

    share: 0 to 1. n: above 0, need not be a whole number. degrees: of freedom of the design effect, above 0. Raises
    ValueError for numbers outside these.
    Source: Wilson 1927, "Probable inference, the law of succession, and statistical inference", JASA 22, with Student's
    t; the design effect of a limit as in `score_of_people`.

    Example: 90 of 100 with a design effect of 1 and very many degrees is Wilson's 0.826 to 0.945.
    """
    if not (0 <= share <= 1 and n > 0 and design_effect > 0 and degrees > 0 and 0 < level < 1):
        raise ValueError(
            f"share must be from 0 to 1, level between 0 and 1, and n, design_effect and degrees above 0. They are "
            f"{share}, {level}, {n}, {design_effect} and {degrees}."
        )
    far = t_quantile(level, degrees)
    least = max(share * (1 - share), 1 / (2 * n))
    few = FEW_DEGREES / degrees
    power = min(max(1.0, LARGEST_POWER - few), POWER + few + (1 - 2 * share) ** 2 / least / SKEWED)
    below, above = (_lower_limit(each, n, design_effect, far, power) for each in (share, 1 - share))
    return below, 1 - above


def spread(given: Answers, weights: Floats | None = None) -> Spread:
    """Return the variance of the mean over people, for other people and instances.

    It is the variance of people's means over their number, plus the covariance of two people's means through shared
    instances (0 if no instance is shared). Undefined for one person, and for one instance. weights: how much each
    answer counts in another mean, with the sum 1; by default every person counts once.

    Example: people with means 1 and 0.5 on questions of their own: 0.125 / 2 = 0.0625 with 1 degree of freedom.
    """
    people, instances = given.n_people, given.n_instances
    if people < 2:
        return Spread(None, None, ONE_PERSON if people else NOTHING)
    if instances < 2:
        return Spread(None, None, ONE_QUESTION if given.n_questions < 2 else ONE_INSTANCE)
    weights = given.weights if weights is None else weights
    middle = float((weights * given.values).sum())
    of_person = np.bincount(given.person, weights=weights * (given.values - middle), minlength=people)
    own, shared = float((of_person**2).sum()) * people / (people - 1), _in_common(given, weights)
    most = own + max(0.0, shared)
    if most < ROUNDING:
        return Spread(0.0, people - 1.0)
    degrees = most**2 / (own**2 / (people - 1) + max(0.0, shared) ** 2 / (instances - 1))
    return Spread(max(0.0, own + shared), degrees)


def intraclass_correlation(given: Answers) -> float | None:
    """Return the intraclass correlation of answers by person; None if undefined.

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


def _in_common(given: Answers, weights: Floats) -> float:
    """Return the part of the variance of the mean due to answers of different people about the same instance."""
    people = given.n_people
    apart = (given.values - given.means[given.person]) * weights
    # The sum for each person and instance.
    pairs, which = np.unique(given.person * given.n_instances + given.instance, return_inverse=True)
    of_pair = np.bincount(which, weights=apart, minlength=pairs.size)
    by_instance = np.bincount(pairs % given.n_instances, weights=of_pair, minlength=given.n_instances)
    products = float((by_instance**2).sum() - (of_pair**2).sum())
    instances_each = np.bincount(pairs // given.n_instances, minlength=people)
    usual = people / float((1 / instances_each).sum())
    # A person's mean is computed from their own answers, which uses up one instance, as n - 1 in a variance.
    left = usual / (usual - 1) if usual > 1 else 1.0
    return left * products * people / (people - 1)


def _lower_limit(share: float, n: float, design_effect: float, far: float, power: float) -> float:
    """Return Wilson's lower limit. far: the quantile of Student's t."""
    if share <= 0:
        return 0.0
    least = max(share * (1 - share), 1 / (2 * n))
    grown, limit = 1.0, share
    for _ in range(ROUNDS if design_effect > 1 else 1):
        independent = n / (1 + (design_effect - 1) * grown)
        beside = far**2 / independent
        around = far * sqrt(share * (1 - share) / independent + beside / (4 * independent))
        limit = max(0.0, (share + beside / 2 - around) / (1 + beside))
        grown = max(1.0, limit * (1 - limit) / least) ** power if design_effect > 1 else 1.0
    return limit
