from math import sqrt
from typing import Any

import numpy as np
import pytest

from analytics.intervals.prediction_powered_inference import (
    SMALL,
    PredictionPowered,
    prediction_powered_mean,
    prediction_powered_scores,
)
from benchmarks.coverage import EstimateDesign, coverage_of_estimates
from tests.analytics.published import outcomes

# People on four instances, the model on these and on eight others.
PEOPLE = {"a": 1, "b": 1, "c": 0, "d": 1}
MODEL = {"a": 1, "b": 0, "c": 0, "d": 1} | {str(n): value for n, value in enumerate([1, 1, 0, 0, 1, 0, 1, 1])}


def estimated(**options: Any) -> PredictionPowered:
    return prediction_powered_mean(list(PEOPLE.values()), list(PEOPLE), MODEL, **options)


def test_plain_prediction_powered_inference_takes_off_what_the_model_gets_wrong() -> None:
    came_out = estimated(weight=1)
    # 5/8 of the others, and people are right on one more of the four than the model: 0.625 + 0.25.
    assert came_out.value == pytest.approx(0.875)
    assert (came_out.n_labelled, came_out.n_unlabelled, came_out.weight) == (4, 8, 1)


def test_without_weight_it_is_people_alone_and_the_best_weight_follows_from_how_far_both_go_together() -> None:
    came_out = estimated(weight=0)
    assert came_out.value == 0.75
    assert (came_out.alone, came_out.alone_low, came_out.alone_high) == (came_out.value, came_out.low, came_out.high)
    came_out = estimated()
    # Covariance 0.5 / 3; the twelve predictions, seven of them 1, have a variance of 35/12 / 11; 1 + 4/8.
    weight = (0.5 / 3) / (1.5 * 35 / 132)
    assert came_out.weight == pytest.approx(weight)
    assert came_out.value == pytest.approx(0.75 + weight * (5 / 8 - 1 / 2))


def test_a_model_without_use_is_not_relied_on_and_answers_to_one_instance_are_one_cluster() -> None:
    against = prediction_powered_mean([1, 0, 1, 0], "abcd", {"a": 0, "b": 1, "c": 0, "d": 1, "e": 1})
    assert (against.weight, against.value, against.low) == (0, 0.5, against.alone_low)
    same = prediction_powered_mean([1, 0, 1, 0], "abcd", dict.fromkeys("abcdefg", 1))
    assert (same.weight, same.value) == (0, 0.5)
    without_further = prediction_powered_mean([1, 0, 1], "abc", {"a": 1, "b": 0, "c": 1}, weight=1)
    assert (without_further.weight, without_further.n_unlabelled) == (0, 0)
    assert without_further.value == pytest.approx(2 / 3)
    # Instance a was answered by three people, two of them right.
    model = {"a": 1, "b": 1, "c": 0, "d": 1}
    clustered = prediction_powered_mean([1, 1, 0, 1, 0], ["a", "a", "a", "b", "c"], model)
    assert clustered.n_labelled == 3
    assert clustered.alone == pytest.approx((2 / 3 + 1 + 0) / 3)
    assert clustered == prediction_powered_mean([2 / 3, 1, 0], ["a", "b", "c"], model)


def exact(share: float, n: float) -> tuple[float, float]:
    """Clopper and Pearson's interval from quantiles of the beta distribution."""
    from scipy import stats

    right = share * n
    return float(stats.beta.ppf(0.025, right, n - right + 1)), float(stats.beta.ppf(0.975, right + 1, n - right))


