"""Words and sentences of outcomes."""

import pytest

from analytics.outcomes import Outcome
from results.templatetags.outcomes import outcome_in
from studies.models import Study


@pytest.mark.parametrize(
    ("rule", "outcome", "word"),
    [
        ("collected-v1", Outcome.ACCEPTED, "collected"),
        ("collected-v1", Outcome.NONE_YET, "undecided"),
        ("chosen-v1", Outcome.ACCEPTED, "accepted"),
    ],
)
def test_what_is_accepted_whatever_people_answer_is_collected(rule: str, outcome: Outcome, word: str) -> None:
    assert outcome_in(outcome, Study(rule=rule)) == word
