"""Dawid-Skene, MACE and GLAD: one label per task from the answers of many workers, and how good each worker is.

All take answers as (task, worker, label), the long table that analysis libraries read, and raise ValueError for a
label that is missing. A worker may answer a task more than once. Why the models are written out here and not taken
from crowd-kit: docs/decisions/0008-dawid-skene-and-mace-written-out.md.
"""

from collections import Counter
from collections.abc import Hashable, Iterable
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from analytics.ratings import Floats, in_order
from analytics.scores import Score

Answer = tuple[Hashable, Hashable, Any]
Indices = NDArray[np.intp]

# Posteriors this close are tied; a tie has no label.
TIE = 1e-9
# Minimum gain in log-likelihood per answer of an iteration.
GAIN = 1e-10
MOST_ITERATIONS = 2000
# Hovy et al. 2013, section 3.3, and the released program: priors of knowing and of guessing, and of what is guessed.
KNOWING_PRIOR, GUESSING_PRIOR, STRATEGY_PRIOR = 0.5, 0.5, 10.0
MACE_ITERATIONS, MACE_RESTARTS = 50, 10
SMALLEST = 1e-300
# Starts of MACE within this log-likelihood are equally likely.
AS_LIKELY = 0.01
# The released program of Whitehill et al.: the mean of the priors of abilities and of log ease; their variance is 1.
GLAD_PRIOR_MEAN = 1.0
# Relative gain at which GLAD stops.
GLAD_GAIN, GLAD_ITERATIONS = 1e-8, 500
# Minimum number of answers per task for a model of the workers.
LEAST_PER_TASK = 3


@dataclass(frozen=True)
class Aggregate:
    """Labels of tasks and skills of workers.

    labels: per task, the label with the highest posterior, None when two share it. posteriors: per task, the
    probability of every label, 0 to 1. skills: per worker, 0 to 1, as the method estimates it. prevalence: estimated
    share of each label over tasks.
    """

    labels: dict[Any, Any]
    posteriors: dict[Any, dict[Any, float]]
    skills: dict[Any, float]
    prevalence: dict[Any, float]


@dataclass(frozen=True)
class GladAggregate(Aggregate):
    """What GLAD adds. abilities: per worker, any real number: 0 guesses, below 0 is wrong more often than by guessing
    among two. difficulties: per task, above 0; the larger, the more difficult, 1 / e without any evidence.
    """

    abilities: dict[Any, float]
    difficulties: dict[Any, float]


@dataclass(frozen=True)
class AnswerTable:
    """Answers as indices: three columns of equal length, and the values of the indices, in order of appearance."""

    task: Indices
    worker: Indices
    label: Indices
    tasks: tuple[Any, ...]
    workers: tuple[Any, ...]
    labels: tuple[Any, ...]

    def totals(self, worker_or_task: Indices, size: int, amounts: Floats) -> Floats:
        """Sum amounts (answers x labels) by worker or task: size x labels."""
        return np.stack([np.bincount(worker_or_task, weights=column, minlength=size) for column in amounts.T], axis=1)

    def votes(self) -> Floats:
        """Return the share of each label among the answers to each task: tasks x labels."""
        cells = self.task * len(self.labels) + self.label
        counts = np.bincount(cells, minlength=len(self.tasks) * len(self.labels)).astype(np.float64)
        votes = counts.reshape(len(self.tasks), len(self.labels))
        return np.asarray(votes / votes.sum(axis=1, keepdims=True))

    def labels_of(self, posteriors: Floats) -> dict[Any, Any]:
        labels = {}
        for task, row in zip(self.tasks, posteriors, strict=True):
            best = np.flatnonzero(row >= row.max() - TIE)
            labels[task] = self.labels[best[0]] if best.size == 1 else None
        return labels

    def aggregate(self, posteriors: Floats, skills: Floats, prevalence: Floats) -> Aggregate:
        return Aggregate(
            self.labels_of(posteriors),
            {task: self._by_label(row) for task, row in zip(self.tasks, posteriors, strict=True)},
            dict(zip(self.workers, skills.tolist(), strict=True)),
            self._by_label(prevalence),
        )

    def _by_label(self, row: Floats) -> dict[Any, float]:
        return dict(zip(self.labels, row.tolist(), strict=True))


