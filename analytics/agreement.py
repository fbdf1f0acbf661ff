"""Agreement coefficients over units x raters, each with the size of its sample.

All of them read ratings the same way. `ratings`: an array or nested list of units x raters; missing is nan among
numbers, None or "" among labels; any other value is a label, the text "None" too. `categories`: every label that
could have been given, in order; by default those that occur, numbers by size and text by alphabet. Collapsing labels
("any image" against "none") is done before, by the caller. A long table of answers goes in as `long_table(answers)`.

Every value is at most 1, which is perfect agreement; 0 is chance agreement (except for `percent_agreement`, which is
the share itself). A coefficient is undefined (None, with a reason) if its formula divides by zero: if there is nobody
to compare, or only one label, so that chance agreement is perfect too. It is never 0 or nan instead. (NLTK returns 1
for the latter, scikit-learn nan.)

All raise ValueError for an array that is not two-dimensional, an infinite number, and a rating outside the declared
categories.
"""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from analytics.coefficients import (
    BrennanPrediger,
    CohenKappa,
    FleissKappa,
    GwetAC1,
    KrippendorffAlpha,
    Measure,
    Metric,
    PercentAgreement,
    ScottPi,
    Weights,
)
from analytics.ratings import MISSING, Categories, CodedRatings, Counts, Ratings, code


@dataclass(frozen=True)
class Coefficient:
    """A coefficient and its sample. `value` is None exactly when `reason` says why.

    n_units: units with at least one rating. n_pairable: of these, units with two or more, which can be compared (for
    two raters: rated by both). n_ratings: ratings given. n_raters: raters who gave any. n_categories: labels that
    occur, or that were declared.
    """

    value: float | None
    reason: str | None
    n_units: int
    n_pairable: int
    n_ratings: int
    n_raters: int
    n_categories: int


def percent_agreement(ratings: Ratings | CodedRatings, *, categories: Categories | None = None) -> Coefficient:
    """Return the share, 0 to 1, of pairs of ratings of a unit that agree, averaged over the units that have pairs.

    Source: Fleiss 1971, "Measuring nominal scale agreement among many raters", p. 379; with missing ratings Gwet 2014,
    "Handbook of inter-rater reliability", 4th ed., chapter 2.

    Example: [["a", "a"], ["a", "b"]] agrees on 0.5.
    """
    return estimate(PercentAgreement(), ratings, categories=categories)


def cohen_kappa(
    ratings: Ratings | CodedRatings, *, weights: Weights | None = None, categories: Categories | None = None
) -> Coefficient:
    """Return Cohen's kappa of two raters, each with their own prevalence of labels: -1 to 1; 0 is chance agreement.

    ratings: units x 2. Units without both ratings do not count.
    weights: None weighs all disagreements alike; "linear" by how many steps the two labels are apart in the order of
        the categories; "quadratic" by the square of this. Labels that nobody gave are no step unless declared.

    Undefined if no unit was rated by both, or if both always give the same label.

    Raises ValueError for more than two raters, and for weights over text without declared categories.
    Source: Cohen 1960, "A coefficient of agreement for nominal scales", p. 40; Cohen 1968 for the weights.

    Example: 20 x (yes, yes), 5 x (yes, no), 10 x (no, yes), 15 x (no, no) is 0.4.
    """
    return estimate(CohenKappa(weights), ratings, categories=categories)


def scott_pi(ratings: Ratings | CodedRatings, *, categories: Categories | None = None) -> Coefficient:
    """Return Scott's pi of two raters with a shared prevalence of labels.

    ratings: units x 2. Units that one of them left out do not count. Raises ValueError for more than two raters.
    Source: Scott 1955, "Reliability of content analysis: the case of nominal scale coding", p. 323.

    Example: [["a", "a"], ["b", "b"], ["a", "b"]] agrees on 2/3, by chance on 1/2: pi is 1/3.
    """
    return estimate(ScottPi(), ratings, categories=categories)


def fleiss_kappa(ratings: Ratings | CodedRatings, *, categories: Categories | None = None) -> Coefficient:
    """Return Fleiss' kappa: Scott's pi for any number of raters, who may differ from unit to unit.

    With missing ratings it is Gwet's generalisation: agreement over units with two or more ratings, prevalence over
    units with at least one, each unit counting once.
    Source: Fleiss 1971, pp. 379-381; Gwet 2014, chapter 2.

    Example: [["a", "a"], ["b", "b"], ["a", "b"]] is 1/3, as Scott's pi.
    """
    return estimate(FleissKappa(), ratings, categories=categories)


def krippendorff_alpha(
    ratings: Ratings | CodedRatings, *, metric: Metric = "nominal", categories: Categories | None = None
) -> Coefficient:
    """Return Krippendorff's alpha: 1 - observed over expected disagreement, for any number of raters.

    Units with a single rating do not count.
    metric: how far two labels lie apart. "nominal": same or not; "ordinal": by the ratings between them, half of their
        own included; "interval": squared difference; "ratio": squared difference over squared sum.

    Raises ValueError for interval or ratio over labels, ordinal over text without declared categories, ratio over
    negative numbers, and an unknown metric.
    Source: Krippendorff 2011, "Computing Krippendorff's alpha-reliability", sections D and E; 2004, chapter 11.

    Example: [["yes", "yes"], ["no", "no"], ["yes", "no"]] is 4/9.
    """
    return estimate(KrippendorffAlpha(metric), ratings, categories=categories)


