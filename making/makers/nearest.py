"""The images of the project that are nearest to one by a model's vectors (`nearest:MODEL`).

Source: Yuksekgonul et al. 2023 (NegCLIP), section 3: hard negative images are the nearest ones by the cosine of CLIP's
vectors. The search is exact.
"""

from collections.abc import Mapping, Sequence
from importlib.metadata import version
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from making.errors import CannotMake
from making.makers.base import FoundImage, Images, LoadedMaker, Maker, MakerIdentity, NothingMade, Request
from predictions.image_sets.embeddings import ColourAndGradient
from predictions.scorers import CannotLoad, ModelIdentity, NoPicture, OpenPicture, OutOfMemory, scorer_of
from predictions.scorers.batches import in_batches
from predictions.scorers.contrastive import Contrastive

VERSION = "1"
# A policy for use without a model.
LAYOUT = "colour-and-gradient"
# Images whose vectors are computed between two reports of progress.
AT_ONCE = 64
# Others compared at once: 200 requests need 13 MB for their similarities.
BLOCK = 16_384
# More than wanted are computed again exactly, because float32 may order some of them otherwise, by this much.
SPARE, ROUNDING = 8, 1e-5

Vectors = NDArray[np.float32]


class Nearest(Maker):
    """The nearest other images of the project.

    `below`: images that are at least as similar are the same one, stored twice. `at_least`: the least similarity.
    """

    policies: ClassVar[Mapping[str, str]] = {
        "MODEL": "Find the nearest other images of the project by a contrastive model, such as onnx:demo.",
        LAYOUT: "Find the nearest other images of the project by their colours and edges, without a model.",
    }
    makes_images: ClassVar[bool] = True
    reads_images: ClassVar[bool] = True

    below: float = Field(default=0.9999, ge=-1, le=1.0001)
    at_least: float = Field(default=-1, ge=-1, le=1)

    @model_validator(mode="after")
    def _check_order(self) -> Self:
        if self.at_least >= self.below:
            raise ValueError("`at_least` must be less than `below`.")
        return self

    def load(self, policy: str) -> LoadedMaker:
        return _Loaded(policy, self)


class _Loaded(LoadedMaker):
    def __init__(self, policy: str, options: Nearest) -> None:
        self._options = options
        self._model = _Layout() if policy == LAYOUT else _TwoTower(policy)
        told = f"{VERSION}; {self._model.about}; numpy {version('numpy')}"
        self.identity = MakerIdentity(f"nearest:{policy}"[:100], told[:200], self._model.weights)

    def look_at(self, images: Images) -> None:
        self._open = images.open
        self._model.keep_in(images)
        names: list[str] = []
        vectors: list[Vectors] = []
        for some in in_batches(images.names, AT_ONCE):
            found = self._model.vectors(some, images.open)
            for name in some:
                if not isinstance(vector := found[name], NoPicture):
                    names.append(name)
                    vectors.append(vector)
            images.progress()
        self._names = names
        self._places = {name: place for place, name in enumerate(names)}
        self._vectors = np.stack(vectors) if vectors else np.zeros((0, 1), np.float32)

    def make(self, requests: Sequence[Request]) -> list[Sequence[FoundImage] | NothingMade]:
        missing = list(dict.fromkeys(each.image for each in requests if each.image not in self._places))
        computed = self._model.vectors(missing, self._open) if missing else {}
        vectors = [
            self._vectors[self._places[each.image]] if each.image in self._places else computed[each.image]
            for each in requests
        ]
        readable = [number for number, vector in enumerate(vectors) if not isinstance(vector, NoPicture)]
        found: dict[int, list[tuple[int, float]]] = {}
        if readable and len(self._names):
            near = nearest_others(
                np.stack([np.asarray(vectors[number], np.float32) for number in readable]),
                self._vectors,
                [self._own(requests[number]) for number in readable],
                count=max(each.count for each in requests),
                at_least=self._options.at_least,
                below=self._options.below,
            )
            found = dict(zip(readable, near, strict=True))
        return [
            self._result(request, vector, found.get(number, []))
            for number, (request, vector) in enumerate(zip(requests, vectors, strict=True))
        ]

    def _own(self, request: Request) -> list[int]:
        return [self._places[name] for name in {*request.own_images, request.image} if name in self._places]

    def _result(
        self, request: Request, vector: Vectors | NoPicture, near: Sequence[tuple[int, float]]
    ) -> Sequence[FoundImage] | NothingMade:
        if isinstance(vector, NoPicture):
            return NothingMade(str(vector))
        found = [FoundImage(self._names[place], round(similarity, 6)) for place, similarity in near[: request.count]]
        return found or NothingMade("No other image of the project is near enough.")


