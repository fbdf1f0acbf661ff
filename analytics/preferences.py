"""Preferences among several things shown at once: Bradley-Terry scores with ties.

An item's worth is a positive number, and its score is the natural logarithm of the worth; scores have the mean 0. The
probability that a shown item is preferred is proportional to its worth, and the probability of a tie to nu times the
geometric mean of the worths of the shown items. For two items that is Davidson's model (1970, "On extending the
Bradley-Terry model to accommodate ties in paired comparison experiments", JASA 65). For more items it is Luce's choice
model with a tie like Davidson's (Turner, van Etten, Firth and Kosmidis 2020, "Modelling rankings in R: the PlackettLuce
package", Computational Statistics 35). Here all shown items are tied, or none. There is one nu for each number of shown
items. exp(a - b) is the odds, without ties, that an item of score a is preferred to one of score b.

Estimates are those of maximum likelihood. The log-likelihood is concave (a log-linear model), so Newton's method finds
its only maximum; the MM algorithms of Hunter (2004, "MM algorithms for generalized Bradley-Terry models", Annals of
Statistics 32) find the same in more steps. A maximum exists if and only if the likelihood does not increase for ever in
some direction. For pairs without ties that is Ford's condition (1957): for every division of the items into two groups,
each group has an item that was preferred to one of the other group. Without a maximum all scores are None, with a
reason.

Intervals are sandwich estimates clustered by instance, or by instance and person (Liang and Zeger 1986; Cameron,
Gelbach and Miller 2011), with Student's t. The observed information alone would assume that all answers are
independent.
"""

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import sqrt
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analytics.intervals.bootstrap import FEW_UNITS, LEAST_RATERS, LEVEL, SMALL
from analytics.ratings import number_values
from analytics.scores import t_quantile

Floats = NDArray[np.float64]
NOTHING = "Nothing was compared."
ALL_TIED = "Nobody preferred anything."
MOST_STEPS, MOST_HALVINGS = 100, 60
# Newton's method doubles the correct digits per step, so smaller gains are rounding.
SMALLEST_STEP = 1e-10
# Scores closer than this are equal.
ROUNDING = 1e-9
# Smallest positive value of a linear program.
SEPARATED = 1e-6


@dataclass(frozen=True, slots=True)
class Comparison:
    """An answer: the items shown, at least two, and the preferred one, None for a tie.

    question, person: question and author of the answer. instance: the instance of the question, None if every question
    has a separate instance.
    """

    shown: tuple[str, ...]
    preferred: str | None
    question: Hashable = None
    person: Hashable = None
    instance: Hashable = None

    @property
    def about(self) -> Hashable:
        return self.question if self.instance is None else self.instance


@dataclass(frozen=True)
class Limits:
    """An interval of a score, both ends None exactly when `reason` says why. `warning`: why it is unreliable."""

    low: float | None
    high: float | None
    reason: str | None = None
    warning: str = ""


@dataclass(frozen=True)
class Standing:
    """The result of one item.

    shown, preferred, tied: in how many comparisons. score: None exactly when `Preferences.reason` says why; error: its
    standard error if all answers were independent. rank: 1 for the highest score; equal scores share a rank.
    over_questions: the interval for other instances and their questions; over_both: for other people too.
    """

    item: str
    shown: int
    preferred: int
    tied: int
    score: float | None = None
    error: float | None = None
    rank: int | None = None
    over_questions: Limits | None = None
    over_both: Limits | None = None


@dataclass(frozen=True)
class Preferences:
    """n: comparisons; ties: of these; questions, people: how many different ones. standings: in the order of the items.

    tie_worth: number of shown items -> nu, if some comparisons were tied. reason: why there are no scores.
    """

    n: int
    ties: int
    questions: int
    people: int
    standings: Sequence[Standing]
    tie_worth: Mapping[int, float]
    reason: str | None = None


def preferences(comparisons: Iterable[Comparison], items: Sequence[str], *, level: float = LEVEL) -> Preferences:
    """Score `items` by how often each was preferred to the others.

    Raises ValueError for a comparison of fewer than two different items, with an item that is not in `items`, or whose
    preferred item was not shown.

    Example: of two items the first is preferred 6 times and the second 3 times: worths of 2 to 1, scores of log(2) / 2
    and -log(2) / 2, with standard errors of sqrt(1/6 + 1/3) / 2.
    """
    found = list(comparisons)
    _check(found, items)
    shown = Counter(item for one in found for item in one.shown)
    tied = Counter(item for one in found for item in one.shown if one.preferred is None)
    preferred = Counter(one.preferred for one in found)
    plain = Preferences(
        n=len(found),
        ties=preferred[None],
        questions=len({one.question for one in found}),
        people=len({one.person for one in found}),
        standings=[Standing(item, shown[item], preferred[item], tied[item]) for item in items],
        tie_worth={},
    )
    compared = [item for item in items if shown[item]]
    model = _Model(found, compared)
    if reason := _why_none(found, compared, model):
        return replace(plain, reason=reason)
    estimate = model.maximum()
    scored = _score_fields(model, estimate, plain.people, level)
    standings = [replace(each, **scored.get(each.item, {})) for each in plain.standings]
    worths = np.exp(estimate[len(compared) :]).tolist()
    return replace(plain, standings=standings, tie_worth=dict(zip(model.tied_sizes, worths, strict=True)))