def test_the_interval_is_exact_for_as_many_instances_as_tell_as_much() -> None:
    came_out = estimated(weight=1)
    # People alone: 3/4 of four, variance 1/4, so 4 (3/16) / (1/4) = 3 single instances.
    assert (came_out.alone_low, came_out.alone_high) == pytest.approx(exact(0.75, 3))
    # With half an instance each that one side alone is right on, five in all: people 3.5, the model 2.5, both 2. Their
    # variances are 0.21 and 0.25, the covariance 0.4 - 0.35; relative variance 1 - 0.1 / 0.21 + 1.5 x 0.25 / 0.21.
    assert came_out.value == pytest.approx(0.875)
    assert (came_out.low, came_out.high) == pytest.approx(exact(0.875, 3 / (1 - 0.1 / 0.21 + 0.375 / 0.21)))


def test_an_estimate_near_a_bound_stays_inside_its_interval() -> None:
    # People right on 41 of 44 and the model on 38 of these, on one of which people are wrong; on 293 of 300 others. The
    # weight is 0.89, and 0.932 + 0.89 (0.977 - 0.864) is 1.03.
    people = [1] * 41 + [0] * 3
    model = dict(enumerate([0] * 4 + [1] * 38 + [0] * 2)) | {100 + at: int(at < 293) for at in range(300)}
    came_out = prediction_powered_mean(people, range(44), model)
    assert (came_out.value, came_out.high) == (1, 1)
    assert 0.8 < (came_out.low or 0) < 0.932


@pytest.mark.parametrize("right", [0, 1])
def test_people_who_are_right_on_all_or_nothing_still_have_an_interval(right: int) -> None:
    model = dict.fromkeys(range(44), right) | {100: 0, 101: 1}
    came_out = prediction_powered_mean([right] * 44, range(44), model)
    # The exact limit of n of n is 0.025 ^ (1 / n).
    limit = 0.025 ** (1 / 44)
    assert (came_out.low, came_out.high) == pytest.approx((limit, 1) if right else (0, 1 - limit))
    assert (came_out.value, came_out.reason) == (right, None)


@pytest.mark.parametrize(
    ("labels", "reason", "value"),
    [
        ({}, "An estimate needs two instances that people answered; there is none.", None),
        ({"a": 1}, "An estimate needs two instances that people answered; there is one.", 1),
    ],
)
def test_too_little_gives_no_interval(labels: dict[str, int], reason: str, value: float | None) -> None:
    came_out = prediction_powered_mean(list(labels.values()), list(labels), MODEL, weight=0)
    assert (came_out.low, came_out.high, came_out.reason, came_out.value) == (None, None, reason, value)


TWO = outcomes("1111", "0000")


