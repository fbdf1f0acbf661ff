"""How wide the intervals of a study will be, before it is launched: by the code that makes them afterwards. Pure."""

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache
from itertools import combinations_with_replacement
from math import factorial, hypot, prod

import numpy as np
from numpy.polynomial.hermite_e import hermegauss

from analytics.bootstrap import Interval, agreement_over_units
from analytics.coefficients import KrippendorffAlpha
from analytics.people import ONE_PERSON, Answers, score_of
from analytics.ratings import Coded, Floats

# What is taken for granted where nobody knows better: nine of ten answers right, people whose shares have a standard
# deviation of .07 (the root of .05 x .9 x .1), questions with one of .09.
USUAL_SHARE, USUAL_ICC, USUAL_ICC_OF_QUESTIONS = 0.9, 0.05, 0.1
# Two labels, one of them a fifth of the answers, and agreement that is called moderate to good.
USUAL_ALPHA, USUAL_RARE = 0.6, 0.2
# Data sets are drawn until they hold so many answers, within these numbers of data sets.
ANSWERS_DRAWN, FEWEST_DRAWN, MOST_DRAWN = 100_000, 20, 400
# Where a spread and a middle of logits are looked for, and in how many steps.
MOST_SPREAD, MOST_LOGIT, BISECTIONS = 20.0, 100.0, 40
NODES, WEIGHTS = hermegauss(60)
WEIGHTS = WEIGHTS / WEIGHTS.sum()
TOO_FEW = "So few questions will tell nothing of agreement."


@dataclass(frozen=True)
class Expected:
    """The interval to expect, both ends None exactly when `reason` says why."""

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
) -> Expected:
    """Return the interval of a human score to expect for other people and other questions.

    people: how many will answer; each: how many questions each; answers: how many people answer the same question,
    each at least 1. share: how often they are right. icc: how much more alike two answers of one person are than two of
    two people, icc_of_questions: the same of answers to one question; 0 to 1, together under 1. per_instance: how many
    questions there are about each instance, which are then as alike as answers to one question.

    It is the mean of the intervals of 20 to 400 data sets that are drawn so, each made by
    `analytics.people.score_of`. A formula with the expected design effect will not do: of three people who differ
    little, the estimated effect is mostly smaller, and the interval is up to a sixth narrower.

    Undefined for one person. Raises ValueError for numbers outside these.
    People have an ability and questions a difficulty, both normal on the logit scale, as in `benchmarks/coverage.py`.
    """
    if min(people, each, answers, per_instance) < 1 or min(icc, icc_of_questions) < 0 or icc + icc_of_questions >= 1:
        raise ValueError(f"Not {people} people with {each} questions, {answers} answers each, and such correlations.")
    if people < 2:
        return Expected(None, None, ONE_PERSON)
    found = [
        score_of(given) for given in _drawn(people, each, answers, per_instance, (share, icc, icc_of_questions), seed)
    ]
    if found[0].low is None:
        return Expected(None, None, found[0].reason)
    low, high = (float(np.mean([getattr(one, end) for one in found])) for end in ("low", "high"))
    return Expected(low, high)


def _drawn(
    people: int, each: int, answers: int, per_instance: int, chances: tuple[float, float, float], seed: int
) -> Iterator[Answers]:
    """Yield data sets in which every question goes round to the next people.

    chances: the share right, and the correlations of answers of one person and about one instance.
    """
    share, *correlations = chances
    ability, difficulty = (_spread_of(share, correlation) for correlation in correlations)
    middle = _middle(share, hypot(ability, difficulty))
    rng, n = np.random.default_rng(seed), people * each
    questions = max(each, round(n / answers))
    person, question = np.repeat(np.arange(people), each), np.arange(n) % questions
    instance = question // per_instance
    instances = int(instance.max()) + 1
    for _ in range(min(MOST_DRAWN, max(FEWEST_DRAWN, ANSWERS_DRAWN // n))):
        logits = middle + (ability * rng.normal(size=people))[person]
        logits += (difficulty * rng.normal(size=instances))[instance]
        right = (rng.random(n) < _chance(logits)).astype(np.float64)
        yield Answers(right, person, question, instance, people, questions, instances)


def _chance(logits: Floats) -> Floats:
    found: Floats = 1 / (1 + np.exp(-logits))
    return found


@lru_cache(maxsize=256)
def _spread_of(share: float, correlation: float) -> float:
    """Return the standard deviation of logits with which chances have the mean `share` and answers correlate so."""
    low, high = 0.0, MOST_SPREAD
    for _ in range(BISECTIONS):
        spread = (low + high) / 2
        chances = _chance(_middle(share, spread) + spread * NODES)
        variance = float(WEIGHTS @ (chances - share) ** 2)
        low, high = (spread, high) if variance < correlation * share * (1 - share) else (low, spread)
    return low


def _middle(share: float, spread: float) -> float:
    """Return the mean of normal logits whose chances have the mean `share`."""
    low, high = -MOST_LOGIT, MOST_LOGIT
    for _ in range(BISECTIONS):
        middle = (low + high) / 2
        low, high = (middle, high) if float(WEIGHTS @ _chance(middle + spread * NODES)) < share else (low, middle)
    return low


def expected_alpha(
    questions: int, answers: int, *, alpha: float = USUAL_ALPHA, rare: float = USUAL_RARE, seed: int = 7
) -> Expected:
    """Return the interval of Krippendorff's alpha over questions to expect, with two labels.

    questions: how many; answers: how many people answer each. alpha: the agreement, 0 to 1; rare: the share of the
    rarer label, above 0 and at most a half. It is that of a table with as many questions of each kind as there will be
    on average, when people agree on the share `alpha` of questions and answer the others by chance.

    Undefined below two answers, and where the table would have one label only. Raises ValueError for numbers outside.
    """
    if questions < 1 or not 0 <= alpha <= 1 or not 0 < rare <= 1 / 2:
        raise ValueError(f"Not {questions} questions with an alpha of {alpha} and a label of {rare}.")
    if answers < 2:
        return Expected(None, None, "Agreement takes two answers to a question.")
    found = _interval(_typical(questions, answers, alpha, rare), seed)
    return Expected(found.low, found.high, found.reason and TOO_FEW)


def _interval(ratings: Coded, seed: int) -> Interval:
    return agreement_over_units(KrippendorffAlpha(), ratings, rng=np.random.default_rng(seed), method="BCa")


def _typical(questions: int, answers: int, alpha: float, rare: float) -> Coded:
    """Return questions x answers with each pattern of labels as often as it will come on average."""
    shares = (1 - rare, rare)
    patterns = list(combinations_with_replacement(range(2), answers))
    wanted = []
    for pattern in patterns:
        times = factorial(answers) / prod(factorial(pattern.count(label)) for label in range(2))
        by_chance = times * prod(shares[label] for label in pattern)
        agreed = shares[pattern[0]] if len(set(pattern)) == 1 else 0.0
        wanted.append(questions * (alpha * agreed + (1 - alpha) * by_chance))
    counts = np.floor(wanted).astype(np.int64)
    # Those that lack most get the questions that rounding down has left.
    missing = np.argsort(counts - np.array(wanted), kind="stable")[: questions - int(counts.sum())]
    counts[missing] += 1
    return Coded(np.repeat(np.array(patterns, dtype=np.int32), counts, axis=0), (0, 1), None, ordered=True)
