"""The expected values are computed by hand."""

import math
from collections import Counter
from typing import Any

import numpy as np
import pytest
from PIL import Image

from predictions.image_sets.embeddings import ColourAndGradient, distances
from predictions.image_sets.set_selection import (
    Bounds,
    LeftOut,
    distance_summary,
    excluded_images,
    nearest_sets,
    sets_of_frames,
    sharpness,
)
from tests.predictions.near import at


def test_how_far_two_directions_are_from_each_other() -> None:
    # 1 - cos 60 = 1/2, 1 - cos 90 = 1, 1 - cos 180 = 2.
    assert distances(at(0), at(0, 60, 90, 180))[0] == pytest.approx([0, 0.5, 1, 2], abs=1e-6)


def test_how_alike_a_set_is_goes_over_all_its_pairs() -> None:
    # The pairs are 60, 90 and 30 degrees apart: 1/2, 1 and 1 - sqrt(3) / 2.
    near = 1 - math.sqrt(3) / 2
    assert distance_summary(at(0, 60, 90)) == pytest.approx((near, (0.5 + 1 + near) / 3, 1), abs=1e-6)
    with pytest.raises(ValueError, match="Distances within a set need at least two images"):
        distance_summary(at(0))


def test_a_photo_stands_with_those_nearest_to_it_and_in_one_set_only() -> None:
    vectors = at(0, 10, 25, 100, 112, 131, 60)
    # From 0: 10 and 25 degrees. From 100: 112 and 131 are 12 and 31 away, 60 is 40 away. 60 has nobody left.
    assert list(nearest_sets(vectors, range(7), Bounds(3, 0))) == [[0, 1, 2], [3, 4, 5]]
    # Asked first, 60 takes 25 (35 away) and 100 (40 away); then 0 has only 10, and 131 only 112 beside 10.
    assert list(nearest_sets(vectors, [6, 0, 5], Bounds(3, 0))) == [[6, 2, 3], [0, 1, 4]]


def test_photos_that_nobody_can_tell_apart_are_never_in_one_set() -> None:
    vectors = at(0, 1, 30, 31, 60)
    # Less than 1 - cos 2 degrees apart is the same: of 0 and 1, and of 30 and 31, one each.
    same = 1 - math.cos(math.radians(2))
    assert list(nearest_sets(vectors, range(5), Bounds(3, same))) == [[0, 2, 4]]


def away(degrees: float) -> float:
    """Return the distance of directions that are so many degrees apart."""
    return 1 - math.cos(math.radians(degrees))


def test_photos_that_are_too_far_from_any_of_a_set_are_not_in_it() -> None:
    vectors = at(0, 20, -20, 30, 90)
    # From 0 the nearest are 20 and -20, which are 40 from each other; 30 is 10 from 20 and 30 from 0.
    assert list(nearest_sets(vectors, range(5), Bounds(3, 0, away(35)))) == [[0, 1, 3]]
    assert list(nearest_sets(vectors, range(5), Bounds(3, 0, away(41)))) == [[0, 1, 2]]
    assert list(nearest_sets(vectors, range(5), Bounds(3, 0, away(25)))) == []


def test_why_photos_are_in_no_set() -> None:
    vectors = at(0, 20, 30, 1, -20, 25, 120, 125, 60)
    bounds = Bounds(3, away(2), away(35))
    assert list(nearest_sets(vectors, range(9), bounds)) == [[0, 1, 5]]
    found = {row: (reason, nearest) for row, reason, nearest in excluded_images(vectors, [0, 1, 5], bounds)}
    assert {row: reason for row, (reason, _) in found.items()} == {
        # 20, 25, 60 and 0 are within 35 degrees of 30, but taken or too far from each other.
        2: LeftOut.TAKEN,
        # 1 degree from 0.
        3: LeftOut.SAME,
        # 0 and 1 are near -20, and in a set or the same.
        4: LeftOut.TAKEN,
        # Each has one other near it.
        6: LeftOut.FEW_ALIKE,
        7: LeftOut.FEW_ALIKE,
        # 30 and 25 are near 60.
        8: LeftOut.TAKEN,
    }
    assert found[6][1] == pytest.approx(away(5), abs=1e-6)


