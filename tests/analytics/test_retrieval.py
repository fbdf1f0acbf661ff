"""ImageCoDe's numbers of a study small enough to be counted by hand."""

from collections import Counter
from collections.abc import Iterator, Sequence
from fractions import Fraction
from itertools import combinations
from math import factorial, prod
from statistics import NormalDist
from typing import Any

import pytest

from analytics.retrieval import (
    AnswerSelection,
    Coding,
    DescriptionOutcomes,
    Retrieval,
    accuracy_of_answers,
    accuracy_of_describers,
    accuracy_of_retrievers,
    alpha_intervals,
    alphas,
    phenomena,
    select_answers,
)
from analytics.scores import Score

# Description: its target, whether it was accepted, and the places that were chosen. A third stands where exactly one of
# the first two is right.
FOUND: dict[str, tuple[int, bool, Sequence[int]]] = {
    "d1": (3, True, (3, 3)),
    "d2": (5, True, (5, 7, 5)),
    "d3": (2, False, (2, 9, 9)),
    "d4": (6, False, (1, 4)),
}


def retrievals(found: dict[str, tuple[int, bool, Sequence[int]]] = FOUND) -> list[Retrieval]:
    """Return the answers, the first of each description by ann, the second by ben, the third by cleo."""
    return [
        Retrieval(description, person, place, place == target, number == 2, accepted, "dora")
        for description, (target, accepted, places) in found.items()
        for number, (person, place) in enumerate(zip(("ann", "ben", "cleo"), places, strict=False))
    ]


def test_nominal_alpha_three_ways() -> None:
    # Observed disagreement: in a unit of m answers, the ordered pairs that differ over m - 1; their sum over the n
    # answers. Expected: (n^2 - sum of squared counts) / (n (n - 1)). Alpha: 1 - observed / expected.
    #
    # All: d1 0, d2 4/2, d3 4/2, d4 2/1 make 6/10. Counts 1 2 3 4 5 7 9: 1 1 2 1 2 1 2, squared 16: (100 - 16)/90 =
    # 14/15. 1 - (3/5)(15/14) = 5/14.
    # First: d1 0, d2 2, d3 2, d4 2 make 6/8. Counts: 3 twice, six others once, squared 10: (64 - 10)/56 = 27/28.
    # 1 - (3/4)(28/27) = 2/9.
    # Accepted: d1 0, d2 4/2 make 2/5. Counts: 3 and 5 twice, 7 once, squared 9: (25 - 9)/20 = 4/5.
    # 1 - (2/5)(5/4) = 1/2.
    found = alphas(retrievals(), metric="nominal")
    assert list(found) == [AnswerSelection.ALL, AnswerSelection.FIRST, AnswerSelection.ACCEPTED]
    assert [each.value for each in found.values()] == pytest.approx([5 / 14, 2 / 9, 1 / 2])
    sizes = [(each.n_units, each.n_pairable, each.n_ratings, each.n_raters) for each in found.values()]
    assert sizes == [(4, 4, 10, 3), (4, 4, 8, 2), (2, 2, 5, 3)]


def test_interval_alpha_three_ways() -> None:
    # The same with squared differences. Expected: (2 n sum of squares - 2 square of the sum) / (n (n - 1)).
    #
    # All: d1 0; d2 two pairs of 4 both ways, 16/2 = 8; d3 two of 49 both ways, 196/2 = 98; d4 9 both ways, 18: 124/10.
    # Sum 48, squares 300: (2 * 10 * 300 - 2 * 2304)/90 = 232/15. 1 - (62/5)(15/232) = 23/116.
    # First: 8 + 98 + 18 = 124 over 8. Sum 34, squares 194: (2 * 8 * 194 - 2 * 1156)/56 = 99/7.
    # 1 - (31/2)(7/99) = -19/198.
    # Accepted: 8/5. Sum 23, squares 117: (2 * 5 * 117 - 2 * 529)/20 = 28/5. 1 - (8/5)(5/28) = 5/7.
    found = alphas(retrievals(), metric="interval")
    assert [each.value for each in found.values()] == pytest.approx([23 / 116, -19 / 198, 5 / 7])


def of_places(*units: Sequence[int]) -> list[Retrieval]:
    """Return answers to descriptions of which nothing is accepted, the third of each added."""
    return [
        Retrieval(description, person, place, right=False, added=person == 2)
        for description, places in enumerate(units)
        for person, place in enumerate(places)
    ]


