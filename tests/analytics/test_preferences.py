"""Scores by the model of Bradley and Terry: published examples, hand computations, the likelihood maximised anew."""

from collections.abc import Sequence
from itertools import combinations
from math import exp, log, sqrt
from typing import Any

import numpy as np
import pytest
from scipy.optimize import minimize

from analytics.preferences import ALL_TIED, NOTHING, Comparison, Limits, Preferences, preferences
from benchmarks.coverage import PreferenceDesign, coverage_of_preferences

TEAMS = ("Milwaukee", "Detroit", "Toronto", "New York", "Boston", "Cleveland", "Baltimore")
# Games won by the team of the row against that of the column: the American League's East in 1987 (Agresti, "Categorical
# data analysis", section on paired comparisons).
WON = (
    (0, 7, 9, 7, 7, 9, 11),
    (6, 0, 7, 5, 11, 9, 9),
    (4, 6, 0, 7, 7, 8, 12),
    (6, 8, 6, 0, 6, 7, 10),
    (6, 2, 6, 7, 0, 7, 12),
    (4, 4, 5, 6, 6, 0, 6),
    (2, 4, 1, 3, 1, 7, 0),
)
# Brands of chocolate pudding, two at a time: preferred the first, preferred the second, no preference (Davidson 1970).
PUDDING = {
    **{"12": (19, 22, 16), "13": (16, 19, 12), "23": (19, 19, 10), "14": (18, 23, 13), "24": (23, 19, 9)},
    **{"34": (19, 20, 15), "15": (13, 19, 18), "25": (16, 20, 12), "35": (16, 15, 17), "45": (17, 14, 16)},
    **{"16": (18, 21, 12), "26": (22, 20, 12), "36": (13, 18, 10), "46": (14, 19, 18), "56": (11, 21, 12)},
}


def answers(shown: str, *times: int) -> list[Comparison]:
    """Return so many answers for each item of `shown`, the last number of them ties, each to a question of its own."""
    preferred = [*shown, None]
    return [
        Comparison(tuple(shown), item, question=(shown, item, number), person=number)
        for item, so_many in zip(preferred, times, strict=False)
        for number in range(so_many)
    ]


def scores(found: Preferences) -> list[float]:
    assert found.reason is None
    return [each.score for each in found.standings if each.score is not None]


def limits(of: Limits | None) -> tuple[float | None, float | None]:
    assert of is not None
    return of.low, of.high


def test_the_american_leagues_east_of_1987() -> None:
    games = [
        Comparison((TEAMS[first], TEAMS[second]), TEAMS[winner])
        for first, second in combinations(range(7), 2)
        for winner, loser in ((first, second), (second, first))
        for _ in range(WON[winner][loser])
    ]
    found = preferences(games, TEAMS)
    *others, baltimore = scores(found)
    # Agresti's table, to the two decimals that it has: above Baltimore, in the order of TEAMS.
    assert [round(score - baltimore, 2) for score in others] == [1.58, 1.44, 1.29, 1.25, 1.11, 0.68]
    assert [each.rank for each in found.standings] == [1, 2, 3, 4, 5, 6, 7]
    assert (found.n, found.ties, found.tie_worth) == (273, 0, {})
    assert (found.standings[0].shown, found.standings[0].preferred) == (78, 50)


def test_davidsons_puddings_with_their_ties() -> None:
    found = preferences([one for shown, times in PUDDING.items() for one in answers(shown, *times)], "123456")
    worths = np.exp(scores(found))
    # Davidson's table: worths that add up to 1, and nu.
    assert (worths / worths.sum()).round(3).tolist() == [0.139, 0.173, 0.162, 0.165, 0.159, 0.202]
    assert found.tie_worth[2] == pytest.approx(0.747, abs=5e-4)