def test_a_frame_is_kept_when_it_is_far_from_every_frame_of_the_set() -> None:
    frames: Any = list(zip("abcdefgh", at(0, 20, 30, 45, 5, 60, 90, 120), strict=True))
    # At least 30 degrees apart: a and c; d is 15 from c, e is 5 from a; f; then g, h; the second set stays short.
    found = list(sets_of_frames(frames, size=3, least_distance=away(29.9)))
    assert [names for names, _ in found] == [["a", "c", "f"]]
    assert found[0][1] == pytest.approx(at(0, 30, 60))
    # After a full set the next frame begins another.
    frames = list(zip("abcd", at(0, 40, 0, 40), strict=True))
    assert [names for names, _ in sets_of_frames(frames, size=2, least_distance=0.1)] == [["a", "b"], ["c", "d"]]


def test_a_frame_that_differs_too_much_ends_the_set_before_it() -> None:
    frames: Any = list(zip("abcdefgh", at(0, 2, 20, 80, 100, 120, 121, 140), strict=True))
    left_out: Counter[LeftOut] = Counter()
    found = sets_of_frames(frames, size=3, least_distance=away(5), most_distance=away(50), left_out=left_out)
    # b is 2 from a. d is 80 from a, so that a and c are dropped. g is 1 from f, but after the full set d, e, f.
    assert [names for names, _ in found] == [["d", "e", "f"]]
    assert left_out == {LeftOut.TOO_CLOSE: 1, LeftOut.TOO_FAR: 2, LeftOut.UNFINISHED: 2}


def test_what_is_flat_or_blurred_is_less_sharp_than_stripes() -> None:
    assert sharpness(Image.new("RGB", (300, 200), (90, 120, 60))) == 0
    picture = Image.new("L", (256, 256))
    for column in range(0, 256, 2):
        picture.paste(255, (column, 0, column + 1, 256))
    # Bright columns have two dark neighbours and two bright ones: 2 x 255 + 2 x 0 - 4 x 255 = -510; dark ones 510.
    # Their mean is 0, so the variance is 510 squared.
    assert sharpness(picture) == pytest.approx(510**2)
    picture = Image.effect_noise((400, 300), 60).convert("RGB")
    assert sharpness(picture.resize((40, 30)).resize((400, 300))) < sharpness(picture) / 2


def test_pictures_have_vectors_of_length_one_that_do_not_depend_on_their_size() -> None:
    embedding = ColourAndGradient()
    picture = Image.new("RGB", (128, 128), (200, 30, 30))
    picture.paste((20, 20, 200), (64, 0, 128, 128))
    one, large = embedding.embed([picture, picture.resize((512, 512), Image.Resampling.NEAREST)])
    assert np.linalg.norm(one) == pytest.approx(1)
    assert distances(one[None], large[None])[0, 0] < 1e-3
    assert embedding.embed([]).shape == (0, len(one))


def test_colours_and_edges_both_count() -> None:
    embedding = ColourAndGradient()

    def striped(across: bool, colour: tuple[int, int, int]) -> Image.Image:
        picture = Image.new("RGB", (64, 64))
        for place in range(0, 64, 8):
            picture.paste(colour, (0, place, 64, place + 4) if across else (place, 0, place + 4, 64))
        return picture

    vectors = embedding.embed([striped(True, (255, 0, 0)), striped(True, (0, 0, 255)), striped(False, (255, 0, 0))])
    apart = distances(vectors, vectors)
    assert apart[0, 1] > 0.05
    # Edges that run otherwise have nothing in common: half of the vector, whose part of the cosine is 0.
    assert apart[0, 2] == pytest.approx(0.5, abs=0.02)
