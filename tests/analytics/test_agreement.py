"""Agreement against published numbers, hand computation, and what must hold for any ratings."""

from collections.abc import Callable
from functools import partial
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from analytics.agreement import (
    Coefficient,
    brennan_prediger,
    cohen_kappa,
    fleiss_kappa,
    gwet_ac1,
    krippendorff_alpha,
    percent_agreement,
    scott_pi,
    specific_agreement,
)
from analytics.coefficients import Metric, Weights
from analytics.ratings import long_table
from tests.analytics.published import agreement_case, agreement_cases, units_by_raters

MEASURES: dict[str, Callable[..., Coefficient]] = {
    "percent_agreement": percent_agreement,
    "cohen_kappa": cohen_kappa,
    "cohen_kappa_linear": lambda ratings: cohen_kappa(ratings, weights="linear"),
    "cohen_kappa_quadratic": lambda ratings: cohen_kappa(ratings, weights="quadratic"),
    "scott_pi": scott_pi,
    "fleiss_kappa": fleiss_kappa,
    "fleiss_kappa_gwet_missing": fleiss_kappa,
    "gwet_ac1": gwet_ac1,
    "brennan_prediger": brennan_prediger,
    "bennett_s": brennan_prediger,
    "krippendorff_nominal": krippendorff_alpha,
    "krippendorff_ordinal": lambda ratings: krippendorff_alpha(ratings, metric="ordinal"),
    "krippendorff_interval": lambda ratings: krippendorff_alpha(ratings, metric="interval"),
    "krippendorff_ratio": lambda ratings: krippendorff_alpha(ratings, metric="ratio"),
}
PUBLISHED = [case["id"] for case in agreement_cases() if case.get("measure") in MEASURES and "decimals" in case]
# Beyond chance, over any number of raters.
OF_MANY = ["fleiss_kappa", "gwet_ac1", "brennan_prediger", "krippendorff_nominal"]
OF_TWO = ["cohen_kappa", "cohen_kappa_linear", "cohen_kappa_quadratic", "scott_pi"]
ALL = ["percent_agreement", *OF_MANY, *OF_TWO, "krippendorff_ordinal", "krippendorff_interval", "krippendorff_ratio"]
OVER_TABLES = [*OF_MANY, *OF_TWO, "percent_agreement", "krippendorff_ordinal", "krippendorff_interval"]
# 40 and 45 agreed, 9 and 6 against each other.
CICCHETTI = [("y", "y")] * 40 + [("y", "n")] * 9 + [("n", "y")] * 6 + [("n", "n")] * 45
# The example of the docstrings.
THREE_UNITS = [["a", "a"], ["b", "b"], ["a", "b"]]

fifty_examples = settings(max_examples=50)


def matrices(raters: int, labels: st.SearchStrategy[Any]) -> st.SearchStrategy[list[list[Any]]]:
    return st.lists(st.lists(labels, min_size=raters, max_size=raters), min_size=1, max_size=12)


NUMBERS = st.integers(0, 4)
NUMBERS_OR_MISSING = st.none() | NUMBERS


@pytest.mark.parametrize("name", PUBLISHED)
def test_published_coefficients_come_out(name: str) -> None:
    case = agreement_case(name)
    value = MEASURES[case["measure"]](units_by_raters(case["data"])).value
    assert value == pytest.approx(case["expected"], abs=0.5 * 10 ** -case["decimals"] + 1e-12, rel=0)
    assert value == pytest.approx(case["recomputed"], abs=1e-9, rel=0)


@pytest.mark.parametrize("measure", ["krippendorff_nominal", "scott_pi", "cohen_kappa", "bennett_s"])
def test_agreement_on_the_only_label_is_undefined_where_nltk_says_one(measure: str) -> None:
    case = agreement_case("nltk_perfect_one_value")
    coefficient = MEASURES[measure](units_by_raters(case["data"]))
    assert coefficient.value is None
    assert coefficient.reason == (
        "Unanimous: every rating that can be compared is 'YES', so agreement cannot be told from chance."
    )


def test_a_coefficient_says_on_how_much_it_stands() -> None:
    ratings = np.array([[1, 2, np.nan], [np.nan, 3, np.nan], [np.nan] * 3, [1, 1, 1]])
    coefficient = krippendorff_alpha(ratings)
    assert (coefficient.n_units, coefficient.n_pairable, coefficient.n_ratings) == (3, 2, 6)
    assert (coefficient.n_raters, coefficient.n_categories) == (3, 3)


