"""The kinds of question, and the order in which options are shown."""

from collections import Counter

import pytest

from studies.kinds import CannotAsk, ImageFacts, InstanceFacts, get_kind, posted_values, shown_order
from studies.kinds.choices import SingleChoice

ASK = {"caption": "negative_caption", "images": "candidate", "becomes": "negative_image"}


def best_of_n() -> SingleChoice:
    kind = get_kind("best_of_n")
    assert isinstance(kind, SingleChoice)
    return kind


def facts(images: int = 4, *, caption: str = "A blue vase.", waiting: bool = False) -> InstanceFacts:
    stored = [ImageFacts(sha256=f"{number:064x}", width=10, height=20) for number in range(images)]
    if waiting:
        stored[1] = ImageFacts(sha256=None, width=0, height=0, filename="vase_1.png")
    return InstanceFacts(key="vase", captions={"negative_caption": caption}, images={"candidate": stored})


def test_best_of_n_shows_the_caption_and_the_images_in_source_order() -> None:
    content = best_of_n().build(facts(), ASK, "")
    assert content["caption"] == "A blue vase."
    assert [option["key"] for option in content["options"]] == [f"candidate-{number}" for number in range(4)]
    assert content["options"][2] == {"key": "candidate-2", "image": f"{2:064x}", "width": 10, "height": 20}


def test_the_chosen_image_becomes_the_negative_image() -> None:
    kind = best_of_n()
    assert kind.adds(kind.build(facts(), ASK, ""), "candidate-3")["negative_image"]["image"] == f"{3:064x}"


@pytest.mark.parametrize(
    ("instance", "sentence"),
    [
        (facts(1), "has 1 images"),
        (facts(10), "has 10 images"),
        (facts(caption=""), "has no negative_caption"),
        (facts(waiting=True), "still waits for the image vase_1.png"),
    ],
)
def test_best_of_n_says_what_an_instance_lacks(instance: InstanceFacts, sentence: str) -> None:
    with pytest.raises(CannotAsk, match=sentence):
        best_of_n().build(instance, ASK, "")


def order(seed: str = "s", annotator: int = 1, question: int = 1) -> list[str]:
    kind = best_of_n()
    return shown_order(kind, kind.build(facts(), ASK, ""), seed=seed, annotator=annotator, question=question)


def test_every_option_is_first_about_as_often() -> None:
    # 2,000 draws of 4: 500 expected, standard deviation 19.4; five of them either way.
    firsts = Counter(order(question=question)[0] for question in range(2000))
    assert len(firsts) == 4
    assert all(403 <= count <= 597 for count in firsts.values())


def test_shuffled_options_post_their_place_and_fixed_ones_their_name() -> None:
    kind = best_of_n()
    shown = ["candidate-2", "candidate-0", "candidate-3", "candidate-1", "none"]
    assert posted_values(kind, kind.build(facts(), ASK, ""), shown) == {
        "1": "candidate-2",
        "2": "candidate-0",
        "3": "candidate-3",
        "4": "candidate-1",
        "none": "none",
    }
