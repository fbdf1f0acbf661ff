"""The kind `compare`: which images stand beside each other, what is an answer, and what is refused."""

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from studies.kinds import CannotAsk, ImageFacts, InstanceFacts, NotAnAnswer, get_kind, shown_order, usual_ask

COMPARE = get_kind("compare")
MODELS = ["model-a", "model-b", "model-c"]


def image(letter: str) -> ImageFacts:
    return ImageFacts(sha256=letter * 64, width=10, height=20, filename=f"{letter}.png")


VASE = InstanceFacts(
    key="vase",
    captions={"caption": "A blue vase."},
    images={
        **{role: [image(role[-1])] for role in MODELS},
        "candidate": [image("1"), image("2"), image("3")],
        "photo": [image("4")],
        "album": [image(letter) for letter in "56789"],
    },
)
CRITERIA = ["Fits the description", "Is nicer to look at"]


def ask(**entries: Any) -> dict[str, Any]:
    return usual_ask(COMPARE) | {"images": MODELS, "criteria": CRITERIA} | entries


def content_of(asked: Mapping[str, Any]) -> dict[str, Any]:
    (built,) = COMPARE.questions(VASE, asked, seed="s")
    assert built.right == ""
    return built.content


def keys(content: Mapping[str, Any]) -> list[str]:
    return [option.key for option in COMPARE.options(content) if option.shuffled]


def test_all_images_stand_beside_each_other_below_the_caption() -> None:
    content = content_of(ask())
    assert [text.text for text in COMPARE.question_content(content).texts] == ["A blue vase."]
    assert keys(content) == MODELS
    assert [(group.key, group.text) for group in COMPARE.groups(content)] == [(each, each) for each in CRITERIA]
    (last,) = [option for option in COMPARE.options(content) if not option.shuffled]
    assert (last.key, last.digit, last.label) == ("no difference", "0", "No difference")
    assert not COMPARE.question_content(content_of(ask(caption=""))).texts


def test_where_fewer_stand_at_once_every_combination_is_a_question() -> None:
    pairs = ask(at_once=2)
    assert COMPARE.variants(pairs) == ["model-a model-b", "model-a model-c", "model-b model-c"]
    asked = COMPARE.questions(VASE, pairs, seed="s")
    assert [built.variant for built in asked] == COMPARE.variants(pairs)
    assert [keys(built.content) for built in asked] == [variant.split() for variant in COMPARE.variants(pairs)]
    assert COMPARE.variants(ask(at_once=3)) == [""]


def test_images_of_one_role_are_called_by_their_places() -> None:
    assert keys(content_of(ask(images=["candidate"]))) == ["candidate-0", "candidate-1", "candidate-2"]


@pytest.mark.parametrize(
    ("images", "sentence"),
    [
        (["photo"], "has 1 images in photo; compare needs 2 to 4"),
        (["album"], "has 5 images in album; compare needs 2 to 4"),
        (["model-a", "candidate"], "3 images in the role candidate; it needs one"),
        (["model-a", "model-z"], "0 images in the role model-z; it needs one"),
    ],
)
def test_an_instance_that_cannot_be_asked_about_says_why(images: list[str], sentence: str) -> None:
    with pytest.raises(CannotAsk, match=sentence):
        COMPARE.questions(VASE, ask(images=images), seed="s")


def test_what_is_posted_is_where_an_image_stood_and_what_is_stored_is_which_it_was() -> None:
    content = content_of(ask())
    order = shown_order(COMPARE, content, seed="s", annotator=1, question=1)
    posted = {"choice-1": "2", "choice-2": "no difference"}
    answer = COMPARE.parse(content, order, posted)
    assert answer.value == {CRITERIA[0]: order[1], CRITERIA[1]: "no difference"}
    assert COMPARE.labels(content, answer.label, answer.value) == answer.value
    assert COMPARE.form_data(content, order, answer.value) == posted
    for wrong, sentence in (
        ({"choice-1": ""}, "answers are missing"),
        ({"choice-2": "4"}, "options shown"),
        ({"choice-2": "model-a"}, "options shown"),
    ):
        with pytest.raises(NotAnAnswer, match=sentence):
            COMPARE.parse(content, order, posted | wrong)


def test_without_ties_somebody_has_to_be_ahead() -> None:
    content = content_of(ask(ties=False))
    assert COMPARE.categories(content) == MODELS
    with pytest.raises(NotAnAnswer, match="options shown"):
        COMPARE.parse(content, MODELS, {"choice-1": "1", "choice-2": "no difference"})


def test_made_up_people_prefer_the_same_more_often_than_not() -> None:
    content, dice = content_of(ask()), random.Random(5)
    order = [*MODELS, "no difference"]
    said = Counter(
        COMPARE.parse(content, order, COMPARE.simulate(content, order, dice=dice)).value[CRITERIA[1]]
        for _ in range(300)
    )
    assert set(said) == {*MODELS, "no difference"}
    assert 20 < said["no difference"] < 80
    assert max(said[model] for model in MODELS) > 1.3 * min(said[model] for model in MODELS)
