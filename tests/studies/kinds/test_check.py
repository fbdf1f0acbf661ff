"""The kind `check`: which statements are shown, what is an answer to them, and what is refused when a study is made."""

import random
from collections.abc import Mapping
from typing import Any

import pytest

from studies.kinds import CannotAsk, ImageFacts, InstanceFacts, NotAnAnswer, get_kind, last_keys, usual_ask

CHECK = get_kind("check")
VASE = InstanceFacts(
    key="vase",
    captions={"caption": "A blue vase.", "negative_caption": "A red vase."},
    images={"image": [ImageFacts(sha256="a" * 64, width=10, height=20, filename="vase.png")]},
)
ASK = usual_ask(CHECK) | {"captions": ["caption", "negative_caption"], "statements": ["It is raining."]}
ORDER = ["true", "false", "cannot tell"]


def content_of(ask: Mapping[str, Any]) -> dict[str, Any]:
    (built,) = CHECK.questions(VASE, ask, seed="s")
    assert built.right == ""
    return built.content


def test_captions_of_the_instance_come_first_then_what_is_said_of_every_image() -> None:
    content = content_of(ASK)
    assert [(group.key, group.text) for group in CHECK.groups(content)] == [
        ("caption", "A blue vase."),
        ("negative_caption", "A red vase."),
        ("It is raining.", "It is raining."),
    ]
    assert [text.text for text in CHECK.question_content(content).texts] == [
        "A blue vase.",
        "A red vase.",
        "It is raining.",
    ]
    assert [picture.sha256 for picture in CHECK.question_content(content).pictures] == ["a" * 64]


def test_an_instance_is_asked_about_the_statements_that_it_has() -> None:
    content = content_of(ASK | {"captions": ["caption", "third_caption"], "statements": []})
    assert [group.key for group in CHECK.groups(content)] == ["caption"]
    with pytest.raises(CannotAsk, match="vase has no statement to check"):
        CHECK.questions(VASE, ASK | {"captions": ["third_caption"], "statements": []}, seed="s")


def test_every_statement_is_answered_by_itself_and_all_of_them() -> None:
    content = content_of(ASK)
    assert last_keys(CHECK, content) == ORDER
    assert [option.digit for option in CHECK.options(content)] == ["1", "2", "3"]
    posted = {"choice-1": "true", "choice-2": "false", "choice-3": "cannot tell"}
    answer = CHECK.parse(content, ORDER, posted)
    assert answer.value == {"caption": "true", "negative_caption": "false", "It is raining.": "cannot tell"}
    assert answer.label == ""
    assert CHECK.labels(content, answer.label, answer.value) == answer.value
    assert CHECK.form_data(content, ORDER, answer.value) == posted
    for wrong, sentence in (
        ({"choice-3": ""}, "answers are missing"),
        ({"choice-2": "1"}, "options shown"),
        ({"choice-1": "maybe"}, "options shown"),
    ):
        with pytest.raises(NotAnAnswer, match=sentence):
            CHECK.parse(content, ORDER, posted | wrong)


def test_made_up_people_agree_more_often_than_not() -> None:
    content, dice = content_of(ASK), random.Random(5)
    said = [CHECK.simulate(content, ORDER, dice=dice) for _ in range(200)]
    for name in ("choice-1", "choice-2", "choice-3"):
        labels = [posted[name] for posted in said]
        assert max(map(labels.count, set(labels))) > 150
        assert len(set(labels)) == 3
