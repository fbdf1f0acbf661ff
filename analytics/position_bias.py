"""Position bias: whether people choose by position instead of by content.

Options are shown in random order, so without bias every place is chosen equally often, whatever is right. Places are
counted from 0. The caller leaves out answers without a position ("none", "both"), or counts them separately.
"""

from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from math import prod, sqrt
from typing import Literal

import numpy as np
from numpy.typing import NDArray

NO_CHOICE, NOBODY = "Nobody had more than one place to choose.", "Nobody has chosen a place."
# A smaller p is a position bias.
LEVEL = 0.05
# Smallest expected count for Pearson's approximation (Cochran 1954).
LEAST_EXPECTED = 5
# Number of Monte Carlo draws below that, and their seed: the same answers give the same p.
DRAWS, SEED = 9_999, 7
ROUNDING = 1e-9
Whole = Sequence[int] | NDArray[np.int64]
Method = Literal["chi-squared", "drawn"]
CHI_SQUARED: Method = "chi-squared"
DRAWN: Method = "drawn"


@dataclass(frozen=True)
class PositionBias:
    """Chi-squared test of the chosen positions against equal chances, with the size of the bias.

    counts, expected: per place. n: answers. effect: Cohen's w, 0 for none; .1 is small, .3 medium, .5 large.
    least_expected: the smallest expected count. p: from the chi-squared distribution; where an expected count is under
    5, which that is too rough for, from draws of places with equal chances, as `method` says ("chi-squared", "drawn").
    chi_squared, degrees, p and effect are None exactly when `reason` says why. smallest_p: the p if all answers had
    been at one place.
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
    smallest_p: float = 1.0

    @property
    def too_few(self) -> str | None:
        """Why these answers cannot show a bias: even all of them at one place are likely by chance; else None.

        That takes 6 answers for two places, 4 for four and 3 for ten.
        """
        if self.smallest_p < LEVEL:
            return None
        answers = "1 answer is" if self.n == 1 else f"{self.n} answers are"
        return f"{answers} too few to tell: even all at one position give p = {self.smallest_p:.2f}."


@dataclass(frozen=True)
class OwnPositions:
    """Whether annotators have preferred positions, each possibly a different one.

    by_annotator: the test of each one alone, in order of appearance. chi_squared, degrees: the sums over annotators; p:
    the p-value of that sum, if every position is equally likely for everybody. They are None exactly when `reason` says
    why.
    """

    by_annotator: dict[Hashable, PositionBias]
    chi_squared: float | None
    degrees: int | None
    p: float | None
    reason: str | None = None
    method: Method = CHI_SQUARED


def position_bias(chosen: Whole, shown: Whole | int) -> PositionBias:
    """Test whether some positions are chosen more often than others.

    chosen: the place of each answer, from 0. shown: how many places there were, for all answers or for each. Answers
    with different numbers of places are tested separately, and their chi-squared and degrees of freedom are added. It
    assumes independent answers: individual habits make it reject too often, and habits for different places cancel out.
    `own_positions` tests those.

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
    # All n answers are at one of k places with the probability k (1 / k)^n.
    smallest_p = prod(float(size) ** (1 - answers) for answers, size in groups)
    return PositionBias(*found, float(least), chi_squared, degrees, p, effect, None, method, smallest_p)


def own_positions(chosen: Whole, shown: Whole | int, annotators: Sequence[Hashable]) -> OwnPositions:
    """Test whether annotators have individual position habits: the sum of one chi-squared per annotator.

    chosen, shown and errors as for `position_bias`; annotators: the annotator of each answer, of the same length.

    Example: four people each chose a different one of four places ten times. Together every place is chosen equally
    often (p = 1), but each person's chi-squared is 30, and 120 with 12 degrees of freedom is not chance.
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
    """Return the position of each answer and the number of its positions."""
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
    """Return the p-value of a chi-squared, and the method.

    groups: numbers of answers by number of places, tested separately. least: the smallest expected count.
    """
    if least >= LEAST_EXPECTED:
        # Imported here: it takes longer than all other imports of a page.
        from scipy.special import chdtrc

        return float(chdtrc(degrees, chi_squared)), CHI_SQUARED
    rng, drawn = np.random.default_rng(SEED), np.zeros(DRAWS)
    for (answers, size), times in Counter(groups).items():
        for _ in range(times):
            counts = rng.multinomial(answers, np.full(size, 1 / size), size=DRAWS)
            drawn += ((counts - answers / size) ** 2).sum(axis=1) / (answers / size)
    # The observed value is one of the draws, and equal sums may differ in their last digits.
    return float((1 + (drawn >= chi_squared - ROUNDING).sum()) / (1 + DRAWS)), DRAWN
