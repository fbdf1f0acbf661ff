"""The kind `retrieve`: what is shown in which order, what is right, and what it cannot ask about."""

from typing import Any

import pytest

from studies.kinds import CannotAsk, ImageFacts, InstanceFacts, get_kind, posted_values, shown_order, usual_ask
from studies.kinds.base import digits_of

RETRIEVE = get_kind("retrieve")
PLACES = [f"image_{place}" for place in range(1, 11)]


def image_set(type: str = "static", *, images: int = 10, **source: Any) -> InstanceFacts:
    said = {"text": "The one in which the cat looks up.", "target": 6} | source
    shown = [ImageFacts(f"{place:064x}", 30, 20, f"img{place}.jpg") for place in range(images)]
    return InstanceFacts("kitchen", {}, {"set": shown}, said, type)


def content_of(instance: InstanceFacts) -> dict[str, Any]:
    (built,) = RETRIEVE.questions(instance, usual_ask(RETRIEVE), seed="s")
    return built.content


def orders(content: dict[str, Any]) -> set[tuple[str, ...]]:
    return {tuple(shown_order(RETRIEVE, content, seed="s", annotator=each, question=7)) for each in range(40)}


def test_the_description_stands_above_the_images_and_the_one_described_is_right() -> None:
    (built,) = RETRIEVE.questions(image_set(), usual_ask(RETRIEVE), seed="s")
    assert [text.text for text in RETRIEVE.question_content(built.content).texts] == [
        "The one in which the cat looks up."
    ]
    options = RETRIEVE.options(built.content)
    assert [option.key for option in options] == PLACES
    assert [option.picture.sha256[-1] for option in options if option.picture] == list("0123456789")
    assert built.right == "image_7"
    assert RETRIEVE.knows_right(usual_ask(RETRIEVE))


def test_nothing_of_a_question_but_its_right_answer_tells_the_target() -> None:
    first, other = (RETRIEVE.questions(image_set(target=target), usual_ask(RETRIEVE), seed="s")[0] for target in (2, 9))
    assert first.content == other.content
    assert (first.right, other.right) == ("image_3", "image_10")


def test_images_stand_in_another_order_for_everybody_but_those_of_a_video_in_time() -> None:
    assert len(orders(content_of(image_set("static")))) == len(orders(content_of(image_set("")))) == 40
    content = content_of(image_set("video"))
    assert orders(content) == {tuple(PLACES)}
    assert posted_values(RETRIEVE, content, PLACES) == {str(place): f"image_{place}" for place in range(1, 11)}


def test_answers_are_as_far_apart_as_their_places_in_a_video_and_only_there() -> None:
    scale = RETRIEVE.scale(content_of(image_set("video")))
    assert (scale.level, scale.values["image_1"], scale.values["image_10"]) == ("interval", 1, 10)
    assert RETRIEVE.scale(content_of(image_set("static"))).level == "nominal"


def test_ten_images_have_ten_keys_of_the_keyboard() -> None:
    assert digits_of(RETRIEVE.options(content_of(image_set()))) == ["1", "2", "3", "4", "5", "6", "7", "8", "9", "0"]


@pytest.mark.parametrize(
    ("instance", "sentence"),
    [
        (image_set(images=11), "has 11 images in the role set; retrieve needs 2 to 10"),
        (image_set(images=1, target=0), "has 1 images in the role set; retrieve needs 2 to 10"),
        (image_set(images=3, target=3), "It is unknown which image of instance kitchen"),
        (image_set(target=-1), "It is unknown which image of instance kitchen"),
        (image_set(target=None), "It is unknown which image of instance kitchen"),
        (image_set(text=""), "Instance kitchen has no description"),
        (InstanceFacts("kitchen", {}), "Instance kitchen has no description"),
    ],
)
def test_what_it_cannot_ask_about_is_said(instance: InstanceFacts, sentence: str) -> None:
    with pytest.raises(CannotAsk, match=sentence):
        content_of(instance)
