"""The nearest other images, by vectors whose cosines were worked out by hand, and by the models themselves."""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from importlib.metadata import version
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError

from making.errors import CannotMake
from making.makers import FoundImage, Images, LoadedMaker, Made, NothingMade, Request
from making.makers import nearest as module
from making.makers.nearest import Nearest, Others
from predictions.scorers import OpenPicture
from predictions.scorers.contrastive import Contrastive
from predictions.scorers.vector_store import VectorStore
from simulation.demo.pictures import draw_scene
from simulation.demo.scenes import ABOVE, LEFT, Scene, Thing
from tests.making.makers.images import MISSING, images_of, plane

NONE = "No other image of the project is near enough."
ROWS = np.array([[1, 0], [0.6, 0.8], [0, 1], [-1, 0], [1, 0]], np.float32)


@pytest.fixture(params=["scikit-learn", "faiss"])
def library(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    if request.param == "faiss":
        pytest.importorskip("faiss")
    monkeypatch.setattr(module, "has_faiss", lambda: request.param == "faiss")
    return str(request.param)


@pytest.mark.parametrize("at_once", [1, 1_000_000])
def test_the_nearest_come_first_with_their_cosines(at_once: int, library: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "MOST_AT_ONCE", at_once)
    found = Others(ROWS).nearest(ROWS[:3], [[0], [1], [2]], count=3)
    assert [[row for row, _ in each] for each in found] == [[4, 1, 2], [2, 0, 4], [1, 0, 3]]
    assert [round(cosine, 6) for _, cosine in found[0]] == [1, 0.6, 0]
    assert [round(cosine, 6) for _, cosine in found[1]] == [0.8, 0.6, 0.6]


def test_the_same_image_stored_twice_is_no_neighbour_and_what_is_too_far_neither(library: str) -> None:
    others = Others(ROWS)
    assert [row for row, _ in others.nearest(ROWS[:1], [[0]], count=9, below=0.9999)[0]] == [1, 2, 3]
    assert [row for row, _ in others.nearest(ROWS[:1], [[0]], count=9, at_least=0.5)[0]] == [4, 1]
    assert Others(ROWS[:1]).nearest(ROWS[:1], [[0]], count=1) == [[]]


def test_many_copies_and_many_images_as_near_hide_no_image(library: str) -> None:
    # Ten copies of the first, twenty at 0.6 and two at 0.
    vectors = np.array([[1, 0]] * 10 + [[0.6, 0.8]] * 20 + [[0, 1]] * 2, np.float32)
    others = Others(vectors)
    assert [row for row, _ in others.nearest(vectors[:1], [[0]], count=2, below=0.5)[0]] == [30, 31]
    # Of those that are as near, the first ones.
    for count in (2, 20):
        assert [row for row, _ in others.nearest(vectors[:1], [[0]], count=count, below=0.9999)[0]] == [
            *range(10, 10 + count)
        ]


def test_a_vector_without_direction_is_as_far_as_a_right_angle(library: str) -> None:
    vectors = np.array([[1, 0], [0, 0], [0, 0], [0.6, 0.8], [0.28, 0.96], [-1, 0]], np.float32)
    (found,) = Others(vectors).nearest(vectors[:1], [[0]], count=5)
    assert [row for row, _ in found] == [3, 4, 1, 2, 5]
    ((row, cosine),) = Others(vectors).nearest(vectors[1:2], [[1]], count=1)[0]
    assert (row, cosine) == (0, 0)


def test_the_search_is_exact(library: str) -> None:
    vectors = np.random.default_rng(1).normal(size=(300, 16)).astype(np.float32)
    vectors /= np.linalg.norm(vectors, axis=1, keepdims=True)
    cosines = vectors.astype(np.float64) @ vectors.T.astype(np.float64)
    np.fill_diagonal(cosines, -2)
    expected = np.argsort(-cosines, axis=1)[:, :5].tolist()
    found = Others(vectors).nearest(vectors, [[row] for row in range(300)], count=5)
    assert [[row for row, _ in each] for each in found] == expected


@pytest.mark.parametrize("is_installed", [True, False])
def test_faiss_searches_where_it_is_installed_and_scikit_learn_elsewhere(
    is_installed: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    # What the two calls of faiss give; where it is installed, the tests above run it.
    class Index:
        def __init__(self, dimensions: int) -> None:
            self.dimensions = dimensions

        def add(self, vectors: Any) -> None:
            self.vectors = vectors

        def search(self, vectors: Any, count: int) -> Any:
            similarities = vectors @ self.vectors.T
            rows = np.argsort(-similarities, axis=1, kind="stable")[:, :count]
            return np.take_along_axis(similarities, rows, axis=1), rows

    faiss = ModuleType("faiss")
    faiss.IndexFlatIP, faiss.__version__ = Index, "1.2.3"  # type: ignore[attr-defined]
    faiss.__spec__ = ModuleSpec("faiss", None)
    monkeypatch.setitem(sys.modules, "faiss", faiss if is_installed else None)
    maker = loaded(images_of(PICTURES))
    assert [names_of(each) for each in maker.make([Request("", 2, 1, "a")])] == [["b", "c"]]
    library = "faiss 1.2.3" if is_installed else f"scikit-learn {version('scikit-learn')}"
    assert maker.identity.version == f"1; colour-and-gradient-v1; {library}"


def loaded(images: Images, policy: str = module.LAYOUT, **options: Any) -> LoadedMaker:
    maker = Nearest(**options).load(policy)
    maker.look_at(images)
    return maker


def names_of(result: Sequence[Made] | NothingMade) -> list[str]:
    assert not isinstance(result, NothingMade)
    return [each.image for each in result if isinstance(each, FoundImage)]


# Halves that are alike: dark and light; and one of three parts.
PICTURES = {
    "a": plane(0, 255),
    "b": plane(10, 250),
    "c": plane(60, 190),
    "copy": plane(0, 255),
    "other": plane(255, 0),
    "gone": None,
}


def test_the_nearest_images_are_found_and_neither_copies_nor_ones_own() -> None:
    maker = loaded(images_of(PICTURES))
    requests = [Request("", 2, 1, "a"), Request("", 2, 1, "a", frozenset({"b", "a"})), Request("", 9, 1, "other")]
    first, second, third = map(names_of, maker.make(requests))
    assert (first, second) == (["b", "c"], ["c", "other"])
    assert sorted(third) == ["a", "b", "c", "copy"]
    ((near,),) = maker.make([Request("", 1, 1, "a")])  # type: ignore[misc]
    assert isinstance(near, FoundImage)
    assert 0.9 < near.similarity < 0.9999


def test_copies_are_neighbours_where_the_file_says_so() -> None:
    ((found,),) = loaded(images_of(PICTURES), below=1.0001).make([Request("", 1, 1, "a")])  # type: ignore[misc]
    assert found == FoundImage("copy", 1.0)


def test_what_has_no_near_image_or_cannot_be_read_has_a_reason() -> None:
    requests = [Request("", 1, 1, "gone"), Request("", 1, 1, "other"), Request("", 1, 1, "unknown")]
    assert loaded(images_of(PICTURES), at_least=0.99).make(requests) == [
        NothingMade(MISSING),
        NothingMade(NONE),
        NothingMade(MISSING),
    ]
    assert loaded(images_of({"gone": None})).make(requests[:1]) == [NothingMade(MISSING)]
    assert loaded(images_of({"a": plane(0)})).make([Request("", 1, 1, "a")]) == [NothingMade(NONE)]


def test_an_image_that_is_not_among_the_others_is_compared_with_them() -> None:
    images = images_of(PICTURES)
    maker = loaded(Images([name for name in images.names if name != "a"], images.open))
    ((found,),) = maker.make([Request("", 1, 1, "a")])  # type: ignore[misc]
    assert isinstance(found, FoundImage)
    assert found.image == "b"


BEACH = Scene("on a beach", Thing("car", "red"), LEFT, Thing("house", "blue"))
SNOW = Scene("in the snow", Thing("fish", "green"), ABOVE, Thing("mug", "pink"))
DRAWN = {
    f"{name}{seed}": draw_scene(scene, seed=seed)
    for name, scene in {"beach": BEACH, "snow": SNOW}.items()
    for seed in ("1", "2")
}
TWICE = {"beach1": "beach2", "beach2": "beach1", "snow1": "snow2", "snow2": "snow1"}


def test_a_model_finds_the_other_drawing_of_the_same_scene() -> None:
    maker = loaded(images_of(DRAWN), "onnx:demo")
    requests = [Request("", 1, 1, name) for name in TWICE]
    found = maker.make(requests)
    assert [names_of(each) for each in found] == [[name] for name in TWICE.values()]
    assert found == [result for request in requests for result in maker.make([request])]
    identity = maker.identity
    assert (identity.name, len(identity.weights)) == ("nearest:onnx:demo", 64)
    assert identity.version.startswith("1; ")


def test_vectors_are_kept_for_the_next_run(tmp_path: Path) -> None:
    images = images_of(DRAWN)
    kept = VectorStore(tmp_path, most=2**20)
    once = loaded(Images(images.names, images.open, vectors=kept), "onnx:demo")
    # No image can be read, and none needs to be.
    again = loaded(Images(images.names, images_of({}).open, vectors=kept), "onnx:demo")
    requests = [Request("", 2, 1, name) for name in DRAWN]
    assert again.make(requests) == once.make(requests)


def test_long_work_reports_its_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "AT_ONCE", 2)
    images = images_of(PICTURES)
    reports: list[None] = []
    loaded(Images(images.names, images.open, progress=lambda: reports.append(None)))
    # Of six images.
    assert len(reports) == 3


@pytest.mark.parametrize(
    ("policy", "sentence"),
    [
        ("onnx:/none", "The model onnx:/none cannot be loaded: onnx:/none cannot be read on the worker's machine"),
        ("nothing", "The model nothing cannot be loaded: "),
    ],
)
def test_a_model_that_cannot_be_used_is_named(policy: str, sentence: str) -> None:
    with pytest.raises(CannotMake) as refused:
        Nearest().load(policy)
    assert str(refused.value).startswith(sentence)


def test_a_model_whose_vectors_are_no_numbers_is_named_for_each_image(monkeypatch: pytest.MonkeyPatch) -> None:
    def embed(self: Contrastive, names: Sequence[str], open_picture: OpenPicture) -> Any:
        return {name: np.array([np.nan, 0], np.float32) for name in names}, {}

    monkeypatch.setattr(Contrastive, "vectors_of", embed)
    maker = loaded(images_of(DRAWN), "onnx:demo")
    assert maker.make([Request("", 1, 1, "beach1")]) == [
        NothingMade("The model's vector of the image is not made of numbers. Check the model's weights.")
    ]


def test_a_model_without_vectors_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "scorer_of", lambda spec: object())
    with pytest.raises(CannotMake, match=r"has no vectors of images\. Name a contrastive model"):
        Nearest().load("itm:some")


def test_no_similarity_lies_between_bounds_that_cross() -> None:
    with pytest.raises(ValidationError, match="`at_least` must be less than `below`"):
        Nearest(at_least=0.9, below=0.9)
