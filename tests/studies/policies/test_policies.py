"""When each policy acts, with numbers counted by hand."""

from collections.abc import Mapping
from decimal import Decimal
from typing import Any

import pytest

from studies.policies import PolicyFacts, get_policy
from studies.policies.precise import least_values

FLAGGED: Mapping[str, Any] = {"flagged_above": 0.2, "sessions": 20}
GOLD: Mapping[str, Any] = {"gold_below": 0.7, "gold_answers": 10}
COST: Mapping[str, Any] = {"cost_above": "100.00"}
WAGE: Mapping[str, Any] = {"wage_below": "9.00", "sessions": 5}
PRECISE: Mapping[str, Any] = {"width": 0.5, "per": "person"}
BY_QUESTION: Mapping[str, Any] = {"width": 0.5, "per": "question"}
# Of ten equal values no interval is narrower than 0.472, and ten times 1 has that one; of nine 0.507.
TEN, NINE = (1.0,) * 10, (1.0,) * 9


def facts(**numbers: Any) -> PolicyFacts:
    return PolicyFacts(**numbers)


@pytest.mark.parametrize(
    ("name", "given", "numbers", "acts"),
    [
        ("flagged", FLAGGED, facts(sessions=40, flagged=12), True),
        ("flagged", FLAGGED, facts(sessions=40, flagged=8), False),
        ("flagged", FLAGGED, facts(sessions=40, flagged=9), True),
        ("flagged", FLAGGED, facts(sessions=19, flagged=19), False),
        ("flagged", FLAGGED, facts(sessions=20, flagged=5), True),
        ("flagged", FLAGGED, facts(), False),
        ("gold", GOLD, facts(gold_answers=10, gold_right=7), False),
        ("gold", GOLD, facts(gold_answers=10, gold_right=6), True),
        ("gold", GOLD, facts(gold_answers=9, gold_right=0), False),
        ("gold", GOLD, facts(), False),
        ("cost", COST, facts(cost=Decimal("100.00")), False),
        ("cost", COST, facts(cost=Decimal("100.01")), True),
        ("cost", COST, facts(), False),
        ("wage", WAGE, facts(wage=Decimal("8.99"), wage_sessions=5), True),
        ("wage", WAGE, facts(wage=Decimal("9.00"), wage_sessions=5), False),
        ("wage", WAGE, facts(wage=Decimal("8.99"), wage_sessions=4), False),
        ("wage", WAGE, facts(), False),
        ("precise", PRECISE, facts(people_right=TEN), True),
        ("precise", PRECISE, facts(people_right=NINE, questions_right=TEN), False),
        ("precise", BY_QUESTION, facts(questions_right=TEN), True),
        ("precise", PRECISE, facts(people_right=(0.0, 1.0) * 5), False),
        ("precise", PRECISE, facts(), False),
        # The values drift, so there is no interval to be narrow.
        ("precise", PRECISE, facts(people_right=(0.0,) * 200 + (1.0,) * 200), False),
        ("replace_excluded", {}, facts(excluded=1), True),
        ("replace_excluded", {}, facts(), False),
    ],
)
def test_it_acts_beyond_its_bound_and_with_enough_evidence(
    name: str, given: Mapping[str, Any], numbers: PolicyFacts, acts: bool
) -> None:
    assert get_policy(name).judge(given, numbers).crossed is acts


@pytest.mark.parametrize(
    ("name", "given", "numbers", "sentence"),
    [
        ("flagged", FLAGGED, facts(sessions=40, flagged=12), "12 of 40 sessions flagged (30 %), bound 20 %."),
        ("flagged", FLAGGED, facts(sessions=1, flagged=0), "0 of 1 session flagged (0 %), bound 20 %."),
        (
            "gold",
            GOLD,
            facts(gold_answers=1200, gold_right=600),
            "600 of 1,200 answers to gold questions right (50 %), bound 70 %.",
        ),
        ("gold", GOLD, facts(), "0 answers to gold questions, bound 70 %."),
        (
            "cost",
            COST,
            facts(cost=Decimal("1234.5"), currency="GBP"),
            "The cost is GBP 1,234.50, bound GBP 100.00.",
        ),
        (
            "wage",
            WAGE,
            facts(wage=Decimal("8.5"), wage_sessions=6),
            "The median wage of 6 sessions is USD 8.50 an hour, bound USD 9.00 an hour.",
        ),
        (
            "precise",
            PRECISE,
            facts(people_right=TEN),
            "The human score of 10 people is 100.0 % (95 % CI 52.8–100.0): 47.2 points wide, bound 50 points wide.",
        ),
        ("precise", PRECISE, facts(), "The human score of 0 people is unknown: There is nothing to count, bound 50 "),
        ("replace_excluded", {}, facts(excluded=2), "2 excluded answers had no other place."),
    ],
)
def test_its_sentence_says_the_numbers(
    name: str, given: Mapping[str, Any], numbers: PolicyFacts, sentence: str
) -> None:
    assert get_policy(name).judge(given, numbers).sentence.startswith(sentence)


def test_ten_people_are_the_fewest_for_an_interval_half_as_wide_as_the_scale() -> None:
    """d of n values is 2 (40^(1/n) - 1): 0.892 for 10 and 1.013 for 9, so widths of 0.472 and 0.503."""
    assert least_values(0.5) == 10
    assert least_values(0.999) == 1
