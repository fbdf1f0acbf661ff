"""Estimate people's score on all instances from their answers to some and a model's predictions for all.

The better the predictions correlate with people's answers, the shorter the interval is compared with that from the
answers alone. Wrong predictions do not bias it: their error on the instances that people answered is subtracted. These
are estimates, and every table labels them as such.

Angelopoulos, Bates, Fannjiang, Jordan and Zrnic 2023, "Prediction-powered inference", Science 382, pp. 669-674;
Angelopoulos, Duchi and Zrnic 2023, "PPI++: Efficient prediction-powered inference", arXiv:2311.01453.

The interval is the exact one (Clopper and Pearson 1934) of a share of the effective number of instances (Korn and
Graubard 1998). A normal interval fails near 0 and 1. With 44 labelled instances of which people are right on 97 %, it
covers the truth only 67 to 73 times in 100 instead of 95. One data set in four has no interval at all.
`benchmarks/coverage.py` measures it.
"""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from analytics.scores import Floats, Outcomes

LEVEL = 0.95
# The name of the estimator and its interval, which results carry. Version 1 had normal limits cut off at the bounds,
# and values outside them.
METHOD = "prediction-powered-v2"
# Pseudo-instances added to the labelled ones, for the correlation only: this many on which only people are right, and
# this many on which only the model is. They are needed because a few instances cannot show that a model never errs.
PSEUDO_INSTANCES = 0.5
# With fewer labelled instances than this, variances are unreliable.
FEW_INSTANCES = 20
SMALL = f"Fewer than {FEW_INSTANCES} instances that people answered: too few for a reliable interval."
FEW = "An estimate needs two instances that people answered; there {}."
NOT_PREDICTED = "The model predicts nothing for {!r}, which people answered."


@dataclass(frozen=True)
class PredictionPowered:
    """An estimate of a mean over instances, each counting once, with its interval.

    value, low, high: with the predictions. alone, alone_low, alone_high: from people's answers alone. weight: weight of
    the predictions, 0 to 1. n_labelled: instances that people answered; n_unlabelled: those that only the model did.
    value and alone are None without a labelled instance; the limits are None exactly when `reason` says why. warning:
    why the interval is unreliable, else "". method: name and version of the estimator.
    """

    value: float | None
    low: float | None
    high: float | None
    weight: float
    alone: float | None
    alone_low: float | None
    alone_high: float | None
    n_labelled: int
    n_unlabelled: int
    reason: str | None = None
    warning: str = ""
    method: str = METHOD


def prediction_powered_mean(
    labels: ArrayLike,
    instances: Sequence[Hashable],
    predictions: Mapping[Any, float],
    *,
    weight: float | None = None,
    level: float = LEVEL,
) -> PredictionPowered:
    """Estimate the mean of people's answers, shares from 0 to 1, over all instances.

    labels: one number per answer of a person, such as 1 for right and 0 for wrong. instances: the instance of each
    answer, of the same length. Answers to one instance are averaged first, so that each instance counts once and the
    interval is one over instances. predictions: the model's value of the same quantity, for every labelled instance and
    for others. The others must be drawn in the same way as the labelled ones; otherwise the estimate is for neither
    set. weight: lambda, from 0 (people alone) to 1 (plain prediction-powered inference); by default the one with the
    smallest variance.

    The value is y + weight (g - f), cut off at 0 and 1, with means y and f over the n labelled instances and g over the
    N further ones. Its variance is var(Y - weight F) / n + weight^2 var(F) / N, and the best weight
    cov(Y, F) / ((1 + n / N) var(F)) with var(F) over all predictions. For the limits see `_exact`. The interval is for
    other instances like these, answered by these people.

    Raises ValueError for different lengths, nan, a labelled instance without a prediction, a weight outside 0 to 1, a
    level outside 0 to 1, and a label or a prediction outside 0 to 1.
    Source: see the head of this module: PPI for the mean, PPI++ for the weight ("power tuning").

    Example: people right on 3 of 4 instances and the model on 2 of these (both right on 2 of the 3), the model on 5 of
    8 others: with weight 1 the estimate is 0.75 + (0.625 - 0.5) = 0.875.
    """
    if not 0 < level < 1 or (weight is not None and not 0 <= weight <= 1):
        raise ValueError(f"level must lie between 0 and 1, and weight from 0 to 1. They are {level} and {weight}.")
    labelled, predicted, further = _by_instance(labels, instances, predictions)
    numbers = np.concatenate([labelled, predicted, further])
    if np.isnan(numbers).any():
        raise ValueError("A label or a prediction is not a number.")
    if numbers.size and not 0 <= numbers.min() <= numbers.max() <= 1:
        raise ValueError("A label or a prediction is outside 0 to 1.")
    if weight is None:
        weight = best_weight(labelled, predicted, further)
    elif not further.size:
        weight = 0.0
    return _estimate(labelled, predicted, further, weight, level)


