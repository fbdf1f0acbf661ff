"""Intervals against naive resampling, against theory, and their edge cases. Every seed is fixed."""

from collections.abc import Sequence
from math import exp, log, sqrt
from typing import Any

import numpy as np
import pytest

from analytics.agreement import estimate, estimate_coded
from analytics.coefficients import (
    BrennanPrediger,
    CohenKappa,
    FleissKappa,
    GwetAC1,
    KrippendorffAlpha,
    Measure,
    PercentAgreement,
    ScottPi,
)
from analytics.intervals.bootstrap import (
    Interval,
    agreement_over_both,
    agreement_over_units,
    interval_of,
    mean_over_units,
)
from analytics.ratings import Ratings, code
from benchmarks.coverage import coverage_of_alpha

OF_MANY: list[Measure] = [
    PercentAgreement(),
    FleissKappa(),
    GwetAC1(),
    BrennanPrediger(),
    *(KrippendorffAlpha(metric) for metric in ("nominal", "ordinal", "interval", "ratio")),
]
OF_TWO: list[Measure] = [ScottPi(), CohenKappa(), CohenKappa("linear"), CohenKappa("quadratic")]


def seeded() -> np.random.Generator:
    return np.random.default_rng(20)


def noisy_ratings(units: int, raters: int, missing: float = 0.1, labels: int = 4) -> np.ndarray[Any, Any]:
    """Ratings of which 7 in 10 are the truth and the rest are guesses."""
    rng = np.random.default_rng(11)
    truth = rng.integers(1, labels + 1, (units, 1))
    guesses = rng.integers(1, labels + 1, (units, raters))
    ratings = np.where(rng.random((units, raters)) < 0.7, truth, guesses).astype(float)
    ratings[rng.random((units, raters)) < missing] = np.nan
    return ratings


@pytest.mark.parametrize("measure", [*OF_MANY, *OF_TWO], ids=repr)
def test_resampling_kinds_of_units_is_resampling_units(measure: Measure) -> None:
    ratings = noisy_ratings(150, 2 if measure.for_two_raters else 3)
    interval = agreement_over_units(measure, ratings, rng=seeded(), resamples=4000)
    naive = _naive(measure, ratings, 600)
    limits = tuple(np.quantile(naive, [0.025, 0.975]))
    assert (interval.low, interval.high) == pytest.approx(limits, abs=float(np.std(naive)) / 4)
    assert limits[0] < (estimate(measure, ratings).value or 0) < limits[1]
    assert interval.method == "percentile"


def _naive(measure: Measure, ratings: np.ndarray[Any, Any], times: int) -> np.ndarray[Any, Any]:
    """Return the value of resamples that are drawn unit by unit."""
    rng, n = np.random.default_rng(5), len(ratings)
    values = [estimate(measure, ratings[rng.integers(n, size=n)]).value for _ in range(times)]
    return np.array(values, dtype=float)


def test_resamples_drawn_in_one_call_are_those_drawn_one_by_one(monkeypatch: pytest.MonkeyPatch) -> None:
    def drawn() -> tuple[Any, ...]:
        # An odd number of units: none may be lost between two calls.
        return tuple(
            agreement_over_units(FleissKappa(), noisy_ratings(units, 3), rng=seeded(), resamples=200)
            for units in (5, 31, 151)
        )

    together = drawn()
    monkeypatch.setattr("analytics.intervals.bootstrap.DRAWN_PER_CALL", 1)
    assert drawn() == together


def test_continuous_ratings_are_resampled_in_the_same_way() -> None:
    rng = np.random.default_rng(2)
    ratings = rng.normal(size=(300, 1)) + rng.normal(scale=0.5, size=(300, 3))
    interval = agreement_over_units(KrippendorffAlpha("interval"), ratings, rng=seeded())
    limits = tuple(np.quantile(_naive(KrippendorffAlpha("interval"), ratings, 500), [0.025, 0.975]))
    assert (interval.low, interval.high) == pytest.approx(limits, abs=0.01)


def test_alpha_of_a_hundred_thousand_units_has_the_narrow_interval_of_so_many() -> None:
    # The standard error falls with the root of n: a tenth of that over a thousand units.
    widths = []
    for units in (1_000, 100_000):
        interval = agreement_over_units(KrippendorffAlpha(), noisy_ratings(units, 3), rng=seeded())
        widths.append((interval.high or 0) - (interval.low or 0))
    assert widths[0] / widths[1] == pytest.approx(10, rel=0.15)


@pytest.mark.parametrize(
    ("measure", "ratings"),
    [
        # 24 of 24 agree, none of 24 agrees, one person says the same every time: so do all resamples.
        (PercentAgreement(), [[1, 1]] * 12 + [[2, 2]] * 12),
        (PercentAgreement(), [[1, 2]] * 24),
        (CohenKappa(), [[1, 1]] * 14 + [[1, 2]] * 10),
    ],
)
@pytest.mark.parametrize("method", ["percentile", "BCa"])
def test_resamples_that_are_all_alike_make_no_interval(measure: Measure, ratings: list[list[int]], method: Any) -> None:
    interval = agreement_over_units(measure, ratings, rng=seeded(), method=method)
    assert (interval.low, interval.high) == (None, None)
    assert interval.reason == "All resamples give the same value, so there is no interval."