def _check(comparisons: Iterable[Comparison], items: Sequence[str]) -> None:
    known = set(items)
    for one in comparisons:
        if len(set(one.shown)) < 2 or len(set(one.shown)) < len(one.shown):
            raise ValueError(f"A comparison needs two or more different items, not {one.shown}.")
        if not known.issuperset(one.shown):
            raise ValueError(f"{one.shown} has an item that is not one of {tuple(items)}.")
        if one.preferred is not None and one.preferred not in one.shown:
            raise ValueError(f"{one.preferred!r} was preferred, but not shown.")


class _Model:
    """The log-linear model: the score of each item, then the logarithm of nu for each number of items shown of which
    some comparisons were tied. (Without ties nu is 0.)"""

    def __init__(self, comparisons: Sequence[Comparison], items: Sequence[str]) -> None:
        self.items = items
        self.comparisons = comparisons
        self.tied_sizes = sorted({len(one.shown) for one in comparisons if one.preferred is None})
        self._place = {item: place for place, item in enumerate(items)}
        self.width = len(items) + len(self.tied_sizes)
        self.counts = Counter((one.shown, one.preferred) for one in comparisons)
        self.times = Counter(one.shown for one in comparisons)
        self.answers = {shown: self._answers(shown) for shown in self.times}

    def _answers(self, shown: tuple[str, ...]) -> Floats:
        """Return answers x parameters: one for each item shown, and a tie where there are some."""
        own = np.zeros((len(shown), self.width))
        for row, item in enumerate(shown):
            own[row, self._place[item]] = 1
        if len(shown) not in self.tied_sizes:
            return own
        tie = own.mean(axis=0)
        tie[len(self.items) + self.tied_sizes.index(len(shown))] = 1
        return np.vstack([own, tie])

    def answer(self, shown: tuple[str, ...], preferred: str | None) -> Floats:
        return np.asarray(self.answers[shown][-1 if preferred is None else shown.index(preferred)])

    @cached_property
    def said(self) -> Floats:
        """The sufficient statistic: how often each parameter was in an answer."""
        return np.asarray(np.sum([times * self.answer(*which) for which, times in self.counts.items()], axis=0))

    def likelihood(self, at: Floats) -> float:
        most = sum(times * np.logaddexp.reduce(self.answers[shown] @ at) for shown, times in self.times.items())
        return float(self.said @ at - most)

    def expected_answers(self, at: Floats) -> dict[tuple[str, ...], Floats]:
        """Return what is shown -> the mean answer."""
        return {shown: _chances(answers @ at) @ answers for shown, answers in self.answers.items()}

    def information(self, at: Floats) -> Floats:
        found = np.zeros((self.width, self.width))
        for shown, answers in self.answers.items():
            chances = _chances(answers @ at)
            mean = chances @ answers
            found += self.times[shown] * (answers.T @ (chances[:, None] * answers) - np.outer(mean, mean))
        return found

    def maximum(self) -> Floats:
        at = np.zeros(self.width)
        for _ in range(MOST_STEPS):
            expected = self.expected_answers(at)
            slope = self.said - np.sum([times * expected[shown] for shown, times in self.times.items()], axis=0)
            step = np.linalg.pinv(self.information(at), hermitian=True) @ slope
            before, size = self.likelihood(at), 1.0
            for _ in range(MOST_HALVINGS):
                if self.likelihood(at + size * step) >= before:
                    break
                size /= 2
            at = at + size * step
            if np.abs(size * step).max() < SMALLEST_STEP:
                break
        return at

    def slopes(self, at: Floats) -> Floats:
        """Return comparisons x parameters: what each adds to the slope of the likelihood."""
        expected = self.expected_answers(at)
        by_answer = {which: self.answer(*which) - expected[which[0]] for which in self.counts}
        return np.array([by_answer[one.shown, one.preferred] for one in self.comparisons])


def _chances(powers: Floats) -> Floats:
    raised = np.exp(powers - powers.max())
    return np.asarray(raised / raised.sum())


