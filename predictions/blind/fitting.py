"""Scores of questions by what the right answers to others look like: fitted in folds, so that none has seen its own.

Questions that have anything in common stand in one fold: those about one instance, and those of instances that share a
text or a picture. Otherwise what was learnt by heart would pass for what can be told of options in general.

What is learnt is which of a right and a wrong option of one question is the right one, by the difference of their
features: a logistic regression through zero, as of paired comparisons (Bradley and Terry 1952; for texts that compete,
Joachims 2002). An option's score is its part of that, the log-odds of it against an option with none of the features.
Nothing is left to chance: the same questions give the same scores, whatever the order in which they come.
"""

from collections import defaultdict
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from predictions.blind.cases import Case, groups_of
from predictions.blind.features import Features

# Where it is needed: loading scipy takes longer than all else that a page of the site loads.
if TYPE_CHECKING:
    from scipy.sparse import csr_array

FOLDS = 5
# How much the weights are held back: half their sum of squares costs as much as the losses of so many comparisons.
STRENGTH = 1.0
MOST_ROUNDS = 500
# Of a score; further ones are the solver's, and options that differ in those alone tie.
DIGITS = 6


class CannotFit(Exception):
    """Nothing can be fitted to these questions; the message is for people, and says why."""


def folds_of(cases: Sequence[Case]) -> list[int]:
    """Return the fold of each case, 0 to `FOLDS` - 1: whole groups, as even as they come, the same in any order.

    Raises CannotFit where there are not two of them.
    """
    members: dict[int, list[int]] = defaultdict(list)
    for place, group in enumerate(groups_of(cases)):
        members[group].append(place)
    if len(members) < 2:
        raise CannotFit(
            "There are not two groups of questions without a text or a picture in common whose options can be seen and "
            "whose right answers are known, so none can be scored by what others show."
        )
    # By what they show, which no order of rows changes; the large ones first, or the last of them would stand out.
    named = sorted((-len(places), min(cases[place].name for place in places), places) for places in members.values())
    sizes, folds = [0] * FOLDS, [0] * len(cases)
    for _, _, places in named:
        smallest = sizes.index(min(sizes))
        sizes[smallest] += len(places)
        for place in places:
            folds[place] = smallest
    return folds


def scores_of_fold(
    cases: Sequence[Case], folds: Sequence[int], fold: int, features: Features
) -> dict[int, dict[str, float]]:
    """Return the scores of every option of the cases in `fold`, by the place of the case, from a model of all others.

    Scores are log-odds, higher is more like a right option, with `DIGITS` decimals; the same where nothing tells
    options apart.
    """
    known = sorted((place for place in range(len(cases)) if folds[place] != fold), key=lambda at: cases[at].name)
    pairs = [
        (case.options[case.right], option)
        for case in map(cases.__getitem__, known)
        for key, option in sorted(case.options.items())
        if key != case.right
    ]
    own = [place for place in range(len(cases)) if folds[place] == fold]
    if not pairs:
        return {place: dict.fromkeys(cases[place].options, 0.0) for place in own}
    features.fit([option for pair in pairs for option in pair])
    apart = features.rows([right for right, _ in pairs]) - features.rows([wrong for _, wrong in pairs])
    weights = weights_of(apart)
    found: dict[int, dict[str, float]] = {}
    for place in own:
        options = cases[place].options
        scores = np.round(features.rows(list(options.values())) @ weights, DIGITS)
        found[place] = dict(zip(options, map(float, scores), strict=True))
    return found


def weights_of(apart: "csr_array", *, strength: float = STRENGTH) -> NDArray[np.float64]:
    """Return the weights of a logistic regression through zero whose outcomes are all 1, held back by their squares.

    apart: right less wrong options, shape (comparisons, features). The weights make the sum over comparisons of
    log(1 + exp(-apart w)), with the features by their overall size, plus |w|^2 / 2 / `strength`, least.

    Overall size: the root of the mean squared length of a comparison, so that the same strength suits few features and
    many; the weights returned are of the features as they came. Zeros where no comparison differs in anything.

    Example: one feature that is 1 in seven of eight comparisons and -1 in one, strength ln 3: ln 3, since
    7 x 0.25 - 0.75 = ln 3 / ln 3.
    """
    from scipy.optimize import minimize
    from scipy.special import expit

    comparisons, width = apart.shape
    size = float(np.sqrt(np.square(apart.data).sum() / comparisons))
    if not size:
        return np.zeros(width)
    # Rows stay sparse, which scipy's types do not say of a quotient.
    scaled: Any = apart / size
    turned: Any = scaled.T.tocsr()

    def loss(weights: NDArray[np.float64]) -> tuple[float, NDArray[np.float64]]:
        margins = scaled @ weights
        value = float(np.logaddexp(0, -margins).sum() + weights @ weights / 2 / strength)
        return value, -(turned @ expit(-margins)) + weights / strength

    found = minimize(loss, np.zeros(width), jac=True, method="L-BFGS-B", options={"maxiter": MOST_ROUNDS, "gtol": 1e-6})
    weights: NDArray[np.float64] = found.x / size
    return weights
