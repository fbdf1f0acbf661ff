"""Expected widths of a study's intervals before launch, by the code that computes them afterwards. Pure."""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from math import factorial, hypot, prod, sqrt

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

from analytics.coefficients import KrippendorffAlpha
from analytics.intervals.bootstrap import agreement_over_units
from analytics.people import ONE_PERSON, Answers, score_of
from analytics.ratings import CodedRatings, Floats
from analytics.scores import t_quantile

# Default assumptions: nine of ten answers right, a standard deviation of people's shares of .07 (the root of .05 x .9 x
# .1), and of questions' of .09.
USUAL_SHARE, USUAL_ICC, USUAL_ICC_OF_QUESTIONS = 0.9, 0.05, 0.1
# Two labels, one of them a fifth of the answers, and moderate to good agreement.
USUAL_ALPHA, USUAL_RARE = 0.6, 0.2
# Data sets are drawn until the standard errors of both ends are below this share of the width, or there are this many
# data sets or, after the minimum number of data sets, this many answers.
PRECISION, FEWEST_DRAWN, MOST_DRAWN, ANSWERS_DRAWN = 0.03, 20, 400, 2_000_000
# Search ranges of the spread and the middle of the logits, and the number of steps.
MOST_SPREAD, MOST_LOGIT, BISECTIONS = 20.0, 100.0, 30
NODES, WEIGHTS = hermegauss(60)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
TOO_FEW = "There are too few questions for an interval of agreement."


@dataclass(frozen=True)
class ExpectedInterval:
    """The expected interval, both ends None exactly when `reason` says why."""

    low: float | None
    high: float | None
    reason: str | None = None

    @property
    def width(self) -> float | None:
        return None if self.low is None or self.high is None else self.high - self.low


@lru_cache(maxsize=256)
def expected_share(
    people: int,
    each: int,
    answers: int = 1,
    *,
    share: float = USUAL_SHARE,
    icc: float = USUAL_ICC,
    icc_of_questions: float = USUAL_ICC_OF_QUESTIONS,
    per_instance: int = 1,
    seed: int = 7,
) -> ExpectedInterval:
    """Return the expected interval of a human score for other people and other questions.

    people: number of people. each: number of questions per person. answers: number of people per question. All at least
    1. share: expected share right, between 0 and 1. icc: intraclass correlation of answers by person; icc_of_questions:
    by question. Each 0 to 1, their sum under 1. per_instance: number of questions about each instance; their answers
    correlate like those to one question.

    The result is the mean of the intervals of 20 to 400 data sets, each made by `analytics.people.score_of`. A formula
    with the expected design effect is not accurate enough: with three people who differ little, the estimated effect is
    usually smaller, and the interval is up to a sixth narrower.

    Undefined for one person. Raises ValueError for numbers outside these ranges. People have an ability and questions a
    difficulty, both normal on the logit scale, as in `benchmarks/coverage.py`.
    """
    if min(people, each, answers, per_instance) < 1 or min(icc, icc_of_questions) < 0 or icc + icc_of_questions >= 1:
        raise ValueError(
            f"people, each, answers and per_instance must be at least 1: they are {people}, {each}, {answers} and "
            f"{per_instance}. icc and icc_of_questions must be at least 0, with a sum below 1: they are {icc} and "
            f"{icc_of_questions}."
        )
    if not 0 < share < 1:
        raise ValueError(f"share must lie between 0 and 1. It is {share}.")
    if people < 2:
        return ExpectedInterval(None, None, ONE_PERSON)
    ends = []
    for given in _draw_answers(people, each, answers, per_instance, (share, icc, icc_of_questions), seed):
        found = score_of(given)
        if found.low is None or found.high is None:
            return ExpectedInterval(None, None, found.reason)
        ends.append((found.low, found.high))
        if len(ends) >= FEWEST_DRAWN and (_is_precise(ends) or len(ends) * people * each >= ANSWERS_DRAWN):
            break
    low, high = np.mean(ends, axis=0).tolist()
    return ExpectedInterval(low, high)


def approximate_width(people: int, each: int, answers: int = 1, *, per_instance: int = 1) -> float:
    """Approximate the width of `expected_share` with its default assumptions by a formula; people: at least 2.

    It is within a tenth of the simulated width from 20 people on, and up to a quarter too narrow for five.
    """
    n = people * each
    questions = max(1, round(n / answers / per_instance))
    alone = 1 - USUAL_ICC - USUAL_ICC_OF_QUESTIONS
    spread = USUAL_ICC / people + USUAL_ICC_OF_QUESTIONS / questions + alone / n
    return 2 * t_quantile(0.95, people - 1) * sqrt(USUAL_SHARE * (1 - USUAL_SHARE) * spread)


def _is_precise(ends: Sequence[tuple[float, float]]) -> bool:
    errors = np.std(ends, axis=0, ddof=1) / sqrt(len(ends))
    return float(errors.max()) <= PRECISION * float(np.mean(np.diff(ends)))


