"""Whether people choose by place instead of by content.

Options are shown in random order, so without bias every place is chosen equally often, whatever is right.
Places are counted from 0. Answers that choose no place ("none", "both") are left to the caller or counted apart.
"""

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from math import sqrt

import numpy as np

from analytics.acceptance import ORIGINAL

BOTH = "both"


@dataclass(frozen=True)
class PositionBias:
    """Chi-squared test of the places chosen against equal chances, and how large the bias is.

    counts, expected: per place. n: answers. effect: Cohen's w, 0 for none; .1 is small, .3 medium, .5 large.
    least_expected: the smallest expected count; under 5 the test is too rough to rely on.
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


def position_bias(chosen: Sequence[int], shown: Sequence[int] | int) -> PositionBias:
    """Test whether some places are chosen more often than others.

    chosen: the place of each answer, from 0. shown: how many places there were, for all answers or for each. Answers
    with different numbers of places are tested apart and their chi-squared and degrees of freedom added up.

    Raises ValueError for a place that was not shown, and for lists of different lengths.
    Source: Pearson 1900; effect size Cohen 1988, "Statistical power analysis for the behavioral sciences", p. 216.

    Example: places chosen 30, 20, 25, 25 times of four: chi-squared 2, 3 degrees of freedom, p = 0.572, w = 0.141.
    """
    places = np.asarray(chosen, dtype=np.int64)
    sizes = np.broadcast_to(np.asarray(shown, dtype=np.int64), places.shape if np.ndim(shown) == 0 else np.shape(shown))
    if places.shape != sizes.shape:
        raise ValueError(f"There are {places.size} choices of {sizes.size} questions; each choice has one.")
    if ((places < 0) | (places >= sizes)).any():
        raise ValueError("A place was chosen that was not shown; places are counted from 0.")
    most = int(sizes.max(initial=0))
    counts, expected = np.bincount(places, minlength=most), np.zeros(most)
    chi_squared, degrees, least = 0.0, 0, np.inf
    for size in np.unique(sizes):
        observed = np.bincount(places[sizes == size], minlength=size)
        equal = observed.sum() / size
        expected[:size] += equal
        if size > 1:
            chi_squared += float(((observed - equal) ** 2).sum() / equal)
            degrees, least = degrees + int(size) - 1, min(least, equal)
    found = (tuple(counts.tolist()), tuple(expected.tolist()), places.size)
    if not degrees:
        reason = "Nobody had more than one place to choose." if places.size else "Nobody has chosen a place."
        return PositionBias(*found, None, None, None, None, None, reason)
    # Here, because loading it takes longer than everything else that a page of the site loads.
    from scipy.special import chdtrc

    p = float(chdtrc(degrees, chi_squared))
    return PositionBias(*found, float(least), chi_squared, degrees, p, sqrt(chi_squared / places.size))


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
