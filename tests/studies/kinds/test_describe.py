"""The kind `describe`: which images are asked about, in which order they stand, what is an answer, what is refused."""

import random
from collections import Counter
from collections.abc import Mapping
from typing import Any

import pytest

from studies.kinds import CannotAsk, ImageFacts, InstanceFacts, NotAnAnswer, get_kind, in_shown_order, shown_order
from studies.kinds import usual_ask as usual
from studies.kinds.describe import OTHERS as OTHER_IMAGES
from studies.kinds.describe import PLACE

DESCRIBE = get_kind("describe")
ASK = usual(DESCRIBE)
TEXT = "The man in the blue shirt looks at his left hand."


def image_set(key: str = "kitchen", *, type: str = "static", size: int = 10) -> InstanceFacts:
    images = [ImageFacts(f"{place:064x}", 10, 20, f"img{place}.jpg") for place in range(size)]
    return InstanceFacts(key=key, captions={}, images={"set": images}, type=type)


def content_of(facts: InstanceFacts | None = None, /, **entries: Any) -> dict[str, Any]:
    return DESCRIBE.questions(facts or image_set(), ASK | entries, seed="s")[0].content


def refusal(text: str, content: Mapping[str, Any] | None = None, **posted: str) -> str:
    with pytest.raises(NotAnAnswer) as refused:
        DESCRIBE.parse(content or content_of(), [], {"text": text} | posted)
    return str(refused.value) % refused.value.named


def test_three_different_images_of_a_set_are_asked_about_each_in_a_question_of_its_own() -> None:
    built = DESCRIBE.questions(image_set(), ASK, seed="s")
    assert [one.variant for one in built] == ["target-1", "target-2", "target-3"] == DESCRIBE.variants(ASK)
    targets = [one.content["target"] for one in built]
    assert len(set(targets)) == 3
    for one in built:
        marked = [picture for picture in DESCRIBE.question_content(one.content).pictures if picture.mark]
        assert [picture.sha256 for picture in marked] == [f"{one.content['target']:064x}"]


def test_which_images_is_a_lot_that_the_seed_draws() -> None:
    drawn: Counter[int] = Counter()
    for number in range(600):
        found = {one.content["target"] for one in DESCRIBE.questions(image_set(), ASK, seed=f"seed|{number}")}
        assert len(found) == 3
        drawn.update(found)
    # Of 600 draws of three of ten, each image is expected in 180; seven standard deviations of 11.2 are 79.
    assert set(drawn) == set(range(10))
    assert all(abs(times - 180) < 79 for times in drawn.values())
    assert DESCRIBE.questions(image_set(), ASK, seed="s") == DESCRIBE.questions(image_set(), ASK, seed="s")


def test_a_set_that_is_too_small_too_large_or_waits_for_a_file_cannot_be_asked_about() -> None:
    for size, targets in ((0, 1), (1, 1), (2, 3), (11, 3)):
        with pytest.raises(CannotAsk, match=f"kitchen has {size} images in the role set"):
            DESCRIBE.questions(image_set(size=size), ASK | {"targets": targets}, seed="s")
    waiting = InstanceFacts("kitchen", {}, {"set": [ImageFacts(None, 0, 0, "img1.jpg")] * 10})
    with pytest.raises(CannotAsk, match=r"still waits for the image img1.jpg"):
        DESCRIBE.questions(waiting, ASK, seed="s")


def test_still_images_stand_in_another_order_for_each_annotator_and_those_of_a_video_in_time() -> None:
    content = content_of()
    orders = [shown_order(DESCRIBE, content, seed="s", annotator=annotator, question=1) for annotator in range(300)]
    assert all(sorted(order) == [f"set-{place}" for place in range(10)] for order in orders)
    assert len({tuple(order) for order in orders}) > 290
    # The target stands anywhere: 30 times in each place are expected, and seven standard deviations of 5.2 are 36.
    places = Counter(order.index(f"set-{content['target']}") for order in orders)
    assert set(places) == set(range(10))
    assert max(places.values()) < 66
    order = orders[0]
    shown = in_shown_order(DESCRIBE.question_content(content).pictures, order)
    assert [f"set-{int(picture.sha256, 16)}" for picture in shown] == order
    in_time = content_of(image_set(type="video"))
    for annotator in range(5):
        order = shown_order(DESCRIBE, in_time, seed="s", annotator=annotator, question=1)
        assert order == [f"set-{place}" for place in range(10)]