def gwet_ac1(ratings: Ratings | CodedRatings, *, categories: Categories | None = None) -> Coefficient:
    """Return Gwet's AC1, which stays near the observed agreement when nearly all labels are the same.

    It depends on the number of categories: declare those nobody used. With one category it is undefined.
    Source: Gwet 2008, "Computing inter-rater reliability and its variance in the presence of high agreement",
    equations 4 and 8; with missing ratings Gwet 2014, chapter 2.

    Example: [["a", "a"], ["b", "b"], ["a", "b"]] agrees on 2/3, by chance on 1/2: AC1 is 1/3.
    """
    return estimate(GwetAC1(), ratings, categories=categories)


def brennan_prediger(ratings: Ratings | CodedRatings, *, categories: Categories | None = None) -> Coefficient:
    """Return the Brennan-Prediger coefficient (Bennett's S): chance agreement is 1 / the number of categories.

    It depends on the number of categories: declare those nobody used. With one category it is undefined.
    Source: Brennan and Prediger 1981, "Coefficient kappa: some uses, misuses, and alternatives", p. 693; Bennett,
    Alpert and Goldstein 1954; with missing ratings Gwet 2014, chapter 2.

    Example: [["a", "a"], ["b", "b"], ["a", "b"]] agrees on 2/3, by chance on 1/2: the coefficient is 1/3.
    """
    return estimate(BrennanPrediger(), ratings, categories=categories)


def specific_agreement(
    ratings: Ratings | CodedRatings, label: Any, *, categories: Categories | None = None
) -> Coefficient:
    """Return the probability, 0 to 1, that another rating of a unit is `label`, given that one rating is.

    For two labels it is called positive and negative agreement; it shows what one coefficient hides when a label is
    rare. Undefined if no comparable rating is the label. Raises ValueError for a label outside the categories. Source:
    Cicchetti and Feinstein 1990, "High agreement but low kappa: II. Resolving the paradoxes", p. 554; for more than two
    ratings of a unit Fleiss, Levin and Paik 2003, "Statistical methods for rates and proportions".

    Example: 40 x (yes, yes), 9 x (yes, no), 6 x (no, yes), 45 x (no, no): yes 80 / 95 = 0.842, no 90 / 105 = 0.857.
    """
    coded = code(ratings, categories)
    if label not in coded.categories:
        raise ValueError(f"{label!r} is not one of the categories.")
    found, per_unit = _sample_of(coded)
    said = (coded.codes == coded.categories.index(label)).sum(axis=1)
    possible = int((said * np.maximum(per_unit - 1, 0)).sum())
    if found.reason is not None:
        return found
    if not possible:
        return replace(found, reason=f"Nobody whose answer can be compared said {label!r}.")
    return replace(found, value=float((said * (said - 1)).sum() / possible))


def estimate(measure: Measure, ratings: Ratings | CodedRatings, *, categories: Categories | None = None) -> Coefficient:
    """Return the coefficient `measure` of the ratings; parameters and errors as in the module docstring."""
    return estimate_coded(measure, code(ratings, categories))


def estimate_coded(measure: Measure, coded: CodedRatings) -> Coefficient:
    """Return the coefficient `measure` of coded ratings."""
    found, _ = _sample_of(coded)
    raters = coded.codes.shape[1] if coded.raters is None else found.n_raters
    if measure.for_two_raters and raters > 2:
        raise ValueError("This coefficient compares two raters; take Fleiss' kappa or Krippendorff's alpha for more.")
    if found.reason is not None:
        return found
    rows = measure.rows(coded)
    value = float(measure.statistic(coded, rows)(rows.counts[None, :].astype(np.float64))[0])
    return replace(found, reason=_one_label(coded)) if np.isnan(value) else replace(found, value=value)


def _sample_of(coded: CodedRatings) -> tuple[Coefficient, Counts]:
    """Return a coefficient without a value, with the reason if there is nothing to compare; and ratings per unit."""
    per_unit = (coded.codes != MISSING).sum(axis=1)
    raters, pairable = coded.number_of_raters(), int((per_unit > 1).sum())
    reason = None
    if not raters:
        reason = "There are no ratings."
    elif raters == 1:
        reason = "Only one rater gave ratings; agreement needs two."
    elif not pairable:
        reason = "No unit was rated twice, so there is nothing to compare."
    counts = (int((per_unit > 0).sum()), pairable, int(per_unit.sum()), raters, len(coded.categories))
    return Coefficient(None, reason, *counts), per_unit


def _one_label(coded: CodedRatings) -> str:
    comparable = coded.codes[(coded.codes != MISSING).sum(axis=1) > 1]
    label = coded.categories[int(comparable.max())]
    return f"Unanimous: every rating that can be compared is {label!r}, so agreement cannot be told from chance."
