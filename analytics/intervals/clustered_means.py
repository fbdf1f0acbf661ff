"""Mean of all answers, with an interval that accounts for people and instances.

Every answer counts once, as in a frequency table; in `analytics.people` every person counts once. Answers of one person
are correlated, and so are answers about one instance. The interval is for other people and other instances, computed
like that of a human score (`analytics.people.share_interval`) on a scale from 0 to 1.
"""

from collections.abc import Hashable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from analytics.people import LEVEL, ONE_INSTANCE, Answers, Spread, answers_of, evidence_of, share_interval, spread
from analytics.ratings import Floats
from analytics.scores import NOTHING

SHARES = (0.0, 1.0)


@dataclass(frozen=True)
class ClusteredMean:
    """A mean of answers, with its interval.

    value: within the bounds, None exactly when there is no answer. low, high: None exactly when `reason` says why. sd:
    the sample's standard deviation (n - 1) in the unit of the values, None below two answers.
    """

    value: float | None
    low: float | None
    high: float | None
    sd: float | None
    n_people: int
    n_instances: int
    n_answers: int
    reason: str | None = None


def clustered_mean(
    values: ArrayLike,
    people: Sequence[Hashable] | None,
    instances: Sequence[Hashable],
    *,
    bounds: tuple[float, float] = SHARES,
    level: float = LEVEL,
) -> ClusteredMean:
    """Return the mean of the answers with its interval for other people and instances.

    values: one number per answer, within `bounds`: 1 or 0 for whether an answer is a label, or a step of a scale.
    people, instances: whose answer it is and what it is about, of the same length. Without people, all answers are from
    one answerer (a model, or the majority), and the interval is for other instances only.

    The interval is that of a share of the effective number of independent answers. Undefined without answers, for one
    person and for one instance. Raises ValueError for different lengths, nan, values outside the bounds, and a level
    outside 0 to 1. Source: as `analytics.people.score_of_people`; variance over instances as in Liang and Zeger 1986,
    "Longitudinal data analysis using generalized linear models", Biometrika 73.

    Example: ann says 1 about two instances and ben 1 and 0: the mean is 0.75.
    """
    numbers = np.asarray(values, dtype=np.float64)
    who = [None] * numbers.size if people is None else people
    given = answers_of(numbers, who, range(numbers.size), instances)
    return mean_of(given, bounds=bounds, level=level, by_person=people is not None)


def mean_of(
    given: Answers, *, bounds: tuple[float, float] = SHARES, level: float = LEVEL, by_person: bool = True
) -> ClusteredMean:
    """Return `clustered_mean` of numbered answers."""
    counts = (given.n_people, given.n_instances, given.values.size)
    if not given.values.size:
        return ClusteredMean(None, None, None, None, *counts, NOTHING)
    if given.values.min() < bounds[0] or given.values.max() > bounds[1]:
        raise ValueError(f"An answer is outside {bounds[0]:g} to {bounds[1]:g}.")
    value = float(given.values.mean())
    sd = float(given.values.std(ddof=1)) if given.values.size > 1 else None
    answers = given.values.size
    found = spread(given, np.full(answers, 1 / answers)) if by_person else _over_instances(given)
    if found.variance is None or found.degrees is None:
        return ClusteredMean(value, None, None, sd, *counts, found.reason)
    width = bounds[1] - bounds[0]
    share = min(1.0, max(0.0, (value - bounds[0]) / width))
    alone = float(given.values.var()) / width**2
    told = evidence_of(share, Spread(found.variance / width**2, found.degrees), alone, given.values.size)
    low, high = share_interval(share, told.most, told.design_effect, told.degrees, level=level)
    return ClusteredMean(value, bounds[0] + width * low, bounds[0] + width * high, sd, *counts)


def _over_instances(given: Answers) -> Spread:
    instances = given.n_instances
    if instances < 2:
        return Spread(None, None, ONE_INSTANCE)
    apart: Floats = given.values - given.values.mean()
    sums = np.bincount(given.instance, weights=apart, minlength=instances) / given.values.size
    return Spread(float((sums**2).sum()) * instances / (instances - 1), instances - 1.0)
