"""The kind `rating`: what it shows, what can be answered, and what is refused when a study is made."""

import pytest

from studies.design import DesignRefused, read_design
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
    shown = RATING.shown(built.content)
    assert [text.text for text in shown.texts] == ["A blue vase."]
    assert [picture.sha256 for picture in shown.pictures] == ["a" * 64]
    assert [option.label for option in RATING.options(built.content)] == ["1 (poor)", "2", "3 (good)"]
    assert [option.digit for option in RATING.options(built.content)] == ["1", "2", "3"]
    assert built.right == ""


def test_several_images_are_rated_one_by_one_and_without_a_caption_two_together() -> None:
    asked = RATING.questions(VASE, usual_ask(RATING) | {"images": ["image", "generated"]}, seed="s")
    assert [built.variant for built in asked] == ["image", "generated"]
    (both,) = RATING.questions(VASE, usual_ask(RATING) | {"images": ["image", "generated"], "caption": ""}, seed="s")
    assert [picture.sha256 for picture in RATING.shown(both.content).pictures] == ["a" * 64, "b" * 64]
    assert not RATING.shown(both.content).texts


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


def test_the_tenth_step_has_a_key_too() -> None:
    (built,) = RATING.questions(VASE, usual_ask(RATING) | {"steps": 10}, seed="s")
    assert [option.digit for option in RATING.options(built.content)][-2:] == ["9", "0"]


def test_the_scale_is_ordinal_unless_the_study_says_that_its_steps_are_even() -> None:
    (built,) = RATING.questions(VASE, usual_ask(RATING), seed="s")
    assert RATING.scale(built.content).level == "ordinal"
    (built,) = RATING.questions(VASE, usual_ask(RATING) | {"level": "interval"}, seed="s")
    assert RATING.scale(built.content).level == "interval"
    assert RATING.scale(built.content).values["5"] == 5.0


@pytest.mark.parametrize(
    ("ask", "line", "sentence"),
    [
        ("steps: 1", 4, "it must be at least 2"),
        ("steps: 11", 4, "it must be at most 10"),
        ("lowest: '2'", 4, "which is the number of another step"),
        ("lowest: best\n  highest: best", 5, "nobody could tell them apart"),
        ("caption: ''", 4, "two images are compared"),
        ("colour: red", 4, "`colour` is not known here"),
        ("images: 3", 4, "must be a list"),
    ],
)
def test_what_is_wrong_with_a_scale_is_said_with_its_line(ask: str, line: int, sentence: str) -> None:
    with pytest.raises(DesignRefused) as refused:
        read_design(f"study: fit\ntitle: Fit\nask:\n  {ask}\nkind: rating\n")
    (problem,) = refused.value.problems
    assert sentence in problem.message
    assert problem.line in (line, 3)


def test_ratings_are_collected_unless_the_study_asks_for_another_rule() -> None:
    design = read_design("study: fit\ntitle: Fit\nkind: rating\n")
    assert (design.rule, design.purpose) == ("collected-v1", "collection")
    assert read_design("study: fit\ntitle: Fit\nkind: rating\nrule: majority-v1\n").rule == "majority-v1"
    with pytest.raises(DesignRefused, match="needs the option none, which rating does not offer"):
        read_design("study: fit\ntitle: Fit\nkind: rating\nrule: chosen-v1\n")
    with pytest.raises(DesignRefused, match="needs the option original"):
        read_design("study: fit\ntitle: Fit\nkind: rating\nrule: unambiguous-v1\n")
