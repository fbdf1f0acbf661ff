"""The kind `rating`: what it shows, what can be answered, and what is refused when a study is made."""

import pytest

from studies.kinds import ImageFacts, InstanceFacts, NotAnAnswer, get_kind, posted_values, shown_order, usual_ask

RATING = get_kind("rating")
VASE = InstanceFacts(
    key="vase",
    captions={"caption": "A blue vase."},
    images={
        "image": [ImageFacts(sha256="a" * 64, width=10, height=20, filename="vase.png")],
        "generated": [ImageFacts(sha256="b" * 64, width=30, height=20, filename="drawn.png")],
    },
)


def test_an_image_and_its_caption_are_rated_on_the_scale_of_the_study() -> None:
    (built,) = RATING.questions(VASE, usual_ask(RATING) | {"steps": 3, "lowest": "poor", "highest": "good"}, seed="s")
    shown = RATING.question_content(built.content)
    assert [text.text for text in shown.texts] == ["A blue vase."]
    assert [picture.sha256 for picture in shown.pictures] == ["a" * 64]
    assert [option.label for option in RATING.options(built.content)] == ["1 (poor)", "2", "3 (good)"]
    assert [option.digit for option in RATING.options(built.content)] == ["1", "2", "3"]
    assert built.right == ""
    (built,) = RATING.questions(VASE, usual_ask(RATING) | {"steps": 10}, seed="s")
    assert [option.digit for option in RATING.options(built.content)][-2:] == ["9", "0"]


def test_several_images_are_rated_one_by_one_and_without_a_caption_two_together() -> None:
    asked = RATING.questions(VASE, usual_ask(RATING) | {"images": ["image", "generated"]}, seed="s")
    assert [built.variant for built in asked] == ["image", "generated"]
    (both,) = RATING.questions(VASE, usual_ask(RATING) | {"images": ["image", "generated"], "caption": ""}, seed="s")
    assert [picture.sha256 for picture in RATING.question_content(both.content).pictures] == ["a" * 64, "b" * 64]
    assert not RATING.question_content(both.content).texts


def test_steps_keep_their_order_and_post_their_number() -> None:
    (built,) = RATING.questions(VASE, usual_ask(RATING), seed="s")
    orders = {tuple(shown_order(RATING, built.content, seed="s", annotator=who, question=1)) for who in range(20)}
    assert orders == {("1", "2", "3", "4", "5")}
    order = list(orders.pop())
    assert posted_values(RATING, built.content, order) == {step: step for step in order}
    answer = RATING.parse(built.content, order, {"choice": "4"})
    assert (answer.label, answer.value) == ("4", "4")
    for wrong in ({}, {"choice": ""}, {"choice": "6"}, {"choice": "4.5"}):
        with pytest.raises(NotAnAnswer):
            RATING.parse(built.content, order, wrong)


def test_the_scale_is_ordinal_unless_the_study_says_that_its_steps_are_even() -> None:
    (built,) = RATING.questions(VASE, usual_ask(RATING), seed="s")
    assert RATING.scale(built.content).level == "ordinal"
    (built,) = RATING.questions(VASE, usual_ask(RATING) | {"level": "interval"}, seed="s")
    assert RATING.scale(built.content).level == "interval"
    assert RATING.scale(built.content).values["5"] == 5.0