def test_an_answer_is_a_text_on_one_line_or_that_it_is_not_possible() -> None:
    content = content_of()
    said = DESCRIBE.parse(content, [], {"text": f"  {TEXT[:20]}\r\n\0 {TEXT[20:].strip()} "})
    assert said.value == {"text": TEXT}
    assert said.label == ""
    assert DESCRIBE.labels(content, said.label, said.value) == {}
    assert DESCRIBE.form_data(content, [], said.value) == {"text": TEXT}
    left = DESCRIBE.parse(content, [], {"text": " ", "not_possible": "yes"})
    assert left.value == {"not_possible": True}
    assert DESCRIBE.form_data(content, [], left.value) == {"text": "", "not_possible": "yes"}


def test_what_asks_about_answers_learns_the_text_and_the_place_of_its_image() -> None:
    content = content_of()
    assert DESCRIBE.as_source(content, {"text": TEXT}) == {"text": TEXT, "target": content["target"]}
    assert DESCRIBE.as_source(content, {"not_possible": True}) is None


def test_not_possible_is_an_answer_only_where_the_study_says_so_and_no_second_one() -> None:
    assert "or say that it is not possible" in refusal("")
    assert "Remove one of the two" in refusal(TEXT, not_possible="yes")
    without = content_of(not_possible=False)
    assert (
        refusal("", without, not_possible="yes") == "Write what sets the marked image apart from the others, then send."
    )
    assert DESCRIBE.writing(without).can_be_left is False  # type: ignore[union-attr]


def test_a_text_that_is_empty_too_short_or_too_long_is_refused_with_the_numbers() -> None:
    limits = content_of(min_characters=10, max_characters=50)
    for empty in ("", " \n\t ", "\0\0", "... !!! ... ???"):
        assert "Write what sets the marked image apart" in refusal(empty, limits)
    assert refusal("Two dogs.", limits).endswith("Characters needed: 10; written: 9.")
    assert refusal("d" * 51, limits).endswith("Characters allowed: 50; written: 51.")
    for allowed in ("Two  dogs. \n", "d" * 50):
        if len(" ".join(allowed.split())) >= 10:
            assert DESCRIBE.parse(limits, [], {"text": allowed})


PLACES = [
    ("The third image, with the dog.", "third image"),
    ("It is the first picture with a dog in it.", "first picture"),
    ("The last frame of the dance.", "last frame"),
    ("In the 5th frame she looks up.", "5th frame"),
    ("The second to last frame.", "second to last frame"),
    ("In image 4 the man smiles.", "image 4"),
    ("Image 4 is the one with a smile.", "Image 4"),
    ("See picture number 3 with the cup.", "picture number 3"),
    ("Photo #2, he smiles.", "Photo #2"),
    ("Image no. 7 shows her best.", "Image no. 7"),
    ("The left image, where he sits.", "left image"),
    ("Look at the leftmost picture.", "leftmost picture"),
    ("The left one has its eyes closed.", "The left one"),
    ("It's the middle one with the cup.", "It's the middle one"),
    ("The fourth one.", "The fourth one"),
    ("Number four.....", "Number four....."),
]
OTHERS = [
    ("Unlike the others, he smiles.", "Unlike the others"),
    ("He smiles, and not in the other images.", "other images"),
    ("In the other nine pictures she looks away.", "other nine pictures"),
    ("It is darker compared to the rest.", "compared to the rest"),
    ("Somehow different from the others.", "different from the others"),
    ("The only image where the door is open.", "only image where"),
    ("The only one with a red cup.", "The only one with"),
    ("He smiles more than in the next frame.", "next frame"),
    ("Like the previous image, but darker.", "previous image"),
    ("A dog is in all the images, here it barks.", "all the images"),
    ("The darkest of these ten photos.", "of these ten photos"),
]


@pytest.mark.parametrize(
    ("text", "words", "message"), [(*row, PLACE) for row in PLACES] + [(*row, OTHER_IMAGES) for row in OTHERS]
)
def test_places_and_other_images_are_refused_with_the_words_that_name_them(text: str, words: str, message: str) -> None:
    assert refusal(text) == message % {"words": words}