def alpha_of(units: Sequence[Sequence[int]], times: Sequence[int]) -> float | None:
    """Return nominal alpha of units, each so many times, by the sums at the head of the tests above."""
    n = sum(len(unit) * each for unit, each in zip(units, times, strict=True))
    labels: Counter[int] = Counter()
    observed = Fraction(0)
    for unit, each in zip(units, times, strict=True):
        labels.update({place: unit.count(place) * each for place in set(unit)})
        differing = sum(a != b for i, a in enumerate(unit) for j, b in enumerate(unit) if i != j)
        observed += Fraction(differing * each, len(unit) - 1)
    expected = Fraction(n**2 - sum(count**2 for count in labels.values()), n - 1)
    return float(1 - observed / expected) if expected else None


def resamples_of(units: Sequence[Sequence[int]]) -> Iterator[tuple[float, float]]:
    """Yield the alpha of every set of as many units that can be drawn from `units`, with its probability."""
    n = len(units)
    for bars in combinations(range(2 * n - 1), n - 1):
        times = [right - left - 1 for left, right in zip((-1, *bars), (*bars, 2 * n - 1), strict=True)]
        value = alpha_of(units, times)
        if value is not None:
            yield value, factorial(n) / prod(map(factorial, times)) / n**n


def test_the_interval_of_alpha_is_that_of_all_resamples_there_can_be() -> None:
    # Six descriptions: 462 different resamples, so that their distribution needs no drawing. BCa by Efron and
    # Tibshirani 1993, equations 14.9, 14.10 and 14.15. Of 1,000 that are drawn, the share below a value has a standard
    # error of at most 0.005 at the percentiles: the limits lie within three of them.
    units = [(3, 3), (5, 5), (7, 7), (1, 2), (4, 6, 4), (8, 9)]
    every = sorted(resamples_of(units))
    value = alpha_of(units, [1] * 6)
    assert value is not None
    below = sum(share * (0.5 if each == value else each < value) for each, share in every)
    without = [alpha_of(units[:left] + units[left + 1 :], [1] * 5) or 0 for left in range(6)]
    apart = [sum(without) / 6 - each for each in without]
    acceleration = sum(each**3 for each in apart) / (6 * sum(each**2 for each in apart) ** 1.5)
    normal = NormalDist()
    bias = normal.inv_cdf(below)

    def at(share: float) -> float:
        total = 0.0
        for each, probability in every:
            total += probability
            if total >= share:
                return each
        return every[-1][0]

    found = alpha_intervals(of_places(*units), metric="nominal", seed=7)[AnswerSelection.ALL]
    assert (found.method, found.n) == ("BCa", 6)
    for limit, tail in ((found.low, 0.025), (found.high, 0.975)):
        shifted = bias + normal.inv_cdf(tail)
        percentile = normal.cdf(bias + shifted / (1 - acceleration * shifted))
        assert limit is not None
        assert at(percentile - 0.015) <= limit <= at(percentile + 0.015)


def test_intervals_of_the_three_alphas_stand_on_what_these_stand_on() -> None:
    # Of (4, 6, 4) the first two answers alone, and a description with one answer counts for none.
    units = [(3, 3), (5, 5), (7, 7), (1, 2), (4, 6, 4), (8, 9)]
    every, first, same = (
        alpha_intervals(of_places(*places), metric="nominal", seed=7)
        for places in ((*units, (5,)), (*units[:4], (4, 6), (8, 9)), units)
    )
    assert every[AnswerSelection.FIRST] == first[AnswerSelection.FIRST] != every[AnswerSelection.ALL]
    assert every[AnswerSelection.ALL] == same[AnswerSelection.ALL]
    assert every[AnswerSelection.ACCEPTED].low is None


@pytest.mark.parametrize(
    "units",
    [[], [(3,), (4,)], [(3, 4)], [(3, 3), (3, 3)], [(number, number) for number in range(1, 11)] * 3],
    ids=["nothing", "one answer each", "one description", "one image", "always the same"],
)
def test_where_other_descriptions_cannot_be_told_of_the_interval_says_why(units: Sequence[Sequence[int]]) -> None:
    found = alpha_intervals(of_places(*units), metric="nominal", seed=7)[AnswerSelection.ALL]
    assert (found.low, found.high) == (None, None)
    assert found.reason