def dawid_skene(answers: Iterable[Answer]) -> Aggregate:
    """Dawid-Skene: each worker has a probability of every answer for every true label.

    Maximum likelihood by expectation-maximisation, started from the vote shares, without smoothing, until the
    log-likelihood no longer increases. Skill: the probability that a worker's answer is right, over the labels'
    prevalence.

    Source: Dawid and Skene 1979, "Maximum likelihood estimation of observer error-rates using the EM algorithm",
    equations 2.3 to 2.5.

    Example: their 45 patients have class prevalences .40, .42, .11, .07.
    """
    table = read_answers(answers)
    if not table.tasks:
        return Aggregate({}, {}, {}, {})
    posteriors, reached = table.votes(), -np.inf
    for _ in range(MOST_ITERATIONS):
        prevalence, errors = posteriors.mean(axis=0), _error_rates(table, posteriors)
        # Answers x true labels: how likely this answer is for each true label.
        likelihoods = np.log(np.maximum(errors[table.worker, :, table.label], SMALLEST))
        posteriors, likelihood = _normalise(
            np.log(np.maximum(prevalence, SMALLEST)) + table.totals(table.task, len(table.tasks), likelihoods)
        )
        if likelihood - reached < GAIN * len(table.task):
            break
        reached = likelihood
    skills = np.einsum("wkk,k->w", errors, prevalence)
    return table.aggregate(posteriors, skills, posteriors.mean(axis=0))


def mace(answers: Iterable[Answer], *, rng: np.random.Generator, restarts: int = MACE_RESTARTS) -> Aggregate:
    """MACE: each worker either knows the label or guesses by a personal distribution.

    Variational Bayes with the priors of the released program, 50 iterations from each of `restarts` starts: one
    neutral, the others random. The start with the highest likelihood wins. If several are equally likely, their mean is
    used, and a task that they label differently has no label, so that the result does not depend on the seed. Skill:
    the worker's competence, the probability of not guessing. With fewer than three answers per task the model cannot
    tell which worker is right: see `with_enough_answers`.

    Source: Hovy, Berg-Kirkpatrick, Vaswani and Hovy 2013, "Learning whom to trust with MACE", section 3.

    Example: when two workers always agree and a third answers "a" to everything, the third has the lowest skill.
    """
    table = read_answers(answers)
    if not table.tasks:
        return Aggregate({}, {}, {}, {})
    runs = [_mace_run(table, rng if number else None) for number in range(max(restarts, 1))]
    best = max(likelihood for likelihood, _, _ in runs)
    likeliest = [(posteriors, skills) for likelihood, posteriors, skills in runs if best - likelihood <= AS_LIKELY]
    posteriors, skills = (np.mean(column, axis=0) for column in zip(*likeliest, strict=True))
    found = table.aggregate(posteriors, skills, posteriors.mean(axis=0))
    by_run = [table.labels_of(posteriors) for posteriors, _ in likeliest]
    same = {
        task: label if all(labels[task] == label for labels in by_run) else None for task, label in found.labels.items()
    }
    return replace(found, labels=same)


def glad(answers: Iterable[Answer]) -> GladAggregate:
    """GLAD: each worker has an ability, and each task a difficulty.

    Worker i answers task j right with probability s(a_i * b_j), where s is the logistic function, a_i the ability and
    1 / b_j > 0 the difficulty (equation 1). Of k labels, each wrong one has the share (1 - s(a_i * b_j)) / (k - 1).
    All labels are equally likely beforehand. The paper maximises the likelihood by expectation-maximisation:

    - E-step (section 3.1): p(z_j = l) is proportional to the product of the probabilities of the answers to j if l is
      right.
    - M-step: the a_i and log b_j that maximise the expected log likelihood plus the log of their priors, by its
      gradient (equations 4 and 5). Both priors are normal with mean 1 and variance 1, as in the released program.

    The gradient of an M-step at the posteriors of the E-step before it is that of the log posterior itself (Fisher's
    identity). Following that one by L-BFGS finds the same maximum in a tenth of the time.

    Skill: the probability that the worker answers the task of median difficulty right.

    Source: Whitehill, Ruvolo, Wu, Bergsma and Movellan 2009, "Whose vote should count more: optimal integration of
    labels from labelers of unknown expertise", NIPS 22.

    Example: two workers who always agree have a higher ability than a third who often differs from both, and a task on
    which all three agree is easier than one on which they differ.
    """
    # Imported here: it takes longer than all other imports of a page.
    from scipy.optimize import minimize

    table = read_answers(answers)
    if not table.tasks:
        return GladAggregate({}, {}, {}, {}, {}, {})
    workers = len(table.workers)

    def log_posterior(parameters: Floats) -> tuple[float, Floats]:
        posteriors, likelihood = glad_posteriors(table, parameters)
        return -likelihood, glad_objective(parameters, table, posteriors[table.task, table.label])[1]

    start = np.full(workers + len(table.tasks), GLAD_PRIOR_MEAN)
    parameters = minimize(
        log_posterior,
        start,
        method="L-BFGS-B",
        jac=True,
        options={"maxiter": GLAD_ITERATIONS, "ftol": GLAD_GAIN},
    ).x
    posteriors, _ = glad_posteriors(table, parameters)
    abilities, log_ease = parameters[:workers], parameters[workers:]
    skills = _logistic(abilities * np.exp(np.median(log_ease)))
    found_labels = table.aggregate(posteriors, skills, posteriors.mean(axis=0))
    return GladAggregate(
        **vars(found_labels),
        abilities=dict(zip(table.workers, abilities.tolist(), strict=True)),
        difficulties=dict(zip(table.tasks, np.exp(-log_ease).tolist(), strict=True)),
    )


