"""What a question's page says of its pictures: the shape of their places, and how wide they are at most."""

from typing import Any

import pytest

from annotation.pages import QuestionPage, ShownImage


def page_of_pictures(*sizes: tuple[int, int]) -> QuestionPage:
    images = [ShownImage(width=str(width), height=str(height)) for width, height in sizes]
    nothing: dict[str, Any] = {name: [] for name in ("texts", "options", "fixed", "groups")}
    return QuestionPage(
        slot="1", number=1, total=1, template="", images=images, writing=None, submission="", action="", **nothing
    )


@pytest.mark.parametrize(
    ("sizes", "shape"),
    [
        ([(512, 512)] * 4, "1:1"),
        ([(640, 480), (640, 427), (640, 480)], "4:3"),
        ([(640, 427)], "3:2"),
        ([(1280, 720)] * 10, "16:9"),
        ([(360, 640), (480, 640), (480, 640)], "3:4"),
        # Half as wide as high, and twice: the middle of both is a square.
        ([(300, 600), (600, 300)], "1:1"),
        # Beyond the last shape it is the last.
        ([(2000, 100)], "16:9"),
        ([], ""),
    ],
)
def test_places_have_the_shape_that_their_pictures_have_in_common(sizes: list[tuple[int, int]], shape: str) -> None:
    assert page_of_pictures(*sizes).shape == shape


def test_a_picture_is_as_wide_as_the_largest_of_its_layouts_allows() -> None:
    page = page_of_pictures((640, 480), (640, 480))
    # Beside each other 49 % of the width, or 80 % of the height times 4/3; over each other 100 %, or 46 % times 4/3.
    assert page.sizes_of(page.images[0]) == "max(min(49vw, 107vh), min(100vw, 62vh))"
    # In a place of 4 to 3 an upright picture is as wide as its own shape allows: 80 % of the height times 3/4.
    page = page_of_pictures((480, 640), (640, 480), (640, 480))
    assert page.sizes_of(page.images[0]) == "max(min(33vw, 60vh), min(49vw, 32vh), min(100vw, 21vh))"
