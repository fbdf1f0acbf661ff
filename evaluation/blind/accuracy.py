"""Accuracy of blind baselines: programs that see only part of each question.

If texts alone reveal the right texts of a benchmark of images and texts, it does not measure vision (Gururangan et al.
2018, "Annotation artifacts in natural language inference data"; Hsieh et al. 2023, SugarCrepe, section 2). The accuracy
must be compared with guessing, so the expected share of guessing is reported beside it, and a tie counts as a guess
here. Elsewhere a tie is wrong, which would put a program that cannot decide below chance.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from analytics.people import ROUNDING, share_interval
from analytics.scores import NOTHING
from evaluation.blind.cases import Case, groups_of

# Smaller differences between scores are rounding errors.
SAME = 1e-9
ONE_GROUP = "All questions are connected by shared texts or images, so there is no interval for other questions."


@dataclass(frozen=True)
class BlindAccuracy:
    """Accuracy of a blind baseline, with that of guessing.

    share: 0 to 1, a tie counted as a guess among the tied options; None only if there is no question. low, high: 95 %
    interval for other questions like these; None exactly if `reason` says why. chance: the expected share of guessing.
    n: questions. groups: of questions with something in common, which are resampled together.
    """

    share: float | None
    low: float | None
    high: float | None
    chance: float | None
    n: int
    groups: int
    reason: str | None = None


def accuracy_of(scored: Sequence[tuple[Case, Mapping[str, float]]]) -> BlindAccuracy:
    """Return `blind_accuracy` of cases, given the scores of their options by key, grouped by what they share."""
    cases = [case for case, _ in scored]
    return blind_accuracy(
        [[scores[key] for key in case.options] for case, scores in scored],
        [list(case.options).index(case.right) for case in cases],
        groups_of(cases),
    )


def blind_accuracy(
    scores: Sequence[Sequence[float]], right: Sequence[int], groups: Sequence[Hashable]
) -> BlindAccuracy:
    """Return how often the right option of a question has the highest score, with its interval and chance.

    scores: one list per question with a score for each option, at least 2; higher is better. Questions may differ in
    the number of options. The caller leaves out unscored questions and reports how many. right: the index of the right
    option. groups: labels of questions that belong together, such as those about one instance, because their outcomes
    are not independent. All have the same length. Raises ValueError for different lengths, a score that is not finite,
    fewer than 2 options, and an invalid index.

    A question counts 1 if the right option alone is highest, 1/k if it ties with k - 1 others, 0 otherwise. The
    interval is that of a share whose design effect is the ratio of the variance between groups (of a ratio estimate:
    Cochran 1977, "Sampling techniques", section 11.8) to that of single answers, at least 1 (`analytics.people`; Korn
    and Graubard 1998). If the groups do not differ, each counts as a single answer.

    Example: [[2, 1], [1, 2], [1, 1]] with the first option right each time is (1 + 0 + 0.5) / 3 = 0.5, by chance 0.5.
    """
    if not len(scores) == len(right) == len(groups):
        raise ValueError(f"{len(scores)} questions have {len(right)} right options and {len(groups)} groups.")
    if not scores:
        return BlindAccuracy(None, None, None, None, 0, 0, NOTHING)
    credits = np.array([_credit(each, index) for each, index in zip(scores, right, strict=True)])
    chance = float(np.mean([1 / len(each) for each in scores]))
    place = {group: number for number, group in enumerate(dict.fromkeys(groups))}
    share, n = float(credits.mean()), len(credits)
    if len(place) < 2:
        return BlindAccuracy(share, None, None, chance, n, len(place), ONE_GROUP)
    member = np.array([place[group] for group in groups], dtype=np.intp)
    low, high = share_interval(share, n, _design_effect(credits, member, len(place)), len(place) - 1)
    return BlindAccuracy(share, low, high, chance, n, len(place))


def _credit(scores: Sequence[float], right: int) -> float:
    numbers = np.asarray(scores, dtype=np.float64)
    if numbers.size < 2 or not np.isfinite(numbers).all() or not 0 <= right < numbers.size:
        raise ValueError(
            f"A question needs two or more finite scores and the index of its right option, not {list(scores)} and "
            f"{right}."
        )
    highest = numbers > numbers.max() - SAME
    return 1 / int(highest.sum()) if highest[right] else 0.0


def _design_effect(credits: NDArray[np.float64], member: NDArray[np.intp], groups: int) -> float:
    share, n = float(credits.mean()), credits.size
    apart = np.bincount(member, weights=credits - share, minlength=groups)
    variance = groups / (groups - 1) * float((apart**2).sum()) / n**2
    single = share * (1 - share)
    if variance < ROUNDING or single < ROUNDING:
        return n / groups
    return max(1.0, variance * n / single)
