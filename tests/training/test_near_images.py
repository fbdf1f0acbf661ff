"""Near images: by hand, and against comparing every pair."""

import numpy as np
import pytest

from predictions.image_sets.embeddings import Vectors, distances
from tests.predictions.near import at
from training.near_images import NearImages


def test_the_nearest_image_under_the_threshold_is_found() -> None:
    # cos 30 = .866, cos 45 = .707
    index = NearImages(at(0, 75), below=0.2)
    assert index.nearest(at(30, 120, 74)) == {0: (0.134, 0), 2: (0.0002, 1)}
    assert index.nearest(at(30)[:0]) == {}
    assert NearImages(at(0)[:0], below=0.2).nearest(at(30)) == {}


def _vectors(count: int, seed: int) -> Vectors:
    """Return vectors of 200 dimensions in 12 bundles."""
    dice = np.random.default_rng(seed)
    bundles = np.random.default_rng(0).standard_normal((12, 200))
    spread = bundles[dice.integers(0, 12, count)] + dice.standard_normal((count, 200)) * dice.uniform(
        0, 0.3, (count, 1)
    )
    return np.asarray(spread / np.linalg.norm(spread, axis=1, keepdims=True), np.float32)


@pytest.mark.parametrize("many", [0, 1])
def test_no_pair_is_missed(many: int, monkeypatch: pytest.MonkeyPatch) -> None:
    # One by one, and all at once.
    monkeypatch.setattr("training.near_images._MANY", many)
    known, asked = _vectors(300, 1), _vectors(200, 2)
    apart = distances(asked, known)
    near = {place: pytest.approx(row.min(), abs=1e-4) for place, row in enumerate(apart) if row.min() < 0.02}
    assert 20 < len(near) < 180
    found = NearImages(known, below=0.02).nearest(asked)
    assert {place: distance for place, (distance, _) in found.items()} == near