@pytest.mark.parametrize("measure", ALL)
@pytest.mark.parametrize(
    ("ratings", "reason", "raters"),
    [
        (np.full((3, 2), np.nan), "There are no ratings.", 0),
        (np.empty((0, 2)), "There are no ratings.", 0),
        ([], "There are no ratings.", 0),
        (long_table([(1, "ann", None)]), "There are no ratings.", 0),
        ([[1], [2]], "Only one rater gave ratings; agreement needs two.", 1),
        ([[1, None], [2, None]], "Only one rater gave ratings; agreement needs two.", 1),
        ([[1, None], [None, 2]], "No unit was rated twice, so there is nothing to compare.", 2),
    ],
    ids=["missing", "no units", "nothing", "no label", "one column", "one rater", "never met"],
)
def test_without_two_ratings_of_a_unit_there_is_no_value(measure: str, ratings: Any, reason: str, raters: int) -> None:
    coefficient = MEASURES[measure](ratings)
    assert (coefficient.value, coefficient.reason) == (None, reason)
    assert (coefficient.n_raters, coefficient.n_units, coefficient.n_pairable) == (raters, 2 if raters else 0, 0)


@pytest.mark.parametrize("measure", ALL)
def test_one_number_only_is_undefined_but_for_the_share_that_agrees(measure: str) -> None:
    assert MEASURES[measure]([[3.7, 3.7], [3.7, 3.7]]).value == (1 if measure == "percent_agreement" else None)


@pytest.mark.parametrize("measure", [gwet_ac1, brennan_prediger])
def test_a_label_nobody_used_counts_when_it_is_declared(measure: Callable[..., Coefficient]) -> None:
    coefficient = measure([["a", "a"], ["a", "a"]], categories=["a", "b"])
    assert (coefficient.value, coefficient.n_categories) == (1, 2)
    assert measure(long_table([(1, "ann", "a"), (1, "ben", "a")], categories=["a", "b"])).value == 1


@pytest.mark.parametrize(
    ("measure", "ratings", "value"),
    [
        (percent_agreement, THREE_UNITS, 2 / 3),
        # Chance: 2/3 * 1/3 + 1/3 * 2/3 = 4/9; (6/9 - 4/9) / (5/9).
        (cohen_kappa, THREE_UNITS, 0.4),
        *((measure, THREE_UNITS, 1 / 3) for measure in (scott_pi, fleiss_kappa, gwet_ac1, brennan_prediger)),
        # Do = 1/3; De = 2 * 3 * 3 / (6 * 5) = 3/5.
        (krippendorff_alpha, THREE_UNITS, 4 / 9),
        # Agreement 2/3, by chance 1/4.
        (partial(brennan_prediger, categories=["a", "b", "c", "d"]), THREE_UNITS, (2 / 3 - 1 / 4) / (3 / 4)),
        # Raters who always differ.
        (cohen_kappa, [["a", "b"], ["a", "b"]], 0),
        (scott_pi, [["a", "b"], ["a", "b"]], -1),
        # Steps follow the declared order. Observed 1 step on 2 units; by chance (2 * 0 + 2 * 1) / 4 steps a unit.
        (
            partial(cohen_kappa, weights="linear", categories=["low", "middle", "high"]),
            [["low", "low"], ["high", "middle"]],
            1 - 0.5 / 1,
        ),
        # A rating that nothing is compared with does not drown the others: Do = 2 / 6, De = 2 * 3 * 3 / 30 = .6.
        (partial(krippendorff_alpha, metric="interval"), [[0, 1], [1, 1], [0, 0], [1e7, None]], 4 / 9),
    ],
)
def test_values_by_hand(measure: Callable[..., Coefficient], ratings: Any, value: float) -> None:
    assert measure(ratings).value == pytest.approx(value)


def test_the_word_none_and_truth_values_are_answers_and_the_empty_text_is_missing() -> None:
    coefficient = percent_agreement(np.array([["none", "none"], ["candidate-1", "none"], ["", "none"]]))
    assert (coefficient.value, coefficient.n_pairable, coefficient.n_categories) == (0.5, 2, 2)
    assert percent_agreement(np.array([[True, True], [False, True]])).value == 0.5
    missing = np.array([["a", "a", None, "", float("nan")], ["b", None, "a", None, None]], dtype=object)
    assert percent_agreement(missing).n_ratings == 4