def glad_posteriors(table: AnswerTable, parameters: Floats) -> tuple[Floats, float]:
    """E-step of GLAD: return the probability of each label of each task, and the log posterior without constants.

    parameters: the abilities of the workers, then the log ease of the tasks.
    """
    labels, workers = len(table.labels), len(table.workers)
    strengths = parameters[table.worker] * np.exp(parameters[workers + table.task])
    wrong = _log_logistic(-strengths) - np.log(max(labels - 1, 1))
    cells = table.task * labels + table.label
    size = len(table.tasks) * labels
    more = np.bincount(cells, weights=_log_logistic(strengths) - wrong, minlength=size).reshape(-1, labels)
    # Each label starts from all answers being wrong; its own answers are right instead.
    base = np.bincount(table.task, weights=wrong, minlength=len(table.tasks))
    posteriors, likelihood = _normalise(more + base[:, None] - np.log(labels))
    return posteriors, likelihood - float(((parameters - GLAD_PRIOR_MEAN) ** 2).sum()) / 2


def glad_objective(parameters: Floats, table: AnswerTable, given: Floats) -> tuple[float, Floats]:
    """Return the negative of what the M-step of GLAD maximises, without constants, and its gradient.

    given: per answer, the probability that it is right. parameters: as for `glad_posteriors`.
    """
    workers = len(table.workers)
    ability, ease = parameters[table.worker], np.exp(parameters[workers + table.task])
    strengths = ability * ease
    right, wrong = _log_logistic(strengths), _log_logistic(-strengths)
    expected = float((given * right + (1 - given) * wrong).sum())
    prior = parameters - GLAD_PRIOR_MEAN
    residual = given - np.exp(right)
    gradient = np.concatenate(
        [
            np.bincount(table.worker, weights=residual * ease, minlength=workers),
            np.bincount(table.task, weights=residual * strengths, minlength=len(table.tasks)),
        ]
    )
    return -expected + float((prior**2).sum()) / 2, prior - gradient


def _logistic(values: Floats) -> Floats:
    return np.asarray(np.exp(_log_logistic(values)))


def _log_logistic(values: Floats) -> Floats:
    return np.asarray(-np.logaddexp(0, -values))


def with_enough_answers(answers: Iterable[Answer]) -> list[Answer]:
    """Keep the answers to tasks with at least `LEAST_PER_TASK`: on others a model cannot tell who is right.

    Example of the problem: five pairs of workers with separate tasks, and one worker who clicks at random. MACE ranks
    the partner of that worker lowest in four of five data sets.

    Example: a task with two answers is left out, one with three stays.
    """
    rows = list(answers)
    per_task = Counter(task for task, _, _ in rows)
    return [row for row in rows if per_task[row[0]] >= LEAST_PER_TASK]


def agreement_with_others(answers: Iterable[Answer]) -> dict[Any, dict[Any, Score]]:
    """Count, for each worker and task, the equal answers among those of other workers.

    One answer per worker and task. A task that nobody else answered has a score of 0 of 0.

    Example: the answers a, a, b to one task: each worker who answered a agrees with 1 of 2 others, the one who answered
    b with 0 of 2.
    """
    rows = list(answers)
    given = Counter((task, label) for task, _, label in rows)
    of_task = Counter(task for task, _, _ in rows)
    found: dict[Any, dict[Any, Score]] = {}
    for task, worker, label in rows:
        found.setdefault(worker, {})[task] = Score(given[task, label] - 1, of_task[task] - 1)
    return found


