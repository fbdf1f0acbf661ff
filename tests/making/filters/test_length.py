import pytest
from pydantic import ValidationError

from making.filters.base import CandidateText
from making.filters.length import Length


def reasons(judge: Length, *texts: str) -> list[str]:
    return [verdict.reason for verdict in judge.judge([CandidateText(text, "") for text in texts], frozenset())]


def test_texts_of_a_wrong_length_are_rejected_and_their_words_counted() -> None:
    judge = Length(at_least=2, at_most=3)
    texts = ["One.", "One, two.", "One two three", "One two three four"]
    assert reasons(judge, *texts) == ["It is shorter than 2 words.", "", "", "It is longer than 3 words."]
    verdicts = judge.judge([CandidateText(text, "") for text in texts], frozenset())
    assert [verdict.score for verdict in verdicts] == [1, 2, 3, 4]


def test_a_text_has_one_word_at_least() -> None:
    assert reasons(Length(), "", "One") == ["It is shorter than 1 words.", ""]
    with pytest.raises(ValidationError):
        Length(at_least=0)
