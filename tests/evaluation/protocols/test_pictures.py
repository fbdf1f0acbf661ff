from pathlib import Path

import pytest
from PIL import Image

from evaluation.pictures import Pictures
from evaluation.protocols import BenchmarkError


def save(path: Path, colour: str = "white", size: tuple[int, int] = (40, 30)) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    Image.new("RGB", size, colour).save(path)


def test_files_in_the_folder_or_in_images_their_parts_and_places_of_sorted_numbers_are_opened(tmp_path: Path) -> None:
    image = Image.new("RGB", (40, 30), "white")
    image.paste("black", (10, 5, 20, 15))
    image.save(tmp_path / "a.png")
    save(tmp_path / "images/deep/b.png", size=(8, 9))
    pictures = Pictures(tmp_path)
    assert (pictures.open("a.png").size, pictures.open("deep/b.png").size) == ((40, 30), (8, 9))
    part = pictures.open("a.png#xywh=10,5,10,10")
    assert part.size == (10, 10)
    assert part.getextrema() == ((0, 0), (0, 0), (0, 0))
    for number in range(10):
        save(tmp_path / f"set/img{number * 3}.jpg", size=(10 + number, 10))
    assert pictures.open("set/#4of10").width == 14


@pytest.mark.parametrize(
    ("name", "sentence"),
    [
        ("b.png", r"The image b\.png is not in"),
        ("../secret.png", r"The image \.\./secret\.png is not in"),
        ("set/#0of10", "The folder set is not in"),
        ("a.png#xywh=40,0,5,5", "The region 40,0,5,5 is not in the image, which has 40 x 30 pixels"),
        ("broken.png", r"broken\.png: The file cannot be read as an image"),
    ],
)
def test_what_cannot_be_opened_is_a_sentence(tmp_path: Path, name: str, sentence: str) -> None:
    folder = tmp_path / "data"
    save(folder / "a.png")
    save(tmp_path / "secret.png")
    (folder / "broken.png").write_text("no")
    with pytest.raises(BenchmarkError, match=sentence):
        Pictures(folder).open(name)
