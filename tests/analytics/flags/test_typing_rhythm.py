from dataclasses import replace
from typing import Any

from tests.analytics.flags.made import TYPED, find, sentence


def _written(**writing: Any) -> dict[str, Any]:
    return {"label": None, "text": "x" * 60, "writing": replace(TYPED, **writing)}


# 60 keys in 1.5 s of typing are 40 a second.
SCRIPT = _written(pauses=0, paused_ms=0, from_first_key_ms=1_500)


def test_finds_a_program_that_types() -> None:
    found = find("typing_rhythm", [SCRIPT] * 3)
    assert found == {"fast": 3, "typed": 3, "slowest": 40.0}
    assert sentence("typing_rhythm", found) == (
        "3 of 3 typed texts had at least 40 keys a second; the fastest typists reach 12."
    )


def test_spares_people() -> None:
    # 60 keys in 12 s without pauses are 5 a second; a fast typist reaches 12.
    assert find("typing_rhythm", [_written()] * 10) is None
    assert find("typing_rhythm", [_written(paused_ms=0, from_first_key_ms=5_000)] * 10) is None
    assert find("typing_rhythm", [SCRIPT] * 2) is None


def test_spares_phones_dictation_and_pasted_words() -> None:
    assert find("typing_rhythm", [_written(keys=12, paused_ms=0, from_first_key_ms=500)] * 10) is None
    assert find("typing_rhythm", [_written(keys=0, from_first_key_ms=None)] * 10) is None
    assert find("typing_rhythm", [_written(pastes=1, pasted=[20], paused_ms=0, from_first_key_ms=900)] * 10) is None
