import pytest

from studies.importing.folders import NoSuchPlace, Place, in_order, number_of, parse_place


def test_a_place_is_a_name_and_found_again_in_it() -> None:
    place = Place("video/kitchen", 3, 10)
    assert place.filename == "video/kitchen/#3of10"
    assert parse_place("video/kitchen/#3of10") == place
    for name in ("kitchen/img3.jpg", "#3of10", "kitchen/#3", "kitchen/#of10", "kitchen/#3of10.jpg"):
        assert parse_place(name) is None


@pytest.mark.parametrize(
    ("name", "number"),
    [
        ("img7.jpg", 7),
        ("a/b/img0042.JPEG", 42),
        ("img7.png", 7),
        ("img.jpg", None),
        ("img7b.jpg", None),
        ("7.jpg", None),
    ],
)
def test_the_number_of_an_image_stands_in_its_name(name: str, number: int | None) -> None:
    assert number_of(name) == number


def test_images_stand_by_their_numbers_and_other_files_do_not_count() -> None:
    names = ["img10.jpg", "img2.jpg", "notes.txt", "img105.jpg", ".DS_Store"]
    assert in_order("cups", names, 3) == ["img2.jpg", "img10.jpg", "img105.jpg"]


@pytest.mark.parametrize(
    ("names", "absent", "sentence"),
    [
        ([], True, "The folder cups has 0 images named img and a number; an image set has 3."),
        (["img1.jpg"], True, "The folder cups has 1 image named img and a number; an image set has 3."),
        (["img1.jpg", "img2.jpg", "img3.jpg", "img4.jpg"], False, "The folder cups has 4 images named img and a"),
        (["img1.jpg", "imgx.jpg"], False, "The folder cups has an image imgx.jpg without a number. Name it img and a"),
        (["img1.jpg", "img01.jpg"], False, "The folder cups has the number 1 twice: img01.jpg and img1.jpg."),
    ],
)
def test_a_folder_that_is_no_set_says_why_and_whether_more_may_come(
    names: list[str], absent: bool, sentence: str
) -> None:
    with pytest.raises(NoSuchPlace) as refused:
        in_order("cups", names, 3)
    assert str(refused.value).startswith(sentence)
    assert refused.value.absent == absent