def _why_none(comparisons: Sequence[Comparison], items: Sequence[str], model: _Model) -> str | None:
    """Return why there is no maximum, None if there is one."""
    if not comparisons:
        return NOTHING
    if all(one.preferred is None for one in comparisons):
        return ALL_TIED
    together = _together(comparisons, items)
    if len(together) < len(items):
        apart = [item for item in items if item not in together]
        return (
            f"{_join_names(together)} never stood beside "
            f"{_join_names(apart, last='or')}, so they cannot be put on one scale."
        )
    upwards = _endless(model)
    if upwards is None:
        return None
    own = upwards[: len(items)]
    top = [item for item, way in zip(items, own, strict=True) if way > own.max() - SEPARATED]
    bottom = [item for item, way in zip(items, own, strict=True) if way < own.min() + SEPARATED]
    if len(top) == len(items):
        return "Wherever so many were shown, there were only ties."
    if len(bottom) < len(top):
        were = "was" if len(bottom) == 1 else "were"
        return f"{_join_names(bottom)} {were} never preferred to any of the others, so that no score is low enough."
    return f"Nothing else was ever preferred to {_join_names(top, last='or')}, so that no score is high enough."


def _together(comparisons: Sequence[Comparison], items: Sequence[str]) -> list[str]:
    """Return the items that are connected to the first one by comparisons, itself included."""
    beside: dict[str, set[str]] = {item: set() for item in items}
    for shown in {one.shown for one in comparisons}:
        for item in shown:
            beside[item].update(shown)
    reached, coming = {items[0]}, [items[0]]
    while coming:
        new = beside[coming.pop()] - reached
        reached |= new
        coming += new
    return [item for item in items if item in reached]


def _endless(model: _Model) -> Floats | None:
    """Return a direction in which the likelihood increases without bound, None without one."""
    ahead = np.array(
        [model.answer(shown, preferred) - other for shown, preferred in model.counts for other in model.answers[shown]]
    )
    # Slow to import, and needed only for scores.
    from scipy.optimize import linprog

    found = linprog(-ahead.sum(axis=0), A_ub=-ahead, b_ub=np.zeros(len(ahead)), bounds=(-1, 1), method="highs")
    if found.x is None or found.fun is None or -found.fun <= SEPARATED:
        return None
    return np.asarray(found.x, dtype=np.float64)


def _join_names(items: Sequence[str], last: str = "and") -> str:
    return f" {last} ".join(filter(None, [", ".join(items[:-1]), items[-1]]))


def _score_fields(model: _Model, estimate: Floats, people: int, level: float) -> dict[str, dict[str, Any]]:
    """Return the fields of each compared item's standing that are not counts."""
    k = len(model.items)
    scores = estimate[:k] - estimate[:k].mean()
    inverse: Floats = np.asarray(np.linalg.pinv(model.information(estimate), hermitian=True), dtype=np.float64)
    slopes = model.slopes(estimate)
    # Inverse within the changes that keep the mean of the scores at 0.
    errors = np.sqrt(np.diag(inverse)[:k])
    # One score follows from the others.
    of_instance = _spread(inverse, slopes, [one.about for one in model.comparisons], model.width - 1)
    of_both = _both(inverse, slopes, model.comparisons, of_instance)
    instances = len({one.about for one in model.comparisons})
    warning = SMALL if instances < FEW_UNITS else ""
    ahead = (scores[:, None] < scores - ROUNDING).sum(axis=1)
    return {
        item: {
            "score": score,
            "error": float(errors[place]),
            "rank": 1 + int(ahead[place]),
            "over_questions": _limits(score, of_instance[place], instances, 2, "instances", level, warning),
            "over_both": _limits(score, of_both[place], people, LEAST_RATERS, "people", level, warning),
        }
        for place, (item, score) in enumerate(zip(model.items, scores.tolist(), strict=True))
    }


def _spread(inverse: Floats, slopes: Floats, clusters: Sequence[Hashable], estimated: int = 1) -> Floats:
    """Return the variance of each parameter for resampled clusters (Liang and Zeger 1986)."""
    which = number_values(clusters)
    count = int(which.max()) + 1
    if count < 2:
        return np.full(len(inverse), np.nan)
    summed = np.zeros((count, slopes.shape[1]))
    np.add.at(summed, which, slopes)
    moved = summed @ inverse
    return np.asarray((moved**2).sum(axis=0) * count / max(1, count - estimated))


def _both(inverse: Floats, slopes: Floats, comparisons: Sequence[Comparison], of_instance: Floats) -> Floats:
    """Return the variance for other people and instances (Cameron, Gelbach and Miller 2011)."""
    of_person = _spread(inverse, slopes, [one.person for one in comparisons])
    of_one = _spread(inverse, slopes, [(one.about, one.person) for one in comparisons])
    return np.maximum(of_person + of_instance - of_one, np.maximum(of_person, of_instance))


def _limits(score: float, variance: float, n: int, least: int, what: str, level: float, warning: str) -> Limits:
    if n < least:
        return Limits(None, None, f"Needs at least {least} {what}; there {'is' if n == 1 else 'are'} {n}.")
    far = t_quantile(level, n - 1) * sqrt(variance)
    return Limits(score - far, score + far, None, warning)
