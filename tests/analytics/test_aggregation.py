"""Aggregation against published data and data whose truth is known because it was made up."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable
from typing import Any

import numpy as np
import pytest
from scipy.stats import spearmanr

from analytics.aggregation import (
    Aggregate,
    Answer,
    agreement_with_others,
    dawid_skene,
    glad,
    glad_objective,
    glad_posteriors,
    mace,
    read_answers,
    with_enough_answers,
)
from analytics.scores import Score
from tests.analytics.published import agreement_case


def seeded_mace(answers: Iterable[Answer]) -> Aggregate:
    return mace(answers, rng=np.random.default_rng(3))


METHODS: dict[str, Callable[[Iterable[Answer]], Aggregate]] = {
    "dawid_skene": dawid_skene,
    "mace": seeded_mace,
    "glad": glad,
}


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


# Two workers with the abilities 1 and 2 contradict each other about a task of log ease 0, that is ease 1.
CONTRADICTION = [("t", "w1", "a"), ("t", "w2", "b")]
PARAMETERS = np.array([1.0, 2.0, 0.0])
# s(1) = 0.7310586 and s(2) = 0.8807971.
CHANCE_OF_A = 0.2689414


def test_an_e_step_of_glad_is_that_of_a_hand_computation() -> None:
    posteriors, likelihood = glad_posteriors(read_answers(CONTRADICTION), PARAMETERS)
    # a: 0.7310586 (1 - 0.8807971) = 0.0871443; b: (1 - 0.7310586) 0.8807971 = 0.2368828.
    assert posteriors[0] == pytest.approx([CHANCE_OF_A, 1 - CHANCE_OF_A], abs=1e-6)
    # log((0.0871443 + 0.2368828) / 2), less half of the squared distances 0, 1 and 1 from the mean of the priors.
    assert likelihood == pytest.approx(np.log(0.1620136) - 1, abs=1e-6)


def test_with_three_labels_the_wrong_ones_share_what_is_left() -> None:
    answers = [*CONTRADICTION, ("u", "w1", "c")]
    posteriors, _ = glad_posteriors(read_answers(answers), np.array([1.0, 2.0, 0.0, 0.0]))
    # a: 0.7310586 x 0.1192029 / 2; b: 0.2689414 / 2 x 0.8807971; c: 0.2689414 / 2 x 0.1192029 / 2.
    joint = np.array([0.0435722, 0.1184414, 0.0080146])
    assert posteriors[0] == pytest.approx(joint / joint.sum(), abs=1e-5)
    assert posteriors[1] == pytest.approx([0.1344707, 0.1344707, 0.7310586], abs=1e-6)


def test_the_gradient_of_glad_is_that_of_a_hand_computation() -> None:
    given = np.array([CHANCE_OF_A, 1 - CHANCE_OF_A])
    _, gradient = glad_objective(PARAMETERS, read_answers(CONTRADICTION), given)
    # Residuals 0.2689414 - 0.7310586 and 0.7310586 - 0.8807971; the priors pull the second ability and the ease by 1.
    assert gradient == pytest.approx([0.4621172, 1.1497385, 0.7615942 - 1], abs=1e-6)


def test_the_gradient_of_glad_is_the_slope_of_its_objective() -> None:
    rng = np.random.default_rng(5)
    answers = [(f"t{rng.integers(6)}", f"w{rng.integers(4)}", "abc"[rng.integers(3)]) for _ in range(40)]
    table = read_answers(answers)
    parameters, given = rng.normal(size=len(table.workers) + len(table.tasks)), rng.random(40)
    _, gradient = glad_objective(parameters, table, given)
    step = 1e-6
    slopes = [
        (glad_objective(parameters + each, table, given)[0] - glad_objective(parameters - each, table, given)[0])
        / (2 * step)
        for each in step * np.eye(len(parameters))
    ]
    assert gradient == pytest.approx(slopes, abs=1e-6)


def test_glad_finds_the_order_of_abilities_and_of_difficulties_again() -> None:
    """Answers drawn from its own model: 9 workers of abilities -0.5 to 3.5, 400 tasks of log ease -2 to 2."""
    rng = np.random.default_rng(11)
    abilities, log_ease = np.linspace(-0.5, 3.5, 9), rng.uniform(-2, 2, 400)
    truth = rng.integers(2, size=400)
    right = rng.random((9, 400)) < 1 / (1 + np.exp(-abilities[:, None] * np.exp(log_ease)))
    answers = [
        (task, worker, int(truth[task]) if right[worker, task] else 1 - int(truth[task]))
        for worker in range(9)
        for task in range(400)
    ]
    found = glad(answers)
    assert min(found.abilities, key=lambda worker: found.abilities[worker]) == 0
    assert spearmanr(abilities, [found.abilities[worker] for worker in range(9)]).statistic > 0.95
    assert spearmanr(-log_ease, [found.difficulties[task] for task in range(400)]).statistic > 0.6
    assert list(found.skills) == list(found.abilities)
    by_majority = sum((right[:, task].sum() > 4) for task in range(400))
    assert sum(found.labels[task] == truth[task] for task in range(400)) > by_majority


def test_a_disputed_question_is_more_difficult_than_a_unanimous_one() -> None:
    answers = [(task, worker, "a") for task in ("t1", "t2", "t3") for worker in "vwxyz"]
    answers += [("t4", worker, "a" if worker in "vwx" else "b") for worker in "vwxyz"]
    found = glad(answers)
    assert found.difficulties["t4"] > found.difficulties["t1"]
    assert found.abilities["v"] > found.abilities["z"]
