from math import atan, pi, sqrt
from typing import Any

import pytest

from analytics.alternative_annotator import (
    NOBODY,
    AlternativeAnnotator,
    alternative_annotator_test,
    benjamini_yekutieli,
    nearness,
)

PEOPLE = {"ann": [1, 1, 0, 0], "ben": [1, 1, 1, 0], "cem": [1, 0, 0, 0]}
MODEL = {0: 1, 1: 1, 2: 0, 3: 1}


def judged(people: dict[str, list[Any]], model: dict[Any, Any], **options: Any) -> AlternativeAnnotator:
    rows = [(answer, who, at) for who, given in people.items() for at, answer in enumerate(given) if answer is not None]
    answers, who, instances = zip(*rows, strict=True)
    return alternative_annotator_test(answers, who, instances, model, **options)


def t_below(t: float) -> float:
    """Return the probability that Student's t with three degrees of freedom lies below t (its closed form)."""
    return 0.5 + (t / sqrt(3) / (1 + t * t / 3) + atan(t / sqrt(3))) / pi


def test_the_model_is_compared_with_each_person_by_agreement_with_the_others() -> None:
    came_out = judged(PEOPLE, MODEL, epsilon=0.5, least_instances=4)
    # Against ann, ben and cem are the others. Instances 0 to 2: the model and ann agree equally well with them (1, 1/2,
    # 1/2). Instance 3: both say 0, as ann does and the model does not. So d = 0, 0, 0, 1: t = (1/4 - 1/2) / (1/2 / 2).
    ann, ben, cem = came_out.people
    assert (ann.n, ann.advantage, ann.persons_advantage) == (4, 0.75, 1)
    assert ann.p == pytest.approx(t_below(-1))
    # Against ben: d = 0, 0, -1, 1, with a variance of 2/3: t = (0 - 1/2) / sqrt(2/3 / 4). Against cem: d = 0, -1, 0, 1.
    for person in (ben, cem):
        assert (person.advantage, person.persons_advantage) == (0.75, 0.75)
        assert person.p == pytest.approx(t_below(-0.5 / sqrt(2 / 12)))
    assert came_out.advantage == 0.75
    assert (came_out.winning_rate, came_out.passes, came_out.n_tested) == (0, False, 3)


@pytest.mark.parametrize(("rate", "winning_rate"), [(0.35, 0), (0.4, 1), (0.5, 1)])
def test_the_winning_rate_is_corrected_for_many_people(rate: float, winning_rate: float) -> None:
    # The probabilities are 0.154, 0.154 and 0.196, and the bounds i rate / (3 x 11/6): at 0.35 0.064, 0.127 and 0.191,
    # all too low; at 0.4 0.073, 0.145 and 0.218, so that the third lets all pass.
    came_out = judged(PEOPLE, MODEL, epsilon=0.5, least_instances=4, false_discovery_rate=rate)
    assert (came_out.winning_rate, came_out.passes) == (winning_rate, winning_rate == 1)
    assert [each.wins for each in came_out.people] == [winning_rate == 1] * 3


@pytest.mark.parametrize(
    ("probabilities", "rate", "rejected"),
    [
        ([0.6, 0.001, 0.02], 0.05, [False, True, False]),
        # 0.05 x 6/11 = 0.0273 is the bound of the largest of three, which lets the smaller ones pass with it.
        ([0.027, 0.02, 0.025], 0.05, [True, True, True]),
        ([0.028, 0.02, 0.025], 0.05, [False, False, False]),
        ([0.05], 0.05, [True]),
        ([], 0.05, []),
    ],
)
def test_false_discoveries_are_bounded_however_tests_depend(
    probabilities: list[float], rate: float, rejected: list[bool]
) -> None:
    assert benjamini_yekutieli(probabilities, rate) == rejected


