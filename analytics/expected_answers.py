"""What a careful person answers, judged by the answers of others, and whether somebody answers otherwise."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

# Nobody agrees with others always, not even where all answers so far are equal.
MOST_AGREEMENT = 0.98
# An answer of agreement is counted in sixtieths, exact for up to six other answers.
UNITS = 60
# Steps of halving to find the limits of an interval.
STEPS = 8
INTERVAL = 0.95
# From disagreeing, as far as two options allow, to agreeing as others do.
LEAST_SKILL, MOST_SKILL = -1.0, 1.0


@dataclass(frozen=True)
class ComparedAnswer:
    """An answer beside those of others to the same question.

    others: label -> how many other people chose it. options: how many labels could be chosen. agreement: how often two
    people agree about such questions. fixed: the labels that keep their place.
    """

    label: str
    others: Mapping[str, int]
    options: int
    agreement: float
    fixed: frozenset[str] = frozenset()


@dataclass(frozen=True)
class AgreementTest:
    """How often somebody agrees with others. All but `answers` are shares from 0 to 1.

    agreed: the mean share of others with the same answer. low, high: its 95 % interval. expected: of a person who
    answers as others do. by_chance: of a person who chooses at random. p: the probability of so little agreement, if
    the person's agreement above chance is `skill` times that of others.
    """

    answers: int
    agreed: float
    low: float
    high: float
    expected: float
    by_chance: float
    p: float


def label_chance(label: str, others: Mapping[str, int], *, options: int, agreement: float) -> float:
    """Return the probability that a careful person chooses `label`, given the answers of others.

    The shares of others, drawn towards equal shares as far as people disagree: the Dirichlet-multinomial distribution
    under which two people agree as often as `agreement`. If they agree no more often than by chance, every label is
    equally likely.

    Example: two options, agreement .75, one other answer "yes": "yes" .75, "no" .25.
    """
    even = 1 / max(options, 1)
    agreement = min(agreement, MOST_AGREEMENT)
    if options < 2 or agreement <= even:
        return even
    weight = (1 - agreement) / (agreement - even)
    return (others.get(label, 0) + weight * even) / (sum(others.values()) + weight)


def is_comparable(answer: ComparedAnswer) -> bool:
    """Whether agreement says anything about the answer: others answered, and agree more often than by chance."""
    return bool(answer.others) and answer.options > 1 and answer.agreement > 1 / answer.options


def low_agreement_p(answers: Sequence[ComparedAnswer], *, skill: float) -> float:
    """Return the probability of so little agreement, or less, if the person's agreement above chance is `skill` times
    that of others: 1 is as others, 0 is choosing at random.

    Exact, given the answers of others: the sum of one distribution per question. All answers `is_comparable`. More
    agreement than expected is no sign: then it is 1.
    """
    agreed = sum(shared_units(each) for each in answers)
    return 1.0 if agreed >= UNITS * len(answers) * _mean(answers, skill) else _tails(answers, skill)[0]


def agreement_test(answers: Sequence[ComparedAnswer], *, skill: float) -> AgreementTest:
    """Return the agreement of `answers`, all of which `is_comparable`, with its interval and the p of `skill`."""
    n = len(answers)
    expected, chance = _mean(answers, 1.0), _mean(answers, 0.0)
    side = (1 - INTERVAL) / 2

    def limit(place: int, *, from_skill: float, to_skill: float) -> float:
        inside, outside = from_skill, to_skill
        for _ in range(STEPS):
            middle = (inside + outside) / 2
            inside, outside = (middle, outside) if _tails(answers, middle)[place] >= side else (inside, middle)
        return chance + inside * (expected - chance)

    agreed = sum(shared_units(each) for each in answers) / (UNITS * n)
    # A skill below 0 is worse than chance, down to disagreeing with everybody.
    found = min(max((agreed - chance) / (expected - chance), LEAST_SKILL), MOST_SKILL)
    return AgreementTest(
        answers=n,
        agreed=agreed,
        # Nobody agrees less than never, even if they disagree as far as two options allow.
        low=max(min(agreed, limit(1, from_skill=found, to_skill=LEAST_SKILL)), 0.0),
        high=max(agreed, limit(0, from_skill=found, to_skill=MOST_SKILL)),
        expected=expected,
        by_chance=chance,
        p=low_agreement_p(answers, skill=skill),
    )


def shared_units(answer: ComparedAnswer, label: str = "") -> int:
    """Return the share of others who chose `label`, by default the same as the person, in units."""
    return round(UNITS * answer.others.get(label or answer.label, 0) / sum(answer.others.values()))


def _chances(answer: ComparedAnswer, skill: float) -> list[tuple[int, float]]:
    """Return the possible shares of agreement over 0, in units, with their probabilities."""
    even = 1 / answer.options
    found: list[tuple[int, float]] = []
    for label in answer.others:
        like_others = label_chance(label, answer.others, options=answer.options, agreement=answer.agreement)
        # Worse than chance: what others choose is left out more often than at random.
        chance = even + skill * (like_others - even)
        found.append((shared_units(answer, label), min(max(chance, 0.0), 1.0)))
    return found


def _mean(answers: Sequence[ComparedAnswer], skill: float) -> float:
    sums = (units * chance for each in answers for units, chance in _chances(each, skill))
    return sum(sums) / (UNITS * len(answers))


def _tails(answers: Sequence[ComparedAnswer], skill: float) -> tuple[float, float]:
    return agreement_tails([_chances(each, skill) for each in answers], sum(shared_units(each) for each in answers))


def agreement_tails(chances: Sequence[Sequence[tuple[int, float]]], observed: int) -> tuple[float, float]:
    """Return the probabilities of at most, and of at least, an agreement of `observed` units in all.

    chances: for each question the possible shares of agreement, in units, with their probabilities; else it is 0.
    """
    sums: NDArray[np.float64] = np.ones(1)
    for each in chances:
        so_far, sums = sums, np.zeros(sums.size + UNITS)
        for units, chance in each:
            sums[units : units + so_far.size] += so_far * chance
        sums[: so_far.size] += so_far * max(1 - sum(chance for _, chance in each), 0.0)
    return min(float(sums[: observed + 1].sum()), 1.0), min(float(sums[observed:].sum()), 1.0)
