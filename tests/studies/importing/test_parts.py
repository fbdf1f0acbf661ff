from pathlib import Path

import pytest
from PIL import Image

from studies.actions.imports.image_folder import ImageFolder
from studies.actions.imports.import_state import UnusableImage
from studies.importing.parts import Part, parse_part
from studies.importing.pictures import decode


@pytest.mark.parametrize(
    ("filename", "part"),
    [
        ("a/7.jpg#xywh=160,120,320,240", Part("a/7.jpg", 160, 120, 320, 240)),
        ("a#b.jpg#xywh=0,0,1,1", Part("a#b.jpg", 0, 0, 1, 1)),
        ("7.jpg", None),
        ("7.jpg#xywh=1,2,3", None),
        ("7.jpg#xywh=-1,2,3,4", None),
        ("#xywh=1,2,3,4", None),
        ("7.jpg#xywh=1,2,3,4444444", None),
    ],
)
def test_a_part_is_named_as_a_fragment_of_its_file(filename: str, part: Part | None) -> None:
    assert parse_part(filename) == part
    assert part is None or part.filename == filename


@pytest.fixture
def folder(tmp_path: Path) -> ImageFolder:
    """A picture of 8 x 6 pixels that is red to the left of the fourth column and blue from there on."""
    image = Image.new("RGB", (8, 6), "red")
    image.paste("blue", (4, 0, 8, 6))
    image.save(tmp_path / "a.png")
    (tmp_path / "broken.png").write_bytes((tmp_path / "a.png").read_bytes()[:45])
    return ImageFolder(tmp_path)


@pytest.mark.parametrize(
    ("box", "size", "colours"),
    [
        ("0,0,4,6", (4, 6), {(255, 0, 0)}),
        ("3,1,2,2", (2, 2), {(255, 0, 0), (0, 0, 255)}),
        # What lies outside is left out.
        ("6,4,100,100", (2, 2), {(0, 0, 255)}),
    ],
)
def test_a_part_of_a_picture_is_a_picture_of_its_own(
    folder: ImageFolder, box: str, size: tuple[int, int], colours: set[tuple[int, int, int]]
) -> None:
    data = folder.read(f"a.png#xywh={box}")
    assert isinstance(data, bytes)
    facts, pixels = decode(data, max_pixels=100)
    assert (facts.format, pixels.size) == ("PNG", size)
    assert {pixels.getpixel((x, y)) for x in range(size[0]) for y in range(size[1])} == colours
    assert folder.read(f"a.png#xywh={box}") == data


@pytest.mark.parametrize(
    ("filename", "sentence", "absent"),
    [
        ("b.png#xywh=0,0,1,1", "The file b.png is not among the images.", True),
        ("a.png#xywh=8,0,2,2", "The region 8,0,2,2 is not in the image, which has 8 x 6 pixels.", False),
        ("a.png#xywh=0,0,0,2", "The region 0,0,0,2 is not in the image, which has 8 x 6 pixels.", False),
        ("broken.png#xywh=0,0,2,2", "The image is cut short or damaged. Copy it again from its source.", False),
        ("../a.png#xywh=0,0,2,2", "The file ../a.png is a link out of the image folder.", False),
    ],
)
def test_a_part_that_cannot_be_had_is_a_sentence(
    folder: ImageFolder, filename: str, sentence: str, absent: bool
) -> None:
    found = folder.read(filename)
    assert isinstance(found, UnusableImage)
    assert sentence in found.reason
    assert found.absent == absent


def test_a_picture_that_is_too_large_is_not_decoded_for_a_part_of_it(folder: ImageFolder, settings: object) -> None:
    settings.IMAGE_MAX_PIXELS = 47  # type: ignore[attr-defined]
    found = folder.read("a.png#xywh=0,0,2,2")
    assert isinstance(found, UnusableImage)
    assert "more than the 47 that are allowed" in found.reason
