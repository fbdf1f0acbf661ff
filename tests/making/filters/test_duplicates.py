import pytest

from making.filters.base import CandidateText
from making.filters.duplicates import Duplicates

PARENT = "A dog on a table."
OF_PARENT = "It has the same words as the text that it was made from."
OF_ANOTHER = "It has the same words as another text of the project."


def reasons(judge: Duplicates, *texts: str, known: frozenset[str] = frozenset()) -> list[str]:
    return [verdict.reason for verdict in judge.judge([CandidateText(text, PARENT) for text in texts], known)]


@pytest.mark.parametrize("text", [PARENT, "a dog on a table", "A DOG,  on a table!"])
def test_a_text_with_the_words_of_its_parent_is_no_negative(text: str) -> None:
    assert reasons(Duplicates(), text) == [OF_PARENT]


def test_a_text_that_is_known_or_came_before_in_the_batch_is_rejected() -> None:
    found = reasons(Duplicates(), "A cup.", "a CUP", "A pan.", "A pot.", known=frozenset({"a pan"}))
    assert found == ["", OF_ANOTHER, OF_ANOTHER, ""]


def test_the_order_of_words_counts() -> None:
    assert reasons(Duplicates(), "A table on a dog.", "On a dog a table.") == ["", ""]