@pytest.mark.parametrize(("unanimous", "is_defined"), [(96, True), (98, False)])
def test_a_few_undefined_resamples_are_left_out(unanimous: int, is_defined: bool) -> None:
    # A resample of unanimous units alone is undefined: with four others (0.96^100) 2 in 100, with two 13 in 100.
    ratings = [[1, 1]] * unanimous + [[1, 2]] * 2 + [[2, 1]] * (98 - unanimous)
    interval = agreement_over_units(CohenKappa(), ratings, rng=np.random.default_rng(1))
    assert (interval.low is not None) is is_defined
    assert is_defined or "The value is undefined in" in str(interval.reason)


def test_the_interval_of_a_mean_is_that_of_the_binomial_or_the_normal() -> None:
    # 90 of 100: the 2.5th and 97.5th percentile of Binomial(100, 0.9) are 84 and 95.
    interval = mean_over_units([True] * 90 + [False] * 10, rng=seeded(), resamples=20_000)
    assert (interval.low, interval.high) == pytest.approx((0.84, 0.95), abs=0.005)
    values = np.random.default_rng(4).normal(size=2_000)
    interval = mean_over_units(values, rng=seeded(), resamples=4_000)
    half = 1.96 * values.std() / np.sqrt(2_000)
    assert (interval.low, interval.high) == pytest.approx((values.mean() - half, values.mean() + half), abs=0.003)


