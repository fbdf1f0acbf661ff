"""Alternative annotator test: could a model replace an annotator?

One person at a time is left out, and the model is compared with that person by how well each agrees with the others.
Calderon, Reichart and Dror 2025, "The Alternative Annotator Test for LLM-as-a-Judge: How to Statistically Justify
Replacing Human Annotators with LLMs", ACL 2025, pp. 16051-16081.
"""

from collections.abc import Callable, Hashable, Mapping, Sequence
from dataclasses import dataclass, replace
from math import sqrt
from typing import Any

import numpy as np

from analytics.ratings import number_values
from analytics.scores import Floats

# Epsilon: a model may replace a person who is better on at most this share of instances. The paper's value for crowd
# workers; it uses 0.15 for skilled people and 0.2 for experts, who cost more.
EPSILON = 0.1
# False discovery rate: the share of wins that may be due to chance.
FALSE_DISCOVERY_RATE = 0.05
# With fewer, the mean of the differences is not normal enough for Student's t.
LEAST_INSTANCES = 30
# Minimum number of people: the paper's test needs three.
LEAST_PEOPLE = 3
# At this winning rate or more, the model may replace the people.
PASSING_RATE = 0.5

FEW_PEOPLE = "Needs at least {} people who answered the same; there are {}."
NOBODY = "Nobody answered enough instances that somebody else and the model answered too."


@dataclass(frozen=True)
class PersonComparison:
    """The model against one person, over the `n` instances that this person, the model and others answered.

    advantage: share of instances, 0 to 1, on which the model agrees with the others at least as well as the person
    does. persons_advantage: the share on which the person agrees at least as well as the model; ties count for both. p:
    p-value of the null hypothesis that the person is better by `epsilon`. wins: whether the model wins, after the
    correction for multiple tests. If `reason` is not empty, p is None and wins is False.
    """

    person: Hashable
    n: int
    advantage: float | None
    persons_advantage: float | None
    p: float | None
    wins: bool
    reason: str | None = None


@dataclass(frozen=True)
class AlternativeAnnotator:
    """winning_rate: omega, the share of the people tested over whom the model wins, 0 to 1. advantage: rho, the mean
    over them of its advantage, by which models are compared. passes: omega is at least one half. All three are None
    exactly when `reason` says why. people: everybody, in order of appearance; n_tested: of them, those who were tested.
    """

    winning_rate: float | None
    advantage: float | None
    passes: bool | None
    n_tested: int
    people: Sequence[PersonComparison]
    reason: str | None = None


# Agreement of an answer with those of others to the same instance; higher is better.
Alignment = Callable[[Any, Sequence[Any]], float]


def agreement(answer: Any, others: Sequence[Any]) -> float:
    """Return the share of the others' answers that are equal, 0 to 1, for labels (ACC in the paper)."""
    return float(np.mean([answer == other for other in others]))


def nearness(answer: float, others: Sequence[float]) -> float:
    """Return the negative root mean squared distance to the others' answers, for numbers (RMSE in the paper)."""
    return -sqrt(float(np.mean([(answer - other) ** 2 for other in others])))


def alternative_annotator_test(
    answers: Sequence[Any],
    people: Sequence[Hashable],
    instances: Sequence[Hashable],
    model: Mapping[Any, Any],
    *,
    clusters: Mapping[Any, Hashable] | None = None,
    alignment: Alignment = agreement,
    epsilon: float = EPSILON,
    false_discovery_rate: float = FALSE_DISCOVERY_RATE,
    least_instances: int = LEAST_INSTANCES,
) -> AlternativeAnnotator:
    """Test whether a model could replace annotators.

    answers, people, instances: each answer, its author and its instance, of the same length. model: the model's answer
    by instance. Instances without an answer of the model, or with answers of only one person, are ignored. clusters:
    the cluster of each instance, if several instances are about one thing; the test then counts clusters, also for
    `least_instances`. alignment: `agreement` for labels, `nearness` for numbers, or another function. least_instances:
    people with fewer are not tested.

    For each person j the differences d of the two indicators (person at least as good, model at least as good; 1 or 0)
    are tested against `epsilon` with Student's t, one-sided: t = (mean d - epsilon) / (s / sqrt n). Where all
    differences are the same, p is 0 if they lie below epsilon, else 1. The people over whom the model wins are those
    whose hypothesis the procedure of Benjamini and Yekutieli rejects (`benjamini_yekutieli`). An instance counts once
    per person, however many others answered it. The test assumes that instances, or clusters, are independent.
    Undefined with fewer than `LEAST_PEOPLE` people who answered the same instances.

    Raises ValueError for different lengths, if a person answered an instance twice, and for an epsilon or a rate
    outside 0 to 1. Source: see the head of this module, and the authors' notebook in nitaytech/AltTest.

    Example: if the model gives the same answer as all people on every instance, its advantage is 1 for each person,
    every d is 0, and it wins over everybody.
    """
    if not (0 <= epsilon < 1 and 0 < false_discovery_rate < 1):
        raise ValueError(
            f"epsilon must be at least 0 and below 1, and false_discovery_rate between 0 and 1. They are {epsilon} and "
            f"{false_discovery_rate}."
        )
    by_instance = _group_answers(answers, people, instances)
    shared = {name: given for name, given in by_instance.items() if len(given) > 1 and name in model}
    compared = [
        _compare_person(
            person, shared, model, clusters, alignment=alignment, epsilon=epsilon, least_instances=least_instances
        )
        for person in dict.fromkeys(people)
    ]
    return _summary(compared, false_discovery_rate)


