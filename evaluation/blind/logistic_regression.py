"""Score questions by the right answers to others, cross-fitted in grouped folds. Pure.

Questions that share anything are in one fold: those about one instance, and those of instances that share a text or an
image. Otherwise a baseline could memorise single answers.

A logistic regression without an intercept predicts, from the difference of the features of a right and a wrong option,
which one is right: paired comparisons (Bradley and Terry 1952; for competing texts, Joachims 2002). The score of an
option is its log-odds against an option without features. Nothing is random: the same questions give the same scores in
any order.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evaluation.blind.cases import Case, groups_of
from evaluation.blind.features import Features

if TYPE_CHECKING:
    from scipy.sparse import csr_array

FOLDS = 5
# The inverse of the regularisation: half the sum of squared weights costs as much as the losses of this many
# comparisons.
STRENGTH = 1.0
MOST_ROUNDS = 500
TOLERANCE = 1e-7
# Further decimals are noise of the solver, so options that differ only in those tie.
DIGITS = 6


class CannotFit(Exception):
    """Nothing can be fitted to these questions; the message is for people and says why."""


def folds_of(cases: Sequence[Case]) -> list[int]:
    """Return the fold of each case, 0 to `FOLDS` - 1: whole groups, folds of similar size, the same in any order.

    Raises CannotFit where there are fewer than two groups.
    """
    from sklearn.model_selection import GroupKFold

    names: dict[int, str] = {}
    groups = groups_of(cases)
    for case, group in zip(cases, groups, strict=True):
        names[group] = min(names.get(group, case.name), case.name)
    if len(names) < 2:
        raise CannotFit(
            "The baseline needs at least two groups of questions with known right answers and visible options, "
            "and without a text or an image in common. These questions have fewer."
        )
    # GroupKFold takes the largest group first and, of equal ones, the last label. Labels by content make folds
    # independent of order.
    labels = {group: label for label, group in enumerate(sorted(names, key=names.__getitem__, reverse=True))}
    splits = GroupKFold(min(FOLDS, len(names))).split(cases, groups=[labels[group] for group in groups])
    folds = np.zeros(len(cases), dtype=int)
    for fold, (_, places) in enumerate(splits):
        folds[places] = fold
    found: list[int] = folds.tolist()
    return found


def scores_of_fold(
    cases: Sequence[Case], folds: Sequence[int], fold: int, features: Features
) -> dict[int, dict[str, float]]:
    """Return the scores of all options of the cases in `fold`, by position of the case, from a model of all others.

    Scores are log-odds with `DIGITS` decimals, higher is more like a right option; equal if options do not differ.
    """
    known = sorted((place for place in range(len(cases)) if folds[place] != fold), key=lambda at: cases[at].name)
    pairs = [
        (case.options[case.right], option)
        for case in map(cases.__getitem__, known)
        for key, option in sorted(case.options.items())
        if key != case.right
    ]
    found = {place: dict.fromkeys(cases[place].options, 0.0) for place in range(len(cases)) if folds[place] == fold}
    seen = list(dict.fromkeys(option for pair in pairs for option in pair))
    if not found or len(seen) < 2:
        return found
    features.fit(seen)
    weights = weights_of(features.rows([right for right, _ in pairs]) - features.rows([wrong for _, wrong in pairs]))
    asked = [(place, key, option) for place in found for key, option in cases[place].options.items()]
    scores = np.round(features.rows([option for _, _, option in asked]) @ weights, DIGITS)
    for (place, key, _), score in zip(asked, scores, strict=True):
        found[place][key] = float(score)
    return found


def weights_of(apart: "csr_array", *, strength: float = STRENGTH) -> NDArray[np.float64]:
    """Return the weights of a logistic regression without an intercept by which the right options win.

    apart: features of right minus those of wrong options, shape (comparisons, features). The weights minimise the sum
    over comparisons of log(1 + exp(-apart w)) plus |w|^2 / 2 / `strength`. The features are divided by the root of the
    mean squared length of a comparison, so that one strength suits any number of features. Zeros if no comparison
    differs in anything.

    Example: one feature that is 1 in seven of eight comparisons and -1 in one, strength ln 3: ln 3, since 7 x 0.25 -
    0.75 = ln 3 / ln 3.
    """
    from scipy.sparse import vstack
    from sklearn.linear_model import LogisticRegression

    comparisons, width = apart.shape
    squares = float(np.square(apart.data).sum()) / comparisons
    if not squares:
        return np.zeros(width)
    # A classifier needs two classes, so each comparison is added mirrored, and each counts half.
    model = LogisticRegression(C=strength / squares / 2, fit_intercept=False, tol=TOLERANCE, max_iter=MOST_ROUNDS).fit(
        vstack([apart, -apart], format="csr"), np.repeat([1, 0], comparisons)
    )
    weights: NDArray[np.float64] = model.coef_[0]
    return weights
