from dataclasses import replace
from typing import Any

import pytest

from tests.analytics.flags.made import TYPED, find, sentence

TEXT = "A small dog runs behind the red ball near the river."


def _written(**writing: Any) -> dict[str, Any]:
    return {"label": None, "text": TEXT, "writing": replace(TYPED, **writing)}


# 52 characters in 2 s are 26 a second.
PASTED = _written(keys=1, pastes=1, pasted=[len(TEXT)]) | {"possible_seconds": 2.0}


def test_finds_texts_pasted_sooner_than_anybody_says_them() -> None:
    found = find("pasted_text", [PASTED] * 4 + [_written()])
    assert found == {"pasted": 4, "fast": 4, "texts": 5, "slowest": 26.0}
    assert sentence("pasted_text", found) == (
        "4 of 5 texts were pasted in one piece, with hardly a key pressed; 4 of them came at 26 or more characters a "
        "second since the question was shown, and people speak at most 20."
    )


@pytest.mark.parametrize(
    "took",
    [
        # Dictated by a program that pastes: 52 characters in 4 s are 13 a second.
        {"possible_seconds": 4.0},
        # Written in a translator, in another tab.
        {"possible_seconds": 2.0, "hidden_seconds": 30.0},
        {"possible_seconds": None, "hidden_seconds": 30.0},
    ],
)
def test_spares_people_who_dictate_or_write_in_another_program(took: dict[str, float | None]) -> None:
    assert find("pasted_text", [PASTED | took] * 20) is None


def test_spares_single_pastes_words_and_corrected_texts() -> None:
    assert find("pasted_text", [PASTED] * 3) is None
    assert find("pasted_text", [PASTED] * 5 + [_written()] * 5) is None
    assert find("pasted_text", [_written(pastes=2, pasted=[9, 7])] * 10) is None
    # Written elsewhere, and corrected here with 20 keys.
    corrected = _written(keys=20, pastes=1, pasted=[len(TEXT)]) | {"possible_seconds": 2.0}
    assert find("pasted_text", [corrected] * 10) is None


def test_spares_dictated_texts_and_those_of_which_nothing_was_recorded() -> None:
    assert find("pasted_text", [_written(keys=0)] * 10) is None
    assert find("pasted_text", [_written() | {"writing": None}] * 10) is None