def _by_instance(
    labels: ArrayLike, instances: Sequence[Hashable], predictions: Mapping[Any, float]
) -> tuple[Floats, Floats, Floats]:
    """Return the mean label of each labelled instance, the predictions for these, and the predictions for others."""
    values = np.asarray(labels, dtype=np.float64)
    if values.ndim != 1 or values.size != len(instances):
        raise ValueError(f"Each label has an instance, not {values.shape} labels with {len(instances)} instances.")
    clusters: dict[Hashable, list[float]] = {}
    for value, instance in zip(values.tolist(), instances, strict=True):
        clusters.setdefault(instance, []).append(value)
    missing = next((instance for instance in clusters if instance not in predictions), None)
    if missing is not None:
        raise ValueError(NOT_PREDICTED.format(missing))
    labelled = np.array([sum(each) / len(each) for each in clusters.values()], dtype=np.float64)
    predicted = np.array([predictions[instance] for instance in clusters], dtype=np.float64)
    further = np.array([value for instance, value in predictions.items() if instance not in clusters], dtype=np.float64)
    return labelled, predicted, further


def prediction_powered_scores(
    people: Outcomes,
    instances: Sequence[Hashable],
    model: Outcomes,
    model_instances: Sequence[Hashable],
    *,
    level: float = LEVEL,
) -> dict[str, PredictionPowered]:
    """Estimate the seven scores of people (I2T, T2I, Group and the finer ones) over all instances of a model.

    people: one place per person and instance, whose four questions this person answered; instances: which it is, of the
    same length. model: one place per instance, all of `instances` among them; model_instances: which. Shares, 0 to 1.

    Raises ValueError as `prediction_powered_mean`, and when the model has answered an instance twice.
    """
    if len(people) != len(instances) or len(model) != len(model_instances):
        raise ValueError(
            f"Outcomes are one per instance, not {len(people)} for {len(instances)} and {len(model)} for "
            f"{len(model_instances)}."
        )
    if len(set(model_instances)) < len(model_instances):
        raise ValueError("The model has answered an instance twice.")
    predicted = model.columns()
    return {
        name: prediction_powered_mean(
            right,
            instances,
            dict(zip(model_instances, predicted[name].astype(float).tolist(), strict=True)),
            level=level,
        )
        for name, right in people.columns().items()
    }


def best_weight(labelled: Floats, predicted: Floats, further: Floats) -> float:
    """Return the weight of the predictions, 0 to 1, with the smallest variance (PPI++, "power tuning").

    labelled, predicted: n values each, what people say and what the model predicts; further: N other predictions. 0
    with less than two labelled instances, without further ones, and where all predictions are the same.
    """
    n, further_n = labelled.size, further.size
    spread = float(np.concatenate([predicted, further]).var(ddof=1)) if n + further_n > 1 else 0.0
    if n < 2 or not further_n or spread == 0:
        return 0.0
    together = float(((labelled - labelled.mean()) * (predicted - predicted.mean())).sum() / (n - 1))
    return min(1.0, max(0.0, together / ((1 + n / further_n) * spread)))


def _estimate(labelled: Floats, predicted: Floats, further: Floats, weight: float, level: float) -> PredictionPowered:
    counts = (labelled.size, further.size)
    if not labelled.size:
        return PredictionPowered(None, None, None, weight, None, None, None, *counts, FEW.format("is none"))
    alone = value = float(labelled.mean())
    if further.size:
        value = min(1.0, max(0.0, value + weight * float(further.mean() - predicted.mean())))
    if labelled.size < 2:
        return PredictionPowered(value, None, None, weight, alone, None, None, *counts, FEW.format("is one"))
    single = _single_instances(labelled)
    worth = single / _relative_variance(labelled, predicted, further, weight)
    limits = (*_exact(value, worth, level), weight, alone, *_exact(alone, single, level))
    return PredictionPowered(value, *limits, *counts, None, SMALL if labelled.size < FEW_INSTANCES else "")


def _single_instances(labelled: Floats) -> float:
    """Return the equivalent number of instances with one answer each.

    It exceeds the number of instances if several answers are averaged. If all labels are equal, it is that number.
    """
    share, variance = float(labelled.mean()), float(labelled.var(ddof=1))
    return labelled.size * share * (1 - share) / variance if variance > 0 else float(labelled.size)


def _relative_variance(labelled: Floats, predicted: Floats, further: Floats, weight: float) -> float:
    """Return the variance of the estimate relative to that of the mean of people's answers alone.

    It is 1 - 2 weight cov(Y, F) / var(Y) + weight^2 (1 + n / N) var(F) / var(Y). Variances and covariance are over the
    labelled instances and `PSEUDO_INSTANCES` each of (1, 0) and (0, 1).
    """
    if not weight or not further.size:
        return 1.0
    beside = np.array([1.0, 0.0])
    times = np.concatenate([np.ones(labelled.size), np.full(2, PSEUDO_INSTANCES)])
    found = np.cov(np.append(labelled, beside), np.append(predicted, 1 - beside), aweights=times, ddof=0)
    slope = float(found[0, 1] / found[0, 0])
    return 1 - 2 * weight * slope + weight**2 * (1 + labelled.size / further.size) * float(found[1, 1] / found[0, 0])


def _exact(share: float, n: float, level: float) -> tuple[float, float]:
    """Return the exact interval of a share of `n` instances; `n` need not be a whole number.

    Source: Clopper and Pearson 1934, "The use of confidence or fiducial limits", Biometrika 26; Korn and Graubard 1998.
    """
    # Imported here: it takes longer than all other imports of a page.
    from scipy.special import betaincinv

    tail, right = (1 - level) / 2, share * n
    low = float(betaincinv(right, n - right + 1, tail)) if share > 0 else 0.0
    high = float(betaincinv(right + 1, n - right, 1 - tail)) if share < 1 else 1.0
    return low, high