def test_who_says_what_everybody_says_wins_over_everybody() -> None:
    same = {"ann": [0, 1] * 15, "ben": [0, 1] * 15, "cem": [0, 1] * 15}
    came_out = judged(same, dict(enumerate([0, 1] * 15)))
    assert (came_out.winning_rate, came_out.advantage, came_out.passes) == (1, 1, True)
    # Nothing varies: every difference is 0, under epsilon.
    assert [each.p for each in came_out.people] == [0, 0, 0]
    worst = judged(same, dict(enumerate([1, 0] * 15)))
    assert (worst.winning_rate, worst.advantage) == (0, 0)
    assert [each.p for each in worst.people] == [1, 1, 1]


def test_two_people_are_too_few_to_leave_one_out() -> None:
    came_out = judged({"ann": [0, 1] * 15, "ben": [0, 1] * 15}, dict(enumerate([0, 1] * 15)))
    assert (came_out.winning_rate, came_out.advantage, came_out.passes) == (None, None, None)
    assert came_out.reason == "Needs at least 3 people who answered the same; there are 2."


def test_questions_about_one_thing_are_tested_as_one() -> None:
    from scipy import stats

    # On half of thirty things the model alone agrees with the others, on both questions about each; on the others all
    # do. d is -1 on 30 questions and 0 on 30: mean -.5. By thing 15 lie 1 above and 15 below, 30/29 of 30 over 60^2.
    others = [0] * 60
    came_out = judged(
        {"ann": [1] * 30 + [0] * 30, "ben": others, "cem": others},
        dict(enumerate(others)),
        clusters={number: number // 2 for number in range(60)},
    )
    t = (-0.5 - 0.1) / sqrt(30 * 30 / 29 / 60**2)
    assert came_out.people[0].p == pytest.approx(float(stats.t.cdf(t, 29)))


def test_numbers_are_near_by_the_root_of_the_mean_square() -> None:
    assert nearness(3, [3, 4, 5]) == pytest.approx(-sqrt(5 / 3))
    # Others say 2 and 4; the model's 3 is nearer to them than ann's 5, and ben's 4 nearer to 5 and 4 than 3 is.
    came_out = judged(
        {"ann": [5] * 2, "ben": [4] * 2, "cem": [4] * 2}, {0: 3, 1: 3}, alignment=nearness, least_instances=2
    )
    assert [each.advantage for each in came_out.people] == [1, 0, 0]


def test_what_one_person_alone_or_the_model_did_not_answer_counts_for_nothing() -> None:
    people = {"ann": [1, 1, None, 1], "ben": [1, None, 1, 1], "cem": [1, 1, None, 1]}
    came_out = judged(people, {0: 1, 1: 1, 2: 1}, least_instances=3)
    assert [(each.n, each.p) for each in came_out.people] == [(2, None), (1, None), (2, None)]
    assert came_out.people[0].reason == "Fewer than 3 instances are too few to judge one person."
    assert (came_out.winning_rate, came_out.advantage, came_out.passes, came_out.reason) == (None, None, None, NOBODY)
    assert alternative_annotator_test([], [], [], {}).reason == NOBODY


def test_people_with_fewer_than_thirty_instances_are_not_tested() -> None:
    people = {"ann": [0] * 30, "ben": [0] * 30, "cem": [0] * 29}
    came_out = judged(people, dict.fromkeys(range(30), 0))
    assert [each.person for each in came_out.people if each.p is None] == ["cem"]
    assert came_out.n_tested == 2


@pytest.mark.parametrize(
    ("arguments", "options", "sentence"),
    [
        (([1], ["a", "b"], [0], {}), {}, "Each answer has a person and an instance, not 1 answers with 2 and 1."),
        (([1, 0], ["a", "a"], [0, 0], {}), {}, "'a' has answered 0 twice"),
        (([], [], [], {}), {"epsilon": 1}, "epsilon must be at least 0 and below 1"),
        (([], [], [], {}), {"false_discovery_rate": 0}, "They are 0.1 and 0"),
    ],
)
def test_what_cannot_be_tested_is_refused(arguments: Any, options: Any, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        alternative_annotator_test(*arguments, **options)