def test_one_answer_to_each_description_agrees_with_nobody() -> None:
    found = alphas(retrievals({"d1": (3, True, (3,)), "d2": (5, False, (4,))}), metric="nominal")
    assert {each.value for each in found.values()} == {None}
    assert all(each.reason for each in found.values())
    assert [(each.n_units, each.n_pairable, each.n_ratings) for each in found.values()] == [(2, 0, 2)] * 2 + [(1, 0, 1)]


def test_first_are_those_asked_for_at_first_and_not_those_that_are_left() -> None:
    # Ben's answer counts no more; cleo was asked only because his differed from ann's.
    left = [one for one in retrievals() if (one.description, one.retriever) != ("d2", "ben")]
    for which, people in ((AnswerSelection.FIRST, ["ann"]), (AnswerSelection.ALL, ["ann", "cleo"])):
        assert [one.retriever for one in select_answers(left, which) if one.description == "d2"] == people


def test_accuracy_is_averaged_over_retrievers_or_counts_each_answer_once() -> None:
    # Ann is right about d1, d2 and d3 of four, ben about d1 of four, cleo about d2 of two: (3/4 + 1/4 + 1/2) / 3.
    found = accuracy_of_retrievers(retrievals())
    assert found.value == pytest.approx(1 / 2)
    assert (found.n_people, found.n_questions, found.n_answers) == (3, 4, 10)
    assert 0 < (found.low or 0) < 0.5 < (found.high or 0) < 1
    # Right: ann 3 of 4, ben 1 of 4, cleo 1 of 2.
    assert accuracy_of_answers(retrievals()) == Score(5, 10)
    accepted = select_answers(retrievals(), AnswerSelection.ACCEPTED)
    # d1 is found by 2 of 2 and d2 by 2 of 3.
    assert accuracy_of_answers([one for one in accepted if one.description in {"d1", "d2"}]) == Score(4, 5)
    assert accuracy_of_answers([]).share is None


def test_accuracy_is_averaged_over_describers_where_they_are_known() -> None:
    def wrote(description: str, person: str | None) -> list[Retrieval]:
        target, accepted, places = FOUND[description]
        return [
            Retrieval(description, number, place, place == target, number == 2, accepted, person)
            for number, place in enumerate(places)
        ]

    # Dora's were found by 2 of 2 and 2 of 3, so 4 of 5, emil's by none of two; nobody knows who wrote d3.
    found = accuracy_of_describers(wrote("d1", "dora") + wrote("d2", "dora") + wrote("d3", None) + wrote("d4", "emil"))
    assert found.value == pytest.approx(float((Fraction(4, 5) + 0) / 2))
    assert (found.n_people, found.n_answers) == (2, 7)


def test_what_was_filtered_out_is_a_share_of_what_was_decided() -> None:
    found = DescriptionOutcomes(written=10, not_possible=2, retrieved=8, accepted=5, rejected=2, conflicting=1)
    assert found.undecided == 2
    assert found.filtered_out == Score(2, 7)
    assert DescriptionOutcomes(3, 0, 1, 0, 0, 1).filtered_out.reason is not None


def test_phenomena_are_told_of_the_descriptions_that_somebody_looked_at() -> None:
    codings: dict[Any, Coding] = {
        "d1": Coding(("s",), ("s", "con")),
        "d2": Coding((), ("s", "con")),
        "d3": Coding(("s", "con"), ("con",)),
    }
    con, s = phenomena(retrievals(), codings)
    assert (con.code, con.found) == ("con", Score(1, 3))
    # Nobody looked for "s" in d3, and d4 was not looked at: with it only d1, whose two answers are right.
    assert (s.code, s.found) == ("s", Score(1, 2))
    assert (s.with_it.value, s.with_it.n_questions, s.with_it.n_answers) == (1, 1, 2)
    # Without it d2: ann and cleo are right, ben is not.
    assert s.without_it.value == pytest.approx(2 / 3)
    # With "con" d3: ann is right, ben and cleo are not.
    assert con.with_it.value == pytest.approx(1 / 3)
    # One that was never found has no accuracy, and says why.
    (found,) = phenomena(retrievals(), {"d1": Coding((), ("neg",))})
    assert (found.found, found.with_it.value, found.with_it.n_answers) == (Score(0, 1), None, 0)
    assert found.with_it.reason
