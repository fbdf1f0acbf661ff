"""Words and sentences of outcomes."""

import pytest

from analytics.outcomes import Outcome
from results.templatetags.outcomes import outcome_in, sentences_by_study
from studies.models import Study


@pytest.mark.parametrize(
    ("sentence", "parts"),
    [
        ("a: alpha is 0.1 (95 % CI 0–0.2; 4 people); b: alpha is 0.3.", 2),
        ("Humans get 87.5 % of groups right (4 people; 8 instances).", 1),
        ("People are right on 5 questions; every model is right on 0.", 1),
    ],
    ids=["two studies", "a semicolon in brackets", "two halves without a name"],
)
def test_only_what_is_said_of_several_studies_comes_apart(sentence: str, parts: int) -> None:
    assert len(sentences_by_study(sentence)) == parts
    assert "; ".join(sentences_by_study(sentence)) == sentence


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