# From ImageCoDe's train and valid, word for word (MIT licence).
PUBLISHED = [
    "woman opening left side of coat having one button seen",
    "Women in grey dress is looking down and her left hand is hovering over grass before mat.",
    "Something is being fried in the left side of the image.",
    "The woman is facing the left side of the image directly.",
    "two bread loafs and right one has a slice.",
    "Two greenish horse heads. Right one is looking right. Left one is looking towards the camera.",
    "The girls right eye is visible but the left one is concealed except for the bottom under part.",
    "THe nostrils of the girl on the left have just come into frame.",
    "Her nose and mouth are visible in this frame at the top of the  Picture",
    "Last letter of the text is missing",
    "The first swimmer's head is just past the red mark on the green rope.",
    "The girls right arm is right along the yellow letter in the second row.",
    "We only see 2 people and the man's hand on the right is blurred in a fist.",
    "Screen is split of two images. All of the numbers and text on the screens are visible.",
    "Images blurring. Almost appears as if the woman is looking down at the man in the other image.",
    "A miniature canadian flag. No other flags.",
    "Only one guy in the picture. His eye is closed and it looks like he is praying.",
    "The man second from the right is the only one looking towards the camera.",
    "Two images, the one on the right has an object with fire in the top left corner.",
    "During a scene transition, it's about 50% over and you can see both images about equally.",
    "6 zebras, one off to the back right of the photo the rest in the middle",
    "A picture with words and another photo fading into that photo",
    "The spoon is in the direct center of the bowl with the bottom half coated in an orange sauce.",
    "The woman's face is in the middle of the image, in shadow, and slightly blurred.",
    "You can see the left foot at the bottom of the image.",
    "Three players can be seen from the bottom of the frame and there is no basketball.",
    "A man leans over a blue pool table while others watch",
    "one rectangular container with three different types of beans in it",
]
FINE = [
    *PUBLISHED,
    "In the picture 2 dogs are running.",
    "A photo 3 women look at lies on the table.",
    "One flower is bigger than the others.",
    "A picture frame hangs on the wall to the left.",
    "Unlike his friend, the man in red smiles.",
]


@pytest.mark.parametrize("text", FINE)
def test_places_and_others_inside_of_the_image_are_fine(text: str) -> None:
    assert DESCRIBE.parse(content_of(), [], {"text": text}).value == {"text": " ".join(text.split())}


def test_a_text_is_the_same_whatever_its_case_spaces_and_punctuation() -> None:
    same = ["A dog, and a CAT!", "a dog and a cat", " A  dog and\n a cat.", "“A dog” and a ﻿cat"]
    assert {DESCRIBE.duplicate_key({"text": text}) for text in same} == {"a dog and a cat"}
    assert DESCRIBE.duplicate_key({"text": "A dog and a bat"}) != "a dog and a cat"
    assert DESCRIBE.duplicate_key({"not_possible": True}) == ""


UNSEEN = ["\u00ad", "\u200b", "\u2060", "\ufeff", "\u202e", "\u2066", "\u3164", "\u115f", "\u034f", "\U000e0041"]
JOINERS = ["\u200c", "\u200d", "\ufe0f"]


@pytest.mark.parametrize("unseen", [*UNSEEN, *JOINERS], ids=ascii)
def test_what_nobody_sees_makes_no_text_differ_or_longer_and_hides_no_word(unseen: str) -> None:
    same = f"The wo{unseen}man holds{unseen} a cup."
    assert DESCRIBE.duplicate_key({"text": same}) == "the woman holds a cup"
    # What no script needs is not kept.
    kept = same if unseen in JOINERS else "The woman holds a cup."
    assert DESCRIBE.parse(content_of(), [], {"text": same}).value == {"text": kept}
    assert refusal(f"It is in the thi{unseen}rd image.").startswith("“third image” says where")
    assert refusal(f"Unlike the oth{unseen}ers, he smiles.").startswith("“Unlike the others” refers to")
    assert refusal(unseen * 20) == refusal("")
    # Eleven characters can be seen.
    assert refusal(f"A wom{unseen * 9}an sat").startswith("This is too short")


def test_joiners_and_variants_that_scripts_and_signs_are_written_with_are_kept() -> None:
    for text in (
        "می\u200cرود و می\u200cخندد",
        "A family \U0001f468\u200d\U0001f469\u200d\U0001f467 and a heart ❤\ufe0f.",
    ):
        assert DESCRIBE.parse(content_of(), [], {"text": text}).value == {"text": text}


def test_made_up_people_hardly_ever_write_the_same_and_sometimes_nothing() -> None:
    content, dice = content_of(), random.Random(3)
    said = [DESCRIBE.parse(content, [], DESCRIBE.simulate(content, [], dice=dice)).value for _ in range(2000)]
    left = said.count({"not_possible": True})
    # 3 in 100: 60 of 2,000, with a standard deviation of 7.6.
    assert 20 < left < 100
    texts = {DESCRIBE.duplicate_key(value) for value in said if "text" in value}
    assert len(texts) > 0.98 * (2000 - left)
    for limits in ({"min_characters": 700, "max_characters": 800}, {"min_characters": 1, "max_characters": 5}):
        content = content_of(not_possible=False, **limits)
        assert DESCRIBE.parse(content, [], DESCRIBE.simulate(content, [], dice=dice))


def test_made_up_people_write_what_they_are_told_to() -> None:
    posts = [DESCRIBE.simulate(content_of(), [], dice=random.Random(3), label="The dog sits.") for _ in range(200)]
    assert posts == [{"text": "The dog sits."}] * 200
