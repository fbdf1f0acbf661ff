"""People who choose an option more readily than others, such as "yes" or "none": what they answer if they are careful.

A strict person needs more to accept an image. They disagree with others often, and still follow the questions: they say
"none" least where others agree on an image. A leaning multiplies the odds of an option that keeps its place by the same
factor at each question, as the severity of a rater does in Rasch's model (Linacre 1989).
"""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analytics.expected_answers import ComparedAnswer, agreement_tails, label_chance, shared_units

# The chances come within a thousandth of the shares long before.
STEPS = 40
# Somebody never, or always, chose an option: half an answer is added to each.
SMOOTHING = 0.5
# People follow the questions if their agreement beyond their leanings is at least so many times that of others, and
# chance alone gives so much with at most this probability. So of people who choose at random, at most one in twenty is
# spared.
LEAST_FOLLOWED, LIMIT = 0.5, 0.05
# Somebody who chooses one option in at least this share of the answers, and others in at most so many, leaves too few
# for that test.
EXTREME, FEW_OTHERS = 0.8, 8


@dataclass(frozen=True)
class LeaningChances:
    """The chances of labels for somebody who chooses each option as often as they did.

    careful: label -> its chance, if they follow the question as others do. at_random: if they do not look at it. Labels
    that stand at random places and that nobody chose are left out.
    """

    careful: Mapping[str, float]
    at_random: Mapping[str, float]


def leaning_chances(answers: Sequence[ComparedAnswer]) -> list[LeaningChances]:
    """Return the chances at each question.

    `careful` are those by the answers of others, with the odds of each option that keeps its place multiplied by one
    factor, so that their mean is the person's own share (iterative proportional fitting, Deming & Stephan 1940).
    """
    found: dict[int, LeaningChances] = {}
    for fixed in {each.fixed for each in answers}:
        places = [place for place, each in enumerate(answers) if each.fixed == fixed]
        found |= dict(zip(places, _chances([answers[place] for place in places], sorted(fixed)), strict=True))
    return [found[place] for place in range(len(answers))]


def _chances(answers: Sequence[ComparedAnswer], fixed: Sequence[str]) -> list[LeaningChances]:
    """Return the chances at questions with the same options that keep their place."""
    by_others = np.array([[_by_others(each, label) for label in fixed] for each in answers])
    # The options at random places together.
    others = np.maximum(1 - by_others.sum(axis=1, keepdims=True), 0.0)
    chances = np.hstack([by_others, others])
    chosen = Counter(each.label for each in answers)
    counts = np.array([*(chosen[label] for label in fixed), sum(chosen[each] for each in chosen if each not in fixed)])
    possible = chances.sum(axis=0) > 0
    shares = np.where(possible, counts + SMOOTHING, 0.0)
    shares /= shares.sum()
    careful = _fit(chances, shares)
    found = []
    for each, row, before in zip(answers, careful, others[:, 0], strict=True):
        labels = [label for label in {*each.others, each.label} if label not in fixed]
        movable = each.options - len(fixed)
        found.append(
            LeaningChances(
                dict(zip(fixed, map(float, row), strict=False))
                | {label: float(row[-1]) * _by_others(each, label) / before for label in labels if before > 0},
                dict(zip(fixed, map(float, shares), strict=False))
                | {label: float(shares[-1]) / movable for label in labels if movable > 0},
            )
        )
    return found


def _by_others(answer: ComparedAnswer, label: str) -> float:
    return label_chance(label, answer.others, options=answer.options, agreement=answer.agreement)


def _fit(chances: NDArray[np.float64], shares: NDArray[np.float64]) -> NDArray[np.float64]:
    """Return `chances` (questions by options) with one factor for each option, so that their means are `shares`."""
    fitted = chances
    for _ in range(STEPS):
        means = fitted.mean(axis=0)
        fitted = fitted * np.divide(shares, means, out=np.ones_like(shares), where=means > 0)
        fitted = fitted / fitted.sum(axis=1, keepdims=True)
    return fitted


def follows_others(answers: Sequence[ComparedAnswer]) -> bool:
    """Whether somebody agrees with others beyond what the shares of their own answers explain.

    Two conditions: at least half of the agreement that others would have with the same leanings, and an exact test
    against answers at random with these shares. Where every option stands at a random place, nobody has a leaning.
    """
    if not any(each.fixed for each in answers):
        return False
    chances = leaning_chances(answers)
    observed = sum(shared_units(each) for each in answers)
    careful, at_random = (_agreement_chances(answers, chances, skill) for skill in (1.0, 0.0))
    most, least = (sum(units * chance for row in rows for units, chance in row) for rows in (careful, at_random))
    if observed < least + LEAST_FOLLOWED * max(most - least, 0.0):
        return False
    return agreement_tails(at_random, observed)[1] <= LIMIT


def has_extreme_leaning(answers: Sequence[ComparedAnswer]) -> bool:
    """Whether nearly all answers are one option that keeps its place, so that hardly any can agree beyond its share."""
    chosen = Counter(each.label for each in answers if each.label in each.fixed)
    most = max(chosen.values(), default=0)
    return most >= EXTREME * len(answers) and len(answers) - most <= FEW_OTHERS


def leaning_agreement_p(answers: Sequence[ComparedAnswer], chances: Sequence[LeaningChances], *, skill: float) -> float:
    """Return the probability of so little agreement, or less, if agreement beyond chance is `skill` times that of a
    careful person with the same leanings.
    """
    observed = sum(shared_units(each) for each in answers)
    return agreement_tails(_agreement_chances(answers, chances, skill), observed)[0]


def _agreement_chances(
    answers: Sequence[ComparedAnswer], chances: Sequence[LeaningChances], skill: float
) -> list[list[tuple[int, float]]]:
    """Return for each question the possible shares of agreement, in units, with their probabilities."""
    return [
        [
            (
                shared_units(each, label),
                skill * some.careful.get(label, 0.0) + (1 - skill) * some.at_random.get(label, 0.0),
            )
            for label in each.others
        ]
        for each, some in zip(answers, chances, strict=True)
    ]
