"""What is asked of models about an accepted instance, and how their answers are read."""

import math
from dataclasses import replace
from io import BytesIO

import pytest
from PIL import Image

from results.exporting.pairs import captioned_pictures, choices
from results.exporting.pictures import as_shown
from results.exporting.read_answers import group, i2t, process_results, read_choice, t2i
from tests.results.exporting.test_formats import INSTANCE, SHA_A, SHA_B

OWN, OTHER = INSTANCE.captions["caption"], INSTANCE.captions["negative_caption"]


def test_an_instance_of_two_pairs_is_four_questions_with_the_right_one_at_its_place() -> None:
    found = {choice.about: choice for choice in choices(INSTANCE)}
    assert list(found) == ["image", "negative_image", "caption", "negative_caption"]
    for role, picture, caption in (("image", SHA_A, OWN), ("negative_image", SHA_B, OTHER)):
        of_image, of_caption = found[role], found[role.replace("image", "caption")]
        assert (of_image.direction, of_image.images) == ("i2t", (picture,))
        assert set(of_image.captions) == {OWN, OTHER}
        assert of_image.captions[of_image.right] == caption
        assert (of_caption.direction, of_caption.captions) == ("t2i", (caption,))
        assert set(of_caption.images) == {SHA_A, SHA_B}
        assert of_caption.images[of_caption.right] == picture


def test_an_instance_without_a_second_picture_is_one_question() -> None:
    alone = replace(INSTANCE, images=[image for image in INSTANCE.images if image.role != "negative_image"])
    assert [choice.about for choice in choices(alone)] == ["image"]
    assert list(captioned_pictures(alone)) == [("image", SHA_A, OWN)]


def test_an_instance_without_a_second_caption_is_no_question_and_one_picture_with_a_caption() -> None:
    bare = replace(INSTANCE, captions={"caption": OWN})
    assert list(choices(bare)) == []
    assert list(captioned_pictures(bare)) == [("image", SHA_A, OWN)]


def test_a_picture_that_is_still_awaited_is_not_asked_about() -> None:
    images = [replace(image, sha256=None) if image.role == "image" else image for image in INSTANCE.images]
    assert [choice.about for choice in choices(replace(INSTANCE, images=images))] == ["negative_image"]


def test_the_right_answer_stands_first_about_as_often_as_second() -> None:
    # Of 400 fair draws more than 240 or fewer than 160 are 4 standard deviations (of 10) away.
    rights = [choice.right for key in range(100) for choice in choices(replace(INSTANCE, key=str(key)))]
    assert len(rights) == 400
    assert 160 < sum(rights) < 240


@pytest.mark.parametrize(
    ("said", "letter"),
    [
        ("A", "A"),
        ("b", "B"),
        (" B.", "B"),
        ("(b) A cat chases a dog.", "B"),
        ("A: A dog chases a cat.", "A"),
        ("The answer is B.", "B"),
        ("It is option A, because of the cat.", "A"),
        ("I would say (A).", "A"),
        ("A dog chases a cat.", ""),
        ("A or B", ""),
        ("Option A or option B.", ""),
        ("I cannot tell.", ""),
        ("", ""),
    ],
)
def test_the_letter_of_an_answer_is_found_and_no_other_word_is_taken_for_one(said: str, letter: str) -> None:
    assert read_choice(said) == letter


def test_scores_count_instances_as_the_papers_do() -> None:
    """Two instances of four questions, one of a picture alone: 17 all right; 18 one image question and nothing else
    wrong; 19 right. I2T 2 of 3, T2I 2 of 2, Group 1 of 2."""
    said = {"17": "BBBB", "18": "ABBB", "19": "B"}
    counted = [
        process_results({"key": key, "direction": direction, "answer": "B"}, [letter])
        for key, letters in said.items()
        for direction, letter in zip(["i2t", "i2t", "t2i", "t2i"], letters, strict=False)
    ]
    assert sum(one["accuracy"] for one in counted) == 8
    assert i2t([one["i2t"] for one in counted]) == pytest.approx(2 / 3)
    assert t2i([one["t2i"] for one in counted]) == 1
    assert group([one["group"] for one in counted]) == 0.5


def test_a_score_that_nothing_was_asked_for_is_no_number() -> None:
    alone = process_results({"key": "19", "direction": "i2t", "answer": "A"}, ["A"])
    assert i2t([alone["i2t"]]) == 1
    assert math.isnan(t2i([alone["t2i"]]))
    assert math.isnan(group([alone["group"]]))


def saved(format: str, orientation: int = 0) -> bytes:
    """Return a picture, 8 wide and 6 high, whose left half is white."""
    picture = Image.new("RGB", (8, 6))
    picture.paste((255, 255, 255), (0, 0, 4, 6))
    exif = Image.Exif()
    if orientation:
        exif[0x0112] = orientation
    out = BytesIO()
    picture.save(out, format, **({"exif": exif} if orientation else {}))
    return out.getvalue()


@pytest.mark.parametrize(("format", "ending"), [("JPEG", "jpg"), ("PNG", "png"), ("WEBP", "webp")])
def test_a_picture_that_every_program_reads_is_passed_on_as_it_is(format: str, ending: str) -> None:
    assert as_shown(saved(format)) == (ending, saved(format))
    assert as_shown(saved(format, orientation=1))[0] == ending


@pytest.mark.parametrize("format", ["GIF", "BMP", "TIFF"])
def test_a_picture_of_a_rare_format_is_saved_without_loss(format: str) -> None:
    ending, content = as_shown(saved(format))
    assert ending == "png"
    with Image.open(BytesIO(content)) as picture:
        assert (picture.format, picture.size) == ("PNG", (8, 6))
        assert (picture.getpixel((0, 0)), picture.getpixel((7, 0))) == ((255, 255, 255), (0, 0, 0))


def test_a_picture_that_is_to_be_turned_is_upright() -> None:
    # Orientation 6: the camera was turned, so what is stored on the left belongs on top.
    ending, content = as_shown(saved("PNG", orientation=6))
    with Image.open(BytesIO(content)) as picture:
        assert (ending, picture.size) == ("png", (6, 8))
        assert (picture.getpixel((0, 0)), picture.getpixel((0, 7))) == ((255, 255, 255), (0, 0, 0))
        assert picture.getexif().get(0x0112) is None