@pytest.mark.parametrize(
    ("call", "sentence"),
    [
        (lambda: prediction_powered_mean([1], ["a", "b"], MODEL), "Each label has an instance"),
        (
            lambda: prediction_powered_mean([1], ["z"], MODEL),
            "The model predicts nothing for 'z', which people answered",
        ),
        (lambda: prediction_powered_mean([np.nan], ["a"], MODEL), "is not a number"),
        (lambda: prediction_powered_mean([1], ["a"], MODEL, weight=2), "They are 0.95 and 2"),
        (lambda: prediction_powered_mean([1], ["a"], MODEL, level=1), "They are 1 and None"),
        (lambda: prediction_powered_mean([2], ["a"], MODEL), "is outside 0 to 1"),
        (lambda: prediction_powered_scores(TWO, ["a"], TWO, ["a", "b"]), "not 2 for 1 and 2 for 2"),
        (lambda: prediction_powered_scores(TWO, ["a", "b"], TWO, ["a", "a"]), "has answered an instance twice"),
        (lambda: prediction_powered_scores(TWO, ["a", "c"], TWO, ["a", "b"]), "The model predicts nothing for 'c'"),
    ],
)
def test_what_cannot_be_estimated_is_refused(call: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        call()


def test_i2t_t2i_and_group_are_estimated_by_instance() -> None:
    # Two people on instance a, one on b; the model on these and two others.
    people, model = outcomes("1111", "1101", "0111"), outcomes("1111", "0101", "1100", "1111")
    came_out = prediction_powered_scores(people, ["a", "a", "b"], model, ["a", "b", "c", "d"])
    assert list(came_out) == ["I2T", "T2I", "Group", "Ipos2T", "Ineg2T", "Tpos2I", "Tneg2I"]
    # Of a, both people have I2T and one has T2I and Group; of b, T2I alone.
    assert [came_out[name].alone for name in ("I2T", "T2I", "Group")] == [0.5, 0.75, 0.25]
    assert {(each.n_labelled, each.n_unlabelled) for each in came_out.values()} == {(2, 2)}
    # I2T: people 1 and 0 as the model, whose four have a variance of 3/4 / 3. The weight is (1/2) / (2 x 1/4), the
    # others' mean 1: 1/2 + (1 - 1/2).
    assert (came_out["I2T"].weight, came_out["I2T"].value, came_out["I2T"].reason) == (1, 1, None)
    # Group: people 1/2 and 0, the model 1 and 0, then 0 and 1: the weight is (1/4) / (2 x 1/3), the others' mean 1/2.
    assert came_out["Group"].weight == pytest.approx(3 / 8)
    assert came_out["Group"].value == pytest.approx(0.25)
    assert 0 < (came_out["Group"].low or 0) < 0.25 < (came_out["Group"].high or 0) < 1


@pytest.mark.parametrize(("n", "warning"), [(19, SMALL), (20, "")])
def test_few_instances_are_a_warning(n: int, warning: str) -> None:
    labels = [at % 2 for at in range(n)]
    assert prediction_powered_mean(labels, range(n), dict(enumerate([*labels, 1, 0]))).warning == warning


def test_the_interval_covers_as_often_as_it_says_and_is_as_short_as_theory_has_it() -> None:
    """200 labelled instances of 2,200; people are right on 80 %, and the model says so with a correlation of rho.

    The variance of the best estimate is var(Y) / n (1 - rho^2 N / (n + N)) (PPI++).
    """
    from scipy import stats

    n, further, times = 200, 2000, 1000
    rng = np.random.default_rng(20_260)
    covered, halves, errors = 0, [], []
    for _ in range(times):
        truth = rng.random(n + further) < 0.8
        said = np.where(rng.random(n + further) < 0.9, truth, rng.random(n + further) < 0.5)
        came_out = prediction_powered_mean(truth[:n], range(n), dict(enumerate(said.astype(float).tolist())))
        low, high = came_out.low or 0, came_out.high or 0
        covered += low <= 0.8 <= high
        halves.append((high - low) / 2)
        errors.append((came_out.value or 0) - 0.8)
    # Three standard errors of a share of 1,000 about 0.95 are 0.021.
    assert covered / times == pytest.approx(0.95, abs=0.021)
    # With probability 0.9 the model says what is true, else it tosses a coin: P(said) = 0.9 * 0.8 + 0.05.
    said_share, both = 0.77, 0.8 * 0.95
    correlation = (both - 0.8 * said_share) / sqrt(0.16 * said_share * (1 - said_share))
    variance = 0.16 / n * (1 - correlation**2 * further / (n + further))
    assert float(np.var(errors)) == pytest.approx(variance, rel=0.15)
    # Exact intervals are a little wider than normal ones.
    assert 1 <= float(np.mean(halves)) / (stats.norm.ppf(0.975) * sqrt(variance)) < 1.1


@pytest.mark.parametrize("share", [0.9, 0.97, 0.99])
@pytest.mark.parametrize("copied", [0.3, 0.9])
def test_near_a_bound_intervals_hold_the_truth_as_often_as_they_promise(share: float, copied: float) -> None:
    # 44 labelled and 300 other instances. A true 95 % of 600 data sets comes out under 92.5 % once in 350 times.
    held, alone, undefined = coverage_of_estimates(
        EstimateDesign(44, 300, share, 0.95, copied), 600, np.random.default_rng(5)
    )
    assert held >= 0.925
    assert alone >= 0.925
    assert undefined == 0
