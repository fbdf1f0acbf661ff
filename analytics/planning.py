"""How wide the intervals of a study will be, before it is launched: by the code that makes them afterwards. Pure."""

from dataclasses import dataclass
from itertools import combinations_with_replacement
from math import factorial, prod

import numpy as np

from analytics.bootstrap import Interval, agreement_over_units
from analytics.coefficients import KrippendorffAlpha
from analytics.people import ONE_PERSON, share_interval
from analytics.ratings import Coded

# What is taken for granted where nobody knows better: nine of ten answers right, people whose shares have a standard
# deviation of .07 (the root of .05 x .9 x .1), questions with one of .09.
USUAL_SHARE, USUAL_ICC, USUAL_ICC_OF_QUESTIONS = 0.9, 0.05, 0.1
# Two labels, one of them a fifth of the answers, and agreement that is called moderate to good.
USUAL_ALPHA, USUAL_RARE = 0.6, 0.2
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


def expected_share(
    people: int,
    each: int,
    answers: int = 1,
    *,
    share: float = USUAL_SHARE,
    icc: float = USUAL_ICC,
    icc_of_questions: float = USUAL_ICC_OF_QUESTIONS,
) -> Expected:
    """Return the interval of a human score to expect for other people and other questions.

    people: how many will answer; each: how many questions each; answers: how many people answer the same question,
    each at least 1. share: how often they are right. icc: how much more alike two answers of one person are than two of
    two people, icc_of_questions: the same of answers to one question; 0 to 1, together at most 1.

    Undefined for one person. Raises ValueError for numbers outside these.
    The design effect is 1 + (each - 1) icc + (answers - 1) icc_of_questions, the variance of a two-way mean over that
    of independent answers; the interval is `analytics.people.share_interval`.

    Example: 20 people with 25 questions of their own and no icc: 450 of 500 right, 0.868 to 0.926 with 19 degrees.
    """
    if min(people, each, answers) < 1 or min(icc, icc_of_questions) < 0 or icc + icc_of_questions > 1:
        raise ValueError(f"Not {people} people with {each} questions, {answers} answers each, and such correlations.")
    if people < 2:
        return Expected(None, None, ONE_PERSON)
    effect = 1 + (each - 1) * icc + (answers - 1) * icc_of_questions
    return Expected(*share_interval(share, people * each, effect, people - 1))


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