def test_two_items_by_hand() -> None:
    found = preferences(answers("ab", 6, 3), "ab")
    first, second = found.standings
    # Odds of 6 to 3, halved by the mean of 0; a logit of 9 answers has the variance 1/6 + 1/3.
    assert first.score == pytest.approx(log(2) / 2)
    assert second.score == pytest.approx(-log(2) / 2)
    assert first.error == pytest.approx(sqrt(1 / 6 + 1 / 3) / 2)
    # Ties move neither: Davidson's model of two items has a number for each of the three answers.
    with_ties = preferences(answers("ab", 6, 3, 3), "ab")
    assert scores(with_ties) == pytest.approx([log(2) / 2, -log(2) / 2])
    # A tie is 3 / 12, and nu times the geometric mean of worths 2 and 1 over their sum.
    assert with_ties.tie_worth[2] == pytest.approx(3 / sqrt(6 * 3))
    assert [(each.shown, each.preferred, each.tied) for each in with_ties.standings] == [(12, 6, 3), (12, 3, 3)]


def test_three_at_once_by_hand_and_four_by_maximising_the_likelihood_anew() -> None:
    # Luce: worths are the shares, whatever their mean is set to.
    of_three = np.exp(scores(preferences(answers("abc", 8, 4, 2), "abc")))
    assert (of_three / of_three[2]).tolist() == pytest.approx([4, 2, 1])
    mixed = [
        *answers("abcd", 9, 6, 5, 2, 4),
        *answers("abc", 3, 4, 1, 2),
        *answers("bd", 7, 3, 1),
        *answers("cd", 2, 5),
    ]
    assert scores(preferences(mixed, "abcd")) == pytest.approx(by_brute_force(mixed, "abcd"), abs=1e-4)


def by_brute_force(comparisons: Sequence[Comparison], items: str) -> list[float]:
    """Return the scores that a general optimiser finds, from the definition of the model."""
    sizes = sorted({len(one.shown) for one in comparisons if one.preferred is None})

    def minus_likelihood(free: np.ndarray) -> float:
        score = dict(zip(items, [0.0, *free], strict=False))
        nu = dict(zip(sizes, np.exp(free[len(items) - 1 :]), strict=True))
        total = 0.0
        for one in comparisons:
            own = [score[item] for item in one.shown]
            tie = nu.get(len(own), 0) * exp(sum(own) / len(own))
            chosen = tie if one.preferred is None else exp(score[one.preferred])
            total -= log(chosen / (sum(map(exp, own)) + tie))
        return total

    start = np.zeros(len(items) - 1 + len(sizes))
    options: Any = {"maxiter": 20_000, "maxfev": 20_000}
    best = minimize(minus_likelihood, start, method="Nelder-Mead", tol=1e-11, options=options).x
    found = np.array([0.0, *best[: len(items) - 1]])
    return [float(score) for score in found - found.mean()]


def test_answers_to_one_question_are_held_together() -> None:
    one_each = [*answers("ab", 20, 10), *answers("bc", 20, 10), *answers("ac", 20, 10)]
    apart, together = (
        preferences(several, "abc").standings[0] for several in (one_each, [one for one in one_each for _ in range(4)])
    )
    # The same 90 questions, each answered four times alike: nothing more is known, unlike of independent answers.
    assert limits(together.over_questions) == pytest.approx(limits(apart.over_questions))
    assert apart.error == pytest.approx(2 * (together.error or 0))


def test_intervals_of_two_items_by_hand() -> None:
    # 30 questions, 20 for the first. Every answer moves the score by itself minus 2/3, over twice 30 x 2/3 x 1/3; the
    # squares of 20 x (1/3) and 10 x (2/3) add up to 20/3, and there is one question less than there are.
    found = preferences(answers("ab", 20, 10), "ab").standings[0].over_questions
    # Student's t of 29 degrees of freedom.
    half = 2.04523 * sqrt(20 / 3 * 30 / 29) / (2 * 20 / 3)
    assert limits(found) == pytest.approx((log(2) / 2 - half, log(2) / 2 + half), abs=1e-5)
    assert found is not None
    assert found.warning == ""


