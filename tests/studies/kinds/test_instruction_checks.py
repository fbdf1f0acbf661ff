"""Instruction checks: the text says which option to choose, and that option is right."""

from typing import Any

import pytest

from studies.kinds import KINDS, Answer, get_kind, usual_ask

IMAGES = [{"key": key, "image": "0" * 64, "width": 8, "height": 8} for key in ("image", "negative_image")]
SCALE = {"steps": 3, "lowest": "not at all", "highest": "perfectly", "level": "ordinal"}


@pytest.mark.parametrize(
    ("kind", "content", "number", "named", "right", "wrong"),
    [
        ("best_of_n", {"options": IMAGES, "becomes": "image"}, 0, "None of these", "none", "image"),
        ("best_of_n", {"options": IMAGES, "becomes": "image"}, 7, "None of these", "none", "image"),
        ("ambiguity", {"options": IMAGES}, 0, "Both", "both", "image"),
        ("rating", {"images": IMAGES[:1], "scale": SCALE}, 0, "1 (not at all)", "1", "3"),
        ("rating", {"images": IMAGES[:1], "scale": SCALE}, 5, "3 (perfectly)", "3", "1"),
        (
            "compare",
            {"options": IMAGES, "criteria": ["Fit", "Beauty"], "ties": True},
            0,
            "No difference",
            {"Fit": "no difference", "Beauty": "no difference"},
            {"Fit": "no difference", "Beauty": "image"},
        ),
    ],
)
def test_the_text_is_the_instruction_and_following_it_is_right(
    kind: str, content: dict[str, Any], number: int, named: str, right: Any, wrong: Any
) -> None:
    asked = get_kind(kind)
    shown, answer = asked.instruction_check(
        content | {"caption": "A vase."}, number, lambda option: f"Choose {option.label}."
    )
    assert [text.text for text in asked.question_content(shown).texts] == [f"Choose {named}."]
    assert answer == right
    scores = [
        asked.score(shown, answer, Answer(value, value if isinstance(value, str) else "")) for value in (right, wrong)
    ]
    assert scores[0] == 1
    assert scores[1] != 1


def test_kinds_without_a_text_or_an_option_of_a_fixed_name_have_none() -> None:
    can = {name for name in KINDS if get_kind(name).can_instruct(usual_ask(get_kind(name)))}
    assert can == {"best_of_n", "ambiguity", "rating", "compare"}
    assert not get_kind("rating").can_instruct(usual_ask(get_kind("rating")) | {"caption": ""})
    assert not get_kind("compare").can_instruct(usual_ask(get_kind("compare")) | {"ties": False})