def read_answers(answers: Iterable[Answer]) -> AnswerTable:
    """Return answers as indices. Raises ValueError for a missing label."""
    rows = list(answers)
    if any(label is None or label == "" or label != label for _, _, label in rows):
        raise ValueError("An answer has no label; leave out what was not answered.")
    tasks, workers = (tuple(dict.fromkeys(row[column] for row in rows)) for column in (0, 1))
    labels = in_order({row[2] for row in rows})
    task, worker, label = (
        _indices([row[column] for row in rows], values) for column, values in enumerate((tasks, workers, labels))
    )
    return AnswerTable(task, worker, label, tasks, workers, labels)


def _indices(column: list[Any], values: tuple[Any, ...]) -> Indices:
    index = {value: position for position, value in enumerate(values)}
    return np.array([index[value] for value in column], dtype=np.intp)


def _error_rates(table: AnswerTable, posteriors: Floats) -> Floats:
    """Workers x true labels x answers: the probability of each answer for each true label."""
    workers, labels = len(table.workers), len(table.labels)
    cells = table.worker * labels + table.label
    expected = table.totals(cells, workers * labels, posteriors[table.task]).reshape(workers, labels, labels)
    rates = expected.transpose(0, 2, 1)
    given = rates.sum(axis=2, keepdims=True)
    return np.asarray(np.divide(rates, given, out=np.zeros_like(rates), where=given > 0))


def _normalise(log_joint: Floats) -> tuple[Floats, float]:
    """Return posteriors over the labels of each task and the log-likelihood of everything."""
    highest = log_joint.max(axis=1, keepdims=True)
    joint = np.exp(log_joint - highest)
    total = joint.sum(axis=1, keepdims=True)
    return joint / total, float((highest + np.log(total)).sum())


def _mace_run(table: AnswerTable, start: np.random.Generator | None) -> tuple[float, Floats, Floats]:
    """Run MACE from a random start or, with None, from the neutral one.

    Returns the log-likelihood, the posteriors (tasks x labels) and the competences of the workers.
    """
    # Imported here: it takes longer than all other imports of a page.
    from scipy.special import digamma

    workers, labels, tasks = len(table.workers), len(table.labels), len(table.tasks)
    knows, strategy = np.full(workers, 0.5), np.full((workers, labels), 1 / labels)
    if start is not None:
        knows = start.uniform(0.4, 0.6, workers)
        strategy = start.dirichlet(np.full(labels, STRATEGY_PRIOR), workers)
    guesses = 1 - knows
    # How likely an answer is depends on who gave it and what it says: workers x labels, not answers x labels.
    of_worker, of_task = table.worker * labels + table.label, table.task * labels + table.label
    given = np.bincount(of_worker, minlength=workers * labels).reshape(workers, labels)
    answers = given.sum(axis=1)
    for _ in range(MACE_ITERATIONS):
        by_guess = np.maximum(guesses[:, None] * strategy, SMALLEST)
        right = by_guess + knows[:, None]
        more = (np.log(right) - np.log(by_guess)).ravel()[of_worker]
        log_joint = np.bincount(of_task, weights=more, minlength=tasks * labels).reshape(tasks, labels)
        posteriors, likelihood = _normalise(log_joint - np.log(labels))
        likelihood += float((given * np.log(by_guess)).sum())
        known = posteriors.ravel()[of_task] * (knows[:, None] / right).ravel()[of_worker]
        knew = np.bincount(of_worker, weights=known, minlength=workers * labels).reshape(workers, labels)
        strategies = given - knew
        total = digamma(answers + KNOWING_PRIOR + GUESSING_PRIOR)
        knows = np.exp(digamma(knew.sum(axis=1) + KNOWING_PRIOR) - total)
        guesses = np.exp(digamma(strategies.sum(axis=1) + GUESSING_PRIOR) - total)
        spread = digamma(strategies.sum(axis=1) + labels * STRATEGY_PRIOR)
        strategy = np.exp(digamma(strategies + STRATEGY_PRIOR) - spread[:, None])
    return likelihood, posteriors, knows / (knows + guesses)