@pytest.mark.parametrize(
    ("interval", "reason"),
    [
        (lambda: mean_over_units([], rng=seeded()), "nothing to average"),
        (lambda: mean_over_units([1], rng=seeded()), "there is one"),
        (lambda: agreement_over_units(KrippendorffAlpha(), [["a", "a"]] * 2, rng=seeded()), "Unanimous"),
        (lambda: agreement_over_both(FleissKappa(), noisy_ratings(60, 4)), "Needs at least 5 annotators; there are 4"),
        (lambda: agreement_over_both(FleissKappa(), [["a"] * 5] * 2), "Unanimous"),
        (lambda: _by_instance(PercentAgreement(), [["a", "a"], ["a", "b"]], [1, 1]), "are about one instance"),
    ],
    ids=["no number", "one number", "one label", "four annotators", "one label of five", "one instance"],
)
def test_too_little_has_no_interval_for_a_reason(interval: Any, reason: str) -> None:
    found = interval()
    assert (found.low, found.high) == (None, None)
    assert reason in found.reason


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: mean_over_units([[1]], rng=seeded()), "one number per question"),
        (lambda: mean_over_units([1, float("nan")], rng=seeded()), "Outcome 1 "),
        (lambda: mean_over_units([1, 2], rng=seeded(), level=1), "between 0 and 1"),
        (lambda: mean_over_units([1, 2], rng=seeded(), resamples=0), "at least 1"),
        (lambda: agreement_over_both(FleissKappa(), noisy_ratings(9, 5), level=0), "between 0 and 1"),
        (lambda: agreement_over_both(CohenKappa(), noisy_ratings(60, 2)), "two raters"),
    ],
)
def test_what_cannot_be_resampled_is_refused(call: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        call()


@pytest.mark.parametrize(
    ("measure", "ratings", "lower"),
    [
        # Of a coefficient near 1 resamples crowd at 1: the corrected interval lies lower than the percentiles'.
        (CohenKappa(), [("a", "a")] * 30 + [("b", "b")] * 26 + [("a", "b")] * 2 + [("b", "a")] * 2, True),
        # Half agree, half do not: no bias and no acceleration, so that both take the same percentiles but for chance.
        (PercentAgreement(), [("a", "a")] * 100 + [("a", "b")] * 100, False),
    ],
    ids=["near 1", "without skew"],
)
def test_corrected_intervals_reach_further_below_a_high_coefficient(
    measure: Measure, ratings: Any, lower: bool
) -> None:
    plain, corrected = (
        agreement_over_units(measure, ratings, rng=seeded(), resamples=4000, method=method)
        for method in ("percentile", "BCa")
    )
    assert (plain.method, corrected.method) == ("percentile", "BCa")
    shifts = np.array([corrected.low, corrected.high], dtype=float) - np.array([plain.low, plain.high], dtype=float)
    if lower:
        assert shifts[0] < 0
        assert shifts[1] <= 0
    else:
        assert shifts == pytest.approx([0, 0], abs=0.011)


def test_too_few_questions_and_rare_labels_carry_a_warning() -> None:
    few = [("a", "a"), ("b", "b"), ("a", "b")] * 6
    rare = [("a", "a")] * 60 + [("a", "b")] * 4
    enough = [("a", "a"), ("b", "b"), ("a", "b")] * 7
    found = [agreement_over_units(GwetAC1(), each, rng=seeded()).warning for each in (few, rare, enough)]
    assert found[0].startswith("Fewer than 20 questions")
    assert found[1].startswith("Fewer than 10 answers differ from the commonest")
    assert found[2] == ""


def test_leaving_out_annotators_and_units_gives_the_variance_of_a_mean() -> None:
    # Percent agreement of n units that everybody rated: leaving units out one by one is s^2 / n, by definition. Here
    # 5 raters, of whom the fifth never agrees: on each unit 6 of 10 pairs agree, so units vary by nothing. Without
    # the fifth all agree (1), without another 3 of 6 (.5): 4 / 5 * ((.4)^2 + 4 * (.1)^2) = .16.
    ratings = [["a", "a", "a", "a", "b"], ["b", "b", "b", "b", "a"]] * 15
    found = agreement_over_both(PercentAgreement(), ratings)
    # t(4) = 2.7764 times .4 on both sides of .6.
    assert [found.low, found.high] == pytest.approx([-0.51058, 1], abs=1e-4)


def test_annotators_who_differ_are_covered_where_questions_alone_mislead() -> None:
    # Twenty annotators who differ, 200 data sets: 95 in 100 come out under 90 once in 500 times.
    over_units, over_both = coverage_of_alpha(20, 3, 1.0, 200, np.random.default_rng(9))
    assert over_both >= 0.9
    assert over_units < 0.8


def test_questions_about_one_instance_are_left_out_together() -> None:
    # Two questions about each of three instances; two people agree on both, on one and on one: 4 of 6. Without the
    # first 2 of 4, without another 3 of 4. log(a / (1 - a)) is log 2, and without an instance 0, log 3 and log 3.
    ratings = [["a", "a"], ["b", "b"], ["a", "a"], ["a", "b"], ["b", "b"], ["b", "a"]]
    found = _by_instance(PercentAgreement(), ratings, [1, 1, 2, 2, 3, 3])
    mean = 2 * log(3) / 3
    middle, error = 3 * log(2) - 2 * mean, sqrt(2 / 3 * (mean**2 + 2 * (log(3) - mean) ** 2))
    half = 4.30265273 * error
    limits = [1 / (1 + exp(-(middle + end))) for end in (-half, half)]
    assert [found.low, found.high] == pytest.approx(limits)
    assert (found.method, found.n) == ("jackknife", 3)


def test_kappa_by_instance_is_on_the_scale_of_fisher_s_z() -> None:
    # Four instances with the same two questions each, agreed on, and one with one agreed on and one not: leaving one of
    # the former out and leaving the latter out; kappa of 2 x 2 tables (5, 4, 1), (4, 3, 1) and (4, 4, 0).
    ratings = [["a", "a"], ["b", "b"]] * 4 + [["a", "a"], ["a", "b"]]
    found = _by_instance(CohenKappa(), ratings, [number // 2 for number in range(10)])
    # 0.9 against (6 x 5 + 4 x 5) / 100; 7/8 against (5 x 4 + 3 x 4) / 64; without the last everybody agrees, so that
    # no logarithm is left and the error on the scale of kappa is carried over: 2 / ((1 + kappa) (1 - kappa)) times it.
    kappa, others = 0.8, [0.75] * 4 + [1.0]
    mean = sum(others) / 5
    error = sqrt(4 / 5 * sum((one - mean) ** 2 for one in others))
    half = 2.77644511 * error * 2 / ((1 + kappa) * (1 - kappa))
    middle = log((1 + kappa) / (1 - kappa))
    limits = [2 / (1 + exp(-(middle + end))) - 1 for end in (-half, half)]
    assert [found.low, found.high] == pytest.approx(limits)


def test_questions_that_are_each_about_an_instance_are_drawn_as_before() -> None:
    ratings = code([["a", "a"], ["b", "b"], ["a", "b"]] * 8)
    found = estimate_coded(FleissKappa(), ratings)
    apart, plain = (
        interval_of(found, FleissKappa(), ratings, rng=np.random.default_rng(7), method="BCa", clusters=clusters)
        for clusters in (list(range(24)), None)
    )
    assert apart == plain


def test_many_instances_are_left_out_in_groups() -> None:
    rng = np.random.default_rng(1)
    agreed = rng.random(12_000) < np.repeat(rng.beta(8, 2, 6_000), 2)
    ratings = np.stack([np.zeros(12_000), (~agreed).astype(np.float64)], axis=1)
    found = _by_instance(PercentAgreement(), ratings, np.repeat(np.arange(6_000), 2).tolist())
    # The variance of a share of pairs: beta's 0.16 / 11 for the instance, and half of what is left of 0.16.
    error = sqrt((0.16 / 11 + (0.16 - 0.16 / 11) / 2) / 6_000)
    assert found.n == 200
    assert (found.high or 0) - (found.low or 0) == pytest.approx(2 * 1.96 * error, rel=0.15)


def _by_instance(measure: Measure, ratings: Ratings, clusters: Sequence[int]) -> Interval:
    coded = code(ratings)
    return interval_of(
        estimate_coded(measure, coded), measure, coded, rng=np.random.default_rng(7), method="BCa", clusters=clusters
    )