@pytest.mark.parametrize(
    ("measure", "ratings", "message"),
    [
        (krippendorff_alpha, ["a", "b"], "units x raters"),
        (krippendorff_alpha, [[1.0, float("inf")]], "infinite"),
        (krippendorff_alpha, np.array([[1.0, np.inf]]), "infinite"),
        (cohen_kappa, [["a", "a", "b"]], "two raters"),
        (scott_pi, [["a", "a", "b"]], "two raters"),
        (MEASURES["cohen_kappa_linear"], [["a", "b"]], "declare them in order"),
        (MEASURES["krippendorff_ordinal"], [["a", "b"]], "declare them in order"),
        (MEASURES["krippendorff_interval"], [["a", "b"]], "needs numbers"),
        (MEASURES["krippendorff_ratio"], [["a", "b"]], "needs numbers"),
        (MEASURES["krippendorff_ratio"], [[-1, 1]], "at least 0"),
        (partial(krippendorff_alpha, metric=cast("Metric", "cosine")), [[1, 2]], "The metric 'cosine' is unknown"),
        (partial(cohen_kappa, weights=cast("Weights", "cubic")), [[1, 2]], "The weights .cubic. are unknown"),
        (lambda ratings: gwet_ac1(ratings, categories=["a"]), [["a", "b"]], "The rating 'b'"),
        (lambda ratings: gwet_ac1(ratings, categories=["a", "a"]), [["a", "a"]], "declared twice"),
        (long_table, [(1, "ann", "a"), (1, "ann", "b")], "rated a unit twice"),
        (long_table, [(1, "ann", 1.0), (1, "ben", float("inf"))], "infinite"),
        (cohen_kappa, long_table([(1, "ann", "a"), (2, "ben", "a"), (3, "cleo", "b")]), "two raters"),
    ],
)
def test_what_cannot_be_meant_is_refused(measure: Any, ratings: Any, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        measure(ratings)


@fifty_examples
@given(matrices(3, NUMBERS_OR_MISSING), st.randoms(use_true_random=False))
@pytest.mark.parametrize("measure", OVER_TABLES)
def test_the_order_of_units_and_raters_and_the_names_of_nominal_labels_change_nothing(
    measure: str, ratings: list[list[Any]], random: Any
) -> None:
    columns = random.sample(range(3), 2 if measure in OF_TWO else 3)
    is_nominal = measure in [*OF_MANY, "percent_agreement", "cohen_kappa", "scott_pi"]
    name = dict(enumerate(random.sample("abcde", 5) if is_nominal else range(5)))
    ordered = [[unit[column] for column in sorted(columns)] for unit in ratings]
    shuffled = [[name.get(unit[column]) for column in columns] for unit in random.sample(ratings, len(ratings))]
    assert MEASURES[measure](shuffled).value == pytest.approx(MEASURES[measure](ordered).value, abs=1e-12)


@fifty_examples
@given(st.lists(NUMBERS, min_size=2, max_size=12).filter(lambda labels: len(set(labels)) > 1))
@pytest.mark.parametrize("measure", ALL)
def test_perfect_agreement_is_one(measure: str, labels: list[int]) -> None:
    assert MEASURES[measure]([[label, label] for label in labels]).value == pytest.approx(1, abs=1e-12)


@fifty_examples
@given(matrices(3, NUMBERS_OR_MISSING))
@pytest.mark.parametrize("measure", [*OF_MANY, "krippendorff_ordinal", "krippendorff_interval", "krippendorff_ratio"])
def test_a_value_is_at_most_one_and_none_has_a_reason(measure: str, ratings: list[list[Any]]) -> None:
    coefficient = MEASURES[measure](ratings)
    assert (coefficient.value is None) == (coefficient.reason is not None)
    assert coefficient.value is None or -10 < coefficient.value <= 1 + 1e-12


@fifty_examples
@given(matrices(2, NUMBERS))
def test_of_two_complete_raters_fleiss_kappa_is_pi_and_alpha_corrects_it_for_small_samples(
    ratings: list[list[int]],
) -> None:
    # Krippendorff 2004, p. 248: 1 - alpha = (1 - pi) (1 - 1 / n) with n values.
    alpha, pi = krippendorff_alpha(ratings).value, scott_pi(ratings).value
    assert fleiss_kappa(ratings).value == pytest.approx(pi, abs=1e-12)
    corrected = None if pi is None else 1 - (1 - pi) * (1 - 1 / (2 * len(ratings)))
    assert alpha == pytest.approx(corrected, abs=1e-12)


@fifty_examples
@given(matrices(4, st.none() | st.integers(0, 60)))
@pytest.mark.parametrize("metric", ["nominal", "ordinal", "interval", "ratio"])
def test_alpha_equals_its_definition_pair_by_pair(metric: Any, ratings: list[list[int | None]]) -> None:
    value = krippendorff_alpha(ratings, metric=metric).value
    assert value == pytest.approx(alpha_by_definition(ratings, metric), abs=1e-9)


def alpha_by_definition(ratings: list[list[int | None]], metric: str) -> float | None:
    """Krippendorff 2011, section E, written out: every pair of values, within units and over all units."""
    units = [[label for label in unit if label is not None] for unit in ratings]
    units = [unit for unit in units if len(unit) > 1]
    values = sorted(label for unit in units for label in unit)

    def distance(one: int, other: int) -> float:
        low, high = min(one, other), max(one, other)
        if metric == "nominal":
            return float(low != high)
        if metric == "interval":
            return (high - low) ** 2
        if metric == "ratio":
            return 0 if high == low else ((high - low) / (high + low)) ** 2
        between = sum(low <= value <= high for value in values)
        return (between - (values.count(low) + values.count(high)) / 2) ** 2 if low != high else 0

    observed = sum(sum(distance(a, b) for a in unit for b in unit) / (len(unit) - 1) for unit in units)
    expected = sum(distance(a, b) for a in values for b in values)
    return 1 - (len(values) - 1) * observed / expected if expected else None


def test_alpha_of_continuous_values_and_many_raters_needs_no_table_of_all_labels() -> None:
    generator = np.random.default_rng(3)
    truth = generator.normal(size=(4_000, 1))
    ratings = truth + generator.normal(scale=0.1, size=(4_000, 12))
    ratings[generator.random(ratings.shape) < 0.3] = np.nan
    # Error variance over total variance: 0.01 / 1.01.
    assert krippendorff_alpha(ratings, metric="interval").value == pytest.approx(1 - 0.01 / 1.01, abs=1e-3)


@fifty_examples
@given(matrices(3, NUMBERS_OR_MISSING))
@pytest.mark.parametrize("measure", OVER_TABLES)
def test_a_long_table_comes_to_the_same_as_its_array(measure: str, ratings: list[list[Any]]) -> None:
    ratings = [row[:2] for row in ratings] if measure in OF_TWO else ratings
    long = long_table((unit, rater, label) for unit, row in enumerate(ratings) for rater, label in enumerate(row))
    assert MEASURES[measure](long) == MEASURES[measure](ratings)


def test_a_long_table_takes_no_room_for_what_nobody_rated() -> None:
    answers = [(unit, f"annotator {unit % 977} {turn}", "a") for unit in range(5_000) for turn in range(2)]
    coded = long_table([*answers, (0, "somebody else", "b")])
    assert coded.codes.shape == (5_000, 3)
    coefficient = percent_agreement(coded)
    assert (coefficient.n_raters, coefficient.n_units, coefficient.n_ratings) == (1_955, 5_000, 10_001)
    # One unit of three ratings agrees in one pair of three.
    assert coefficient.value == pytest.approx((4_999 + 1 / 3) / 5_000)


@pytest.mark.parametrize(
    ("ratings", "label", "expected"),
    [
        # Cicchetti and Feinstein: 80 / (80 + 15) and 90 / (90 + 15).
        (CICCHETTI, "y", 80 / 95),
        (CICCHETTI, "n", 90 / 105),
        # Who says a: in (a, a, b) two with one of two others each, in (a, b) one with none of one.
        ([["a", "a", "b"], ["a", "b", None]], "a", 2 / 5),
    ],
)
def test_agreement_on_a_label_goes_over_all_pairs(ratings: Any, label: str, expected: float) -> None:
    assert specific_agreement(ratings, label).value == pytest.approx(expected)


def test_agreement_on_a_label_nobody_gave_is_undefined() -> None:
    found = specific_agreement([["a", "a"]], "b", categories=["a", "b"])
    assert (found.value, found.reason) == (None, "Nobody whose answer can be compared said 'b'.")
    with pytest.raises(ValueError, match="not one of the categories"):
        specific_agreement([["a", "a"]], "c")


@fifty_examples
@given(matrices(2, NUMBERS).filter(lambda ratings: len({label for unit in ratings for label in unit}) > 1))
@pytest.mark.parametrize("weights", [None, "linear", "quadratic"])
def test_kappa_is_that_of_scikit_learn(weights: Weights | None, ratings: list[list[int]]) -> None:
    from sklearn.metrics import cohen_kappa_score

    expected = cohen_kappa_score(*zip(*ratings, strict=True), weights=weights)
    assert cohen_kappa(ratings, weights=weights).value == pytest.approx(expected, abs=1e-12)


@fifty_examples
@given(matrices(2, NUMBERS))
def test_agreement_follows_from_the_confusion_matrix_of_scikit_learn(ratings: list[list[int]]) -> None:
    from sklearn.metrics import confusion_matrix

    first, second = zip(*ratings, strict=True)
    counts = confusion_matrix(first, second, labels=range(5))
    assert percent_agreement(ratings).value == pytest.approx(counts.trace() / counts.sum())
    for label in {*first, *second}:
        # Cicchetti and Feinstein 1990: twice what both gave it, over how often either gave it.
        expected = 2 * counts[label, label] / (counts[label].sum() + counts[:, label].sum())
        assert specific_agreement(ratings, label).value == pytest.approx(expected)
