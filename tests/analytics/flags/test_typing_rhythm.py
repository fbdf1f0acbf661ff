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
    # 60 keys in 15 s are 4 a second; a fast typist reaches 12.
    assert find("typing_rhythm", [_written()] * 10) is None
    assert find("typing_rhythm", [_written(paused_ms=0, from_first_key_ms=5_000)] * 10) is None
    assert find("typing_rhythm", [SCRIPT] * 2) is None


def test_spares_phones_dictation_and_pasted_words() -> None:
    assert find("typing_rhythm", [_written(keys=12, paused_ms=0, from_first_key_ms=500)] * 10) is None
    assert find("typing_rhythm", [_written(keys=0, from_first_key_ms=None)] * 10) is None
    assert find("typing_rhythm", [_written(pastes=1, pasted=[20], paused_ms=0, from_first_key_ms=900)] * 10) is None


def test_spares_software_that_types_a_phrase_at_once() -> None:
    # Two phrases, each in an instant, 3.2 s apart and sent 0.3 s later: 60 keys in 3.5 s are 17 a second.
    assert find("typing_rhythm", [_written(pauses=1, paused_ms=3_200, from_first_key_ms=3_500)] * 10) is None
    # In 3.3 s, they are 18.2 a second.
    assert find("typing_rhythm", [_written(pauses=1, paused_ms=3_200, from_first_key_ms=3_300)] * 10) is not None
