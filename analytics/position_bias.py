"""Whether people choose by place instead of by content.

Options are shown in random order, so without bias every place is chosen equally often, whatever is right.
Places are counted from 0. Answers that choose no place ("none", "both") are left to the caller or counted apart.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

ORIGINAL, BOTH = "original", "both"
NO_CHOICE, NOBODY = "Nobody had more than one place to choose.", "Nobody has chosen a place."
# Pearson's approximation is good from this smallest expected count on (Cochran 1954).
LEAST_EXPECTED = 5
# Draws of places where it is not; they start from here, so that the same answers give the same probability.
DRAWS, SEED = 9_999, 7
ROUNDING = 1e-9
Whole = Sequence[int] | NDArray[np.int64]
Method = Literal["chi-squared", "drawn"]
CHI_SQUARED: Method = "chi-squared"
DRAWN: Method = "drawn"


@dataclass(frozen=True)
class PositionBias:
    """Chi-squared test of the places chosen against equal chances, and how large the bias is.

    counts, expected: per place. n: answers. effect: Cohen's w, 0 for none; .1 is small, .3 medium, .5 large.
    least_expected: the smallest expected count. p: from the chi-squared distribution; where an expected count is under
    5, which that is too rough for, from draws of places with equal chances, as `method` says ("chi-squared", "drawn").
    chi_squared, degrees, p and effect are None exactly when `reason` says why.
    """

    counts: tuple[int, ...]
    expected: tuple[float, ...]
    n: int
    least_expected: float | None
    chi_squared: float | None
    degrees: int | None
    p: float | None
    effect: float | None
    reason: str | None = None
    method: Method = CHI_SQUARED


@dataclass(frozen=True)
class OwnPositions:
    """Whether each of several annotators has a place of their own, whatever the others' are.

    by_annotator: the test of each one alone, in order of appearance. chi_squared, degrees: the sums over annotators;
    p: the probability of a sum as large were every place equally likely to everybody. They are None exactly when
    `reason` says why.
    """

    by_annotator: dict[Hashable, PositionBias]
    chi_squared: float | None
    degrees: int | None
    p: float | None
    reason: str | None = None
    method: Method = CHI_SQUARED


@dataclass(frozen=True)
class SideBias:
    """Answers to questions with two images, by side.

    by_side: how often "original", "generated" and "both" were chosen, by the side that the original was on ("first",
    "second"). first, second: answers that chose the image on that side; both: answers that chose neither.
    share_first: share of the first side among `first + second`. p: exact two-sided probability of sides as uneven.
    The last two are None exactly when `reason` says why.
    """

    by_side: dict[str, dict[str, int]]
    first: int
    second: int
    both: int
    share_first: float | None
    p: float | None
    reason: str | None = None

    @property
    def n(self) -> int:
        return self.first + self.second + self.both


def position_bias(chosen: Whole, shown: Whole | int) -> PositionBias:
    """Test whether some places are chosen more often than others.

    chosen: the place of each answer, from 0. shown: how many places there were, for all answers or for each. Answers
    with different numbers of places are tested apart and their chi-squared and degrees of freedom added up.
    It takes answers for independent: people with habits of their own make it reject too often, and habits for different
    places cancel out. `own_positions` tests those.

    Raises ValueError for a place that was not shown, and for lists of different lengths.
    Source: Pearson 1900; effect size Cohen 1988, "Statistical power analysis for the behavioral sciences", p. 216.

    Example: places chosen 30, 20, 25, 25 times of four: chi-squared 2, 3 degrees of freedom, p = 0.572, w = 0.141.
    """
    positions, sizes = _positions(chosen, shown)
    most = int(sizes.max(initial=0))
    counts, expected = np.bincount(positions, minlength=most), np.zeros(most)
    chi_squared, degrees, least = 0.0, 0, np.inf
    groups = []
    for size in np.unique(sizes):
        observed = np.bincount(positions[sizes == size], minlength=size)
        equal = observed.sum() / size
        expected[:size] += equal
        if size > 1:
            chi_squared += float(((observed - equal) ** 2).sum() / equal)
            degrees, least = degrees + int(size) - 1, min(least, equal)
            groups.append((int(observed.sum()), int(size)))
    found = (tuple(counts.tolist()), tuple(expected.tolist()), positions.size)
    if not degrees:
        reason = NO_CHOICE if positions.size else NOBODY
        return PositionBias(*found, None, None, None, None, None, reason)
    p, method = _probability(chi_squared, degrees, groups, float(least))
    effect = sqrt(chi_squared / positions.size)
    return PositionBias(*found, float(least), chi_squared, degrees, p, effect, None, method)


def own_positions(chosen: Whole, shown: Whole | int, annotators: Sequence[Hashable]) -> OwnPositions:
    """Test whether annotators have habits of place, each their own: the sum of one chi-squared per annotator.

    chosen, shown and errors as for `position_bias`; annotators: whose answer each is, of the same length.

    Example: four people who each chose another one of four places ten times: together every place is chosen equally
    often (p = 1), yet each one's chi-squared is 30, and 120 with 12 degrees of freedom does not come by chance.
    """
    positions, sizes = _positions(chosen, shown)
    if len(annotators) != positions.size:
        raise ValueError(f"There are {positions.size} choices of {len(annotators)} annotators; each choice has one.")
    mine: dict[Hashable, list[int]] = {}
    for answer, annotator in enumerate(annotators):
        mine.setdefault(annotator, []).append(answer)
    alone = {annotator: position_bias(positions[at], sizes[at]) for annotator, at in mine.items()}
    tested = [bias for bias in alone.values() if bias.chi_squared is not None]
    if not tested:
        return OwnPositions(alone, None, None, None, NO_CHOICE if positions.size else NOBODY)
    chi_squared = sum(bias.chi_squared or 0.0 for bias in tested)
    degrees = sum(bias.degrees or 0 for bias in tested)
    groups = [(int((sizes[at] == size).sum()), int(size)) for at in mine.values() for size in np.unique(sizes[at])]
    least = min(bias.least_expected or 0.0 for bias in tested)
    p, method = _probability(chi_squared, degrees, [each for each in groups if each[1] > 1], least)
    return OwnPositions(alone, chi_squared, degrees, p, None, method)


def _positions(chosen: Whole, shown: Whole | int) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """Return the place of each answer and how many places it had."""
    positions = np.asarray(chosen, dtype=np.int64)
    sizes = np.broadcast_to(
        np.asarray(shown, dtype=np.int64), positions.shape if np.ndim(shown) == 0 else np.shape(shown)
    )
    if positions.shape != sizes.shape:
        raise ValueError(f"There are {positions.size} choices of {sizes.size} questions; each choice has one.")
    if ((positions < 0) | (positions >= sizes)).any():
        raise ValueError("A place was chosen that was not shown; places are counted from 0.")
    return positions, sizes


def _probability(
    chi_squared: float, degrees: int, groups: Sequence[tuple[int, int]], least: float
) -> tuple[float, Method]:
    """Return the probability of a chi-squared as large, and how it was found.

    groups: how many answers had how many places, tested apart. least: the smallest expected count.
    """
    if least >= LEAST_EXPECTED:
        # Here, because loading it takes longer than everything else that a page of the site loads.
        from scipy.special import chdtrc

        return float(chdtrc(degrees, chi_squared)), CHI_SQUARED
    rng, drawn = np.random.default_rng(SEED), np.zeros(DRAWS)
    for (answers, size), times in Counter(groups).items():
        for _ in range(times):
            counts = rng.multinomial(answers, np.full(size, 1 / size), size=DRAWS)
            drawn += ((counts - answers / size) ** 2).sum(axis=1) / (answers / size)
    # What was seen is one of the draws, and equal sums may differ in their last digits.
    return float((1 + (drawn >= chi_squared - ROUNDING).sum()) / (1 + DRAWS)), DRAWN


def side_bias(choices: Sequence[str], original_first: Sequence[bool]) -> SideBias:
    """Test whether one side of two images is chosen more often than the other.

    choices: "original", "generated" or "both", per answer. original_first: whether the original was on the first
    side. Raises ValueError for any other choice and for lists of different lengths.

    Example: original on the first side and chosen 8 times, on the second side and chosen 2 times: 8 to 2, p = 0.109.
    """
    if len(choices) != len(original_first):
        raise ValueError(f"There are {len(choices)} choices of {len(original_first)} questions; each choice has one.")
    counted = Counter(zip(original_first, choices, strict=True))
    known = (ORIGINAL, "generated", BOTH)
    strange = next((choice for choice in choices if choice not in known), None)
    if strange is not None:
        raise ValueError(f"{strange!r} is none of {', '.join(known)}.")
    by_side = {
        side: {choice: counted[is_first, choice] for choice in known}
        for side, is_first in (("first", True), ("second", False))
    }
    first = by_side["first"][ORIGINAL] + by_side["second"]["generated"]
    second = by_side["second"][ORIGINAL] + by_side["first"]["generated"]
    both = by_side["first"][BOTH] + by_side["second"][BOTH]
    if not first + second:
        return SideBias(by_side, 0, 0, both, None, None, "Nobody has chosen a side.")
    from scipy.special import bdtr

    p = min(1.0, 2 * float(bdtr(min(first, second), first + second, 0.5)))
    return SideBias(by_side, first, second, both, first / (first + second), p)
