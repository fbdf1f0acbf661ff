"""Aggregation against published data and data whose truth is known because it was made up."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest

from analytics.aggregation import Aggregate, Answer, agreement_with_others, dawid_skene, mace, with_enough_answers
from analytics.scores import Score
from tests.analytics.published import agreement_case


def seeded_mace(answers: Iterable[Answer]) -> Aggregate:
    return mace(answers, rng=np.random.default_rng(3))


METHODS: dict[str, Callable[[Iterable[Answer]], Aggregate]] = {"dawid_skene": dawid_skene, "mace": seeded_mace}


def simulated_answers(skills: list[float], tasks: int = 300) -> tuple[list[Answer], dict[str, str]]:
    """Four workers of `skills` answer each task: with that probability the truth, otherwise one of three at random."""
    rng = np.random.default_rng(8)
    truth = {f"t{task}": "abc"[rng.integers(3)] for task in range(tasks)}
    answers: list[Answer] = []
    for task, label in truth.items():
        for worker in rng.choice(len(skills), 4, replace=False):
            answers.append((task, f"w{worker}", label if rng.random() < skills[worker] else "abc"[rng.integers(3)]))
    return answers, truth


def test_dawid_and_skenes_patients_come_out() -> None:
    case = agreement_case("dawid_skene_1979_table1")
    answers = [
        (patient, f"observer {observer}", rating)
        for patient, observers in case["data"]["ratings"].items()
        for observer, ratings in enumerate(observers, 1)
        for rating in ratings
    ]
    expected = case["recomputed"]
    aggregate = dawid_skene(answers)
    assert list(aggregate.prevalence.values()) == pytest.approx(expected["class_marginals"], abs=1e-5)
    # Their table 2 prints the prevalences with two decimals.
    assert [round(share, 2) for share in aggregate.prevalence.values()] == [0.40, 0.42, 0.11, 0.07]
    assert aggregate.labels == expected["most_likely_class"]
    for patient, posterior in expected["posterior_2dp"].items():
        assert list(aggregate.posteriors[patient].values()) == pytest.approx(posterior, abs=0.00501)
    # Their worst observers are 2 and 3 (error-rates of table 2), and the first, asked three times, is not the best.
    skills = aggregate.skills
    assert sorted(skills, key=lambda observer: skills[observer])[:2] == ["observer 3", "observer 2"]


@pytest.mark.parametrize("method", METHODS)
def test_a_model_of_the_workers_beats_the_majority_of_good_and_bad_ones(method: str) -> None:
    skills = [0.95, 0.9, 0.9, 0.2, 0.15, 0.1, 0.1]
    answers, truth = simulated_answers(skills)
    aggregate = METHODS[method](answers)
    found = sum(aggregate.labels[task] == label for task, label in truth.items())
    votes: dict[Any, Counter[Any]] = defaultdict(Counter)
    for task, _, label in answers:
        votes[task][label] += 1
    assert found >= sum(votes[task].most_common(1)[0][0] == label for task, label in truth.items()) + 10
    ranked = sorted(aggregate.skills, key=lambda worker: -aggregate.skills[worker])
    assert set(ranked[:3]) == {"w0", "w1", "w2"}


def test_competence_and_accuracy_are_found_again() -> None:
    skills = [0.9, 0.8, 0.7, 0.6, 0.5, 0.3]
    answers, _ = simulated_answers(skills, tasks=2_000)
    competences = seeded_mace(answers).skills
    assert [competences[f"w{worker}"] for worker in range(6)] == pytest.approx(skills, abs=0.06)
    # Guessing hits one of three.
    accuracies = dawid_skene(answers).skills
    assert [accuracies[f"w{worker}"] for worker in range(6)] == pytest.approx(
        [skill + (1 - skill) / 3 for skill in skills], abs=0.06
    )


def test_who_always_answers_the_same_has_the_lowest_competence() -> None:
    labels = "abcabcabbc"
    answers = [(task, worker, label) for task, label in enumerate(labels) for worker in ("w1", "w2")]
    answers += [(task, "w3", "a") for task in range(len(labels))]
    skills = seeded_mace(answers).skills
    assert min(skills, key=lambda worker: skills[worker]) == "w3"


@pytest.mark.parametrize("method", METHODS)
def test_unanimous_answers_are_taken(method: str) -> None:
    aggregate = METHODS[method]([(task, worker, label) for task, label in ("ta", "ub") for worker in range(3)])
    assert aggregate.labels == {"t": "a", "u": "b"}
    assert [sum(posterior.values()) for posterior in aggregate.posteriors.values()] == pytest.approx([1, 1])
    assert all(0 <= skill <= 1 + 1e-9 for skill in aggregate.skills.values())
    assert METHODS[method]([("t", "w", "a")]).labels == {"t": "a"}
    assert METHODS[method]([]).labels == {}


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("label", [None, "", float("nan")])
def test_an_answer_without_label_is_refused(method: str, label: Any) -> None:
    with pytest.raises(ValueError, match="no label"):
        METHODS[method]([("t", "w", label)])


def test_the_same_seed_gives_the_same_labels() -> None:
    answers, _ = simulated_answers([0.6, 0.5, 0.4, 0.3], tasks=40)
    assert seeded_mace(answers) == seeded_mace(answers)


def test_agreement_with_others_counts_every_other_answer_to_the_same_task() -> None:
    # On t1 ann and ben say a, cleo says b; on t2 ann and cleo say c; dora is alone on t3.
    answers = [("t1", "ann", "a"), ("t1", "ben", "a"), ("t1", "cleo", "b"), ("t2", "ann", "c"), ("t2", "cleo", "c")]
    found = agreement_with_others([*answers, ("t3", "dora", "a")])
    assert found == {
        "ann": {"t1": Score(1, 2), "t2": Score(1, 1)},
        "ben": {"t1": Score(1, 2)},
        "cleo": {"t1": Score(0, 2), "t2": Score(1, 1)},
        "dora": {"t3": Score(0, 0)},
    }


def test_which_of_two_is_right_never_hangs_on_the_seed() -> None:
    # One task, two answers; and six tasks that two workers answer against each other.
    once = [("t", "u", "a"), ("t", "v", "b")]
    always = [(task, worker, "ab"[(task + index) % 2]) for task in range(6) for index, worker in enumerate("uv")]
    for seed in range(8):
        for answers in (once, always):
            assert set(mace(answers, rng=np.random.default_rng(seed)).labels.values()) == {None}


def test_tasks_with_fewer_than_three_answers_are_no_ground_for_a_model() -> None:
    three = [("t", worker, "a") for worker in "uvw"]
    assert with_enough_answers([*three, ("s", "u", "a"), ("s", "v", "b")]) == three