def _group_answers(
    answers: Sequence[Any], people: Sequence[Hashable], instances: Sequence[Hashable]
) -> Mapping[Hashable, Mapping[Hashable, Any]]:
    """Return instance -> person -> answer."""
    if not len(answers) == len(people) == len(instances):
        raise ValueError(
            f"Each answer has a person and an instance, not {len(answers)} answers with {len(people)} and "
            f"{len(instances)}."
        )
    by_instance: dict[Hashable, dict[Hashable, Any]] = {}
    for answer, person, instance in zip(answers, people, instances, strict=True):
        given = by_instance.setdefault(instance, {})
        if person in given:
            raise ValueError(f"{person!r} has answered {instance!r} twice; each answers an instance once.")
        given[person] = answer
    return by_instance


def _summary(compared: Sequence[PersonComparison], false_discovery_rate: float) -> AlternativeAnnotator:
    """Return the result over all people, after the correction for multiple tests."""
    tested = [each for each in compared if each.p is not None]
    sharing = sum(each.n > 0 for each in compared)
    if 0 < sharing < LEAST_PEOPLE:
        return AlternativeAnnotator(None, None, None, len(tested), compared, FEW_PEOPLE.format(LEAST_PEOPLE, sharing))
    if not tested:
        return AlternativeAnnotator(None, None, None, 0, compared, NOBODY)
    rejected = benjamini_yekutieli([each.p for each in tested if each.p is not None], false_discovery_rate)
    winning = {each.person for each, wins in zip(tested, rejected, strict=True) if wins}
    everybody = [replace(each, wins=each.person in winning) for each in compared]
    rate = len(winning) / len(tested)
    advantage = sum(each.advantage for each in tested if each.advantage is not None) / len(tested)
    return AlternativeAnnotator(rate, advantage, rate >= PASSING_RATE, len(tested), everybody)


def benjamini_yekutieli(probabilities: Sequence[float], rate: float) -> list[bool]:
    """Return which hypotheses are rejected at a false discovery rate of `rate`, under any dependency of the tests.

    The i smallest of m probabilities are rejected for the largest i whose probability is at most i rate / (m H), where
    H = 1 + 1/2 + ... + 1/m. Source: Benjamini and Yekutieli 2001, "The control of the false discovery rate in multiple
    testing under dependency", Annals of Statistics 29, theorem 1.3.

    Example: 0.001, 0.02 and 0.6 at 0.05, H = 11/6: 0.001 is at most 0.0091, 0.02 is more than 0.0182: only the first.
    """
    count = len(probabilities)
    harmonic = sum(1 / number for number in range(1, count + 1))
    order = sorted(range(count), key=lambda place: probabilities[place])
    last = 0
    for number, place in enumerate(order, start=1):
        if probabilities[place] <= number * rate / (count * harmonic):
            last = number
    rejected = set(order[:last])
    return [place in rejected for place in range(count)]


def _compare_person(
    person: Hashable,
    shared: Mapping[Hashable, Mapping[Hashable, Any]],
    model: Mapping[Any, Any],
    clusters: Mapping[Any, Hashable] | None,
    *,
    alignment: Alignment,
    epsilon: float,
    least_instances: int,
) -> PersonComparison:
    both: list[tuple[bool, bool]] = []
    drawn: list[Hashable] = []
    for instance, given in shared.items():
        if person not in given:
            continue
        others = [answer for who, answer in given.items() if who != person]
        persons, models = alignment(given[person], others), alignment(model[instance], others)
        both.append((persons >= models, models >= persons))
        drawn.append(clusters[instance] if clusters else instance)
    if not both:
        return PersonComparison(person, 0, None, None, None, False, "No instance was answered by somebody else too.")
    indicators = np.array(both, dtype=np.float64)
    persons_advantage, advantage = (float(share) for share in indicators.mean(axis=0))
    counts = (person, len(both), advantage, persons_advantage)
    least = max(2, least_instances)
    if len(set(drawn)) < least:
        return PersonComparison(*counts, None, False, f"Fewer than {least} instances are too few to judge one person.")
    return PersonComparison(*counts, _probability(indicators[:, 0] - indicators[:, 1], drawn, epsilon), False)


def _probability(differences: Floats, clusters: Sequence[Hashable], epsilon: float) -> float:
    mean = float(differences.mean())
    sums = np.bincount(number_values(clusters), weights=differences - mean)
    count = sums.size
    # With a cluster for each it is the variance of a mean.
    error = sqrt(float((sums**2).sum()) * count / (count - 1)) / differences.size
    if error == 0:
        return 0.0 if mean < epsilon else 1.0
    # Imported here: it takes longer than all other imports of a page.
    from scipy.special import stdtr

    return float(stdtr(count - 1, (mean - epsilon) / error))