class _TwoTower:
    """The vectors of a contrastive model's image tower. Raises CannotMake."""

    def __init__(self, spec: str) -> None:
        try:
            model = scorer_of(spec)
        except CannotLoad as error:
            raise CannotMake(f"The model {spec} cannot be loaded: {error}") from error
        if not isinstance(model, Contrastive):
            raise CannotMake(f"The model {spec} has no vectors of images. Name a contrastive model, such as CLIP.")
        self._model = model
        known: ModelIdentity = model.identity
        self.about, self.weights = " ".join(filter(None, (known.name, known.version))), known.weights

    def keep_in(self, images: Images) -> None:
        if images.vectors is not None:
            self._model.keep_in(images.vectors)

    def vectors(self, names: Sequence[str], open_picture: OpenPicture) -> Mapping[str, Vectors | NoPicture]:
        try:
            found, gone = self._model.vectors_of(names, open_picture)
        except OutOfMemory as error:
            raise CannotMake("An image does not fit into the memory of this machine.") from error
        return {**found, **gone}


class _Layout:
    """Vectors of colours and edges by region, without a model."""

    about, weights = ColourAndGradient.name, ""

    def __init__(self) -> None:
        self._embedding = ColourAndGradient()

    def keep_in(self, images: Images) -> None:
        """They take no longer than reading them would."""

    def vectors(self, names: Sequence[str], open_picture: OpenPicture) -> Mapping[str, Vectors | NoPicture]:
        return {name: self._vector(name, open_picture) for name in names}

    def _vector(self, name: str, open_picture: OpenPicture) -> Vectors | NoPicture:
        try:
            vector: Vectors = self._embedding.embed([open_picture(name)])[0]
            return vector
        except NoPicture as error:
            return error


def nearest_others(
    vectors: Vectors,
    others: Vectors,
    excluded: Sequence[Sequence[int]],
    *,
    count: int,
    at_least: float = -1,
    below: float = 2,
) -> list[list[tuple[int, float]]]:
    """Return for each of `vectors` the rows of the nearest `others`, nearest first, with their cosines.

    Exact: all cosines are computed, in blocks, in float32; those of the chosen ones again in float64, so that batches
    change nothing. vectors: shape (n, dimensions); others: (m, dimensions); all of length 1. excluded: for each vector,
    rows of `others` that are none. Cosines are from `at_least` up to, but not including, `below`. At most `count`
    others each.

    Example: of (1, 0), (0.6, 0.8) and (0, 1), the nearest other of the first is the second, with 0.6.
    """
    wanted = count + SPARE
    rows = [np.asarray(each, np.int64) for each in excluded]
    values, places = np.zeros((len(vectors), 0), np.float32), np.zeros((len(vectors), 0), np.int64)
    for start in range(0, len(others), BLOCK):
        cosines = vectors @ others[start : start + BLOCK].T
        cosines[cosines >= below + ROUNDING] = -np.inf
        for number, each in enumerate(rows):
            cosines[number, each[(each >= start) & (each < start + BLOCK)] - start] = -np.inf
        best = _top(cosines, wanted)
        values = np.concatenate([values, np.take_along_axis(cosines, best, axis=1)], axis=1)
        places = np.concatenate([places, best + start], axis=1)
        best = _top(values, wanted)
        values, places = np.take_along_axis(values, best, axis=1), np.take_along_axis(places, best, axis=1)
    return [
        _exact(vector, others, row[np.isfinite(found)], count, at_least, below)
        for vector, row, found in zip(vectors, places, values, strict=True)
    ]


def _top(values: Vectors, wanted: int) -> NDArray[np.int64]:
    """Return the columns of the largest values of each row, in any order."""
    best: NDArray[np.int64] = np.argpartition(values, -min(wanted, values.shape[1]), axis=1)[:, -wanted:]
    return best


def _exact(
    vector: Vectors, others: Vectors, rows: NDArray[np.int64], count: int, at_least: float, below: float
) -> list[tuple[int, float]]:
    cosines = np.clip(others[rows].astype(np.float64) @ vector.astype(np.float64), -1, 1)
    found = [
        (row, cosine) for row, cosine in zip(rows.tolist(), cosines.tolist(), strict=True) if at_least <= cosine < below
    ]
    return sorted(found, key=lambda each: (-each[1], each[0]))[:count]