def _draw_answers(
    people: int, each: int, answers: int, per_instance: int, chances: tuple[float, float, float], seed: int
) -> Iterator[Answers]:
    """Yield data sets in which each question goes to the next people in turn.

    chances: the share right, and the correlations of answers of one person and about one instance.
    """
    share, *correlations = chances
    ability, difficulty = _spreads_of(share, *correlations)
    middle = _middle(share, hypot(ability, difficulty))
    rng, n = np.random.default_rng(seed), people * each
    questions = max(each, round(n / answers))
    person, question = np.repeat(np.arange(people), each), np.arange(n) % questions
    instance = question // per_instance
    instances = int(instance.max()) + 1
    for _ in range(MOST_DRAWN):
        logits = middle + (ability * rng.normal(size=people))[person]
        logits += (difficulty * rng.normal(size=instances))[instance]
        right = (rng.random(n) < _chance(logits)).astype(np.float64)
        yield Answers(right, person, question, instance, people, questions, instances)


def _chance(logits: Floats) -> Floats:
    return np.asarray(1 / (1 + np.exp(-logits)))


@lru_cache(maxsize=256)
def _spreads_of(share: float, icc: float, icc_of_questions: float) -> tuple[float, float]:
    """Return the standard deviations of abilities and difficulties, as logits, for these correlations of answers.

    If no spread up to `MOST_SPREAD` gives such high correlations, `MOST_SPREAD` is used.
    """

    def part_of_people(spread: float) -> float:
        def is_small(part: float) -> bool:
            of_people, of_questions = _correlations(share, spread, part)
            return of_people * icc_of_questions < of_questions * icc

        return _last(is_small, 1.0) if icc and icc_of_questions else float(icc > 0)

    def is_small(spread: float) -> bool:
        return sum(_correlations(share, spread, part_of_people(spread))) < icc + icc_of_questions

    spread = _last(is_small, MOST_SPREAD)
    part = part_of_people(spread)
    return spread * sqrt(part), spread * sqrt(1 - part)


def _correlations(share: float, spread: float, part: float) -> tuple[float, float]:
    """Return the correlation of two answers of one person, and of two answers to one question.

    spread: standard deviation of the logits. part: the share of their variance that is due to people.
    """
    ability, difficulty = spread * sqrt(part) * NODES, spread * sqrt(1 - part) * NODES
    chances = _chance(_middle(share, spread) + ability[:, None] + difficulty)
    variances = (float(WEIGHTS @ means**2) - share**2 for means in (chances @ WEIGHTS, WEIGHTS @ chances))
    of_people, of_questions = (variance / (share * (1 - share)) for variance in variances)
    return of_people, of_questions


@lru_cache(maxsize=256)
def _middle(share: float, spread: float) -> float:
    """Return the mean of normally distributed logits whose probabilities have the mean `share`."""
    return _last(lambda middle: float(WEIGHTS @ _chance(middle + spread * NODES)) < share, MOST_LOGIT, -MOST_LOGIT)


def _last(holds: Callable[[float], bool], high: float, low: float = 0.0) -> float:
    """Return the largest value for which a monotone condition holds; it holds at `low`."""
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if holds(middle) else (low, middle)
    return low


def expected_alpha(
    questions: int, answers: int, *, alpha: float = USUAL_ALPHA, rare: float = USUAL_RARE, seed: int = 7
) -> ExpectedInterval:
    """Return the expected interval of Krippendorff's alpha over questions, with two labels.

    questions: number of questions. answers: number of people per question. alpha: the agreement, 0 to 1. rare: the
    share of the rarer label, above 0 and at most a half. The interval is that of a table with the expected number of
    questions of each pattern, if people agree on the share `alpha` of questions and answer the others by chance.

    Undefined below two answers, if the table has only one label, and if the interval would be unreliable. Raises
    ValueError for numbers outside these ranges.
    """
    if questions < 1 or not 0 <= alpha <= 1 or not 0 < rare <= 1 / 2:
        raise ValueError(
            f"questions must be at least 1, alpha from 0 to 1, and rare above 0 and at most 0.5. They are {questions}, "
            f"{alpha} and {rare}."
        )
    if answers < 2:
        return ExpectedInterval(None, None, "Agreement needs two answers to a question.")
    ratings = _typical(questions, answers, alpha, rare)
    found = agreement_over_units(KrippendorffAlpha(), ratings, rng=np.random.default_rng(seed), method="BCa")
    if found.warning:
        return ExpectedInterval(None, None, found.warning)
    return ExpectedInterval(found.low, found.high, found.reason and TOO_FEW)


def _typical(questions: int, answers: int, alpha: float, rare: float) -> CodedRatings:
    """Return questions x answers with the expected number of each pattern of labels."""
    shares = (1 - rare, rare)
    patterns = list(combinations_with_replacement(range(2), answers))
    wanted = []
    for pattern in patterns:
        times = factorial(answers) / prod(factorial(pattern.count(label)) for label in range(2))
        by_chance = times * prod(shares[label] for label in pattern)
        agreed = shares[pattern[0]] if len(set(pattern)) == 1 else 0.0
        wanted.append(questions * (alpha * agreed + (1 - alpha) * by_chance))
    counts = np.floor(wanted).astype(np.int64)
    # The largest remainders get the questions left by rounding down.
    missing = np.argsort(counts - np.array(wanted), kind="stable")[: questions - int(counts.sum())]
    counts[missing] += 1
    return CodedRatings(np.repeat(np.array(patterns, dtype=np.int32), counts, axis=0), (0, 1), None, ordered=True)