def test_answers_about_one_instance_are_held_together() -> None:
    # Item a is preferred in both questions about each of three instances, b in both about one. Scores log 3 / 2 and the
    # negative; each answer moves a's by its residual (1/4 or -3/4) / (2 x 8 x 3/16): by instance 1/6 three times and
    # -1/2. Four instances: variance (3/36 + 1/4) 4/3, t with 3 degrees 3.1824. By question it would be half.
    said = [(instance, "a" if instance < 3 else "b") for instance in range(4) for _ in range(2)]
    answers = [
        Comparison(("a", "b"), preferred, question, question, instance)
        for question, (instance, preferred) in enumerate(said)
    ]
    half = 3.18244631 * sqrt((3 / 36 + 1 / 4) * 4 / 3)
    found = preferences(answers, "ab").standings[0].over_questions
    assert limits(found) == pytest.approx((log(3) / 2 - half, log(3) / 2 + half))


@pytest.mark.parametrize(
    ("tastes", "instances"),
    [(PreferenceDesign(20, 2, 0.0, 1.0, 2), 25), (PreferenceDesign(20, 2, 0.5, 1.0, 4), 25)],
    ids=str,
)
def test_intervals_of_scores_hold_the_truth_as_often_as_they_promise(tastes: PreferenceDesign, instances: int) -> None:
    # 100 data sets of four scores, which hang together: 95 % of them come out under 91 % once in 300 times.
    held, widths = coverage_of_preferences(tastes, 100, np.random.default_rng(6), instances)
    independent, over_instances, over_both = held
    assert independent < 0.9
    assert over_both >= 0.91
    assert widths[1] <= 1.15
    if not tastes.of_person:
        assert over_instances >= 0.91
        assert widths[0] <= 1.15


def test_other_people_take_five_and_few_questions_have_a_warning() -> None:
    four, five = (preferences(answers("ab", people, 3), "ab").standings[0] for people in (4, 5))
    assert four.over_both == Limits(None, None, "Needs at least 5 people; there are 4.")
    assert "Fewer than 20 questions" in str(four.over_questions)
    assert None not in limits(five.over_both)


@pytest.mark.parametrize(
    ("comparisons", "reason"),
    [
        ([], NOTHING),
        (answers("ab", 0, 0, 3), ALL_TIED),
        # Ties do not help: the more worth a has, the likelier all of it.
        *((answers("ab", 3, 0, ties), "Nothing else was ever preferred to a, so that") for ties in (0, 2)),
        ([*answers("ab", 1, 1), *answers("bc", 2, 0)], "c was never preferred to any of the others"),
        ([*answers("ab", 1, 1), *answers("bc", 2, 0), *answers("cd", 1, 1)], "was ever preferred to a or b, so"),
        ([*answers("ab", 1, 1), *answers("cd", 1, 1)], "a and b never stood beside c or d"),
    ],
)
def test_scores_that_cannot_be_had_have_a_reason(comparisons: list[Comparison], reason: str) -> None:
    items = sorted({item for one in comparisons for item in one.shown})
    found = preferences(comparisons, items)
    assert reason in str(found.reason)
    assert {(each.score, each.rank, each.over_questions) for each in found.standings} <= {(None, None, None)}
    assert found.n == len(comparisons)


def test_who_only_ties_has_a_score_and_who_nobody_saw_has_none() -> None:
    found = preferences([*answers("ab", 0, 0, 1), *answers("bc", 1, 1, 1)], "abc")
    # Nobody is ahead of anybody; both pairs together are tied twice of four times, so that nu over 2 + nu is a half.
    assert scores(found) == pytest.approx([0, 0, 0], abs=1e-9)
    assert found.tie_worth[2] == pytest.approx(2)
    assert [each.rank for each in found.standings] == [1, 1, 1]
    # An item that nobody saw has no score, and the others have theirs.
    found = preferences(answers("ab", 2, 1), "abz")
    assert [each.score is None for each in found.standings] == [False, False, True]
    assert found.standings[2].shown == 0


@pytest.mark.parametrize(
    ("comparison", "sentence"),
    [
        (Comparison(("a",), "a"), "A comparison needs two or more"),
        (Comparison(("a", "a"), "a"), "A comparison needs two or more"),
        (Comparison(("a", "y"), "a"), "an item that is not one of"),
        (Comparison(("a", "b"), "c"), "was preferred, but not shown"),
    ],
)
def test_what_is_no_comparison_is_refused(comparison: Comparison, sentence: str) -> None:
    with pytest.raises(ValueError, match=sentence):
        preferences([comparison], "abc")
