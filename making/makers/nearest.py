"""The images of the project that are nearest to one by a model's vectors (`nearest:MODEL`).

Source: Yuksekgonul et al. 2023 (NegCLIP), section 3: hard negative images are the nearest ones by the cosine of CLIP's
vectors. The search is exact.
"""

from collections.abc import Callable, Mapping, Sequence
from importlib.metadata import version
from importlib.util import find_spec
from typing import ClassVar, Self

import numpy as np
from numpy.typing import NDArray
from pydantic import Field, model_validator

from making.errors import CannotMake
from making.makers.base import FoundImage, Images, LoadedMaker, Maker, MakerIdentity, NothingMade, Request
from predictions.image_sets.embeddings import ColourAndGradient, embed_each
from predictions.scorers import CannotLoad, ModelIdentity, NoPicture, OpenPicture, OutOfMemory, scorer_of
from predictions.scorers.batches import in_batches
from predictions.scorers.contrastive import Contrastive

VERSION = "1"
# A policy for use without a model.
LAYOUT = "colour-and-gradient"
# Images whose vectors are computed between two reports of progress.
AT_ONCE = 64
# More rows than wanted are searched for: the libraries round cosines, by up to ROUNDING, so may order rows wrongly.
SPARE, ROUNDING = 8, 1e-5
# If too many of these rows are copies or equally near, so many times as many are searched for.
WIDER = 8
# Most rows that are searched for at once, for all requests together.
MOST_AT_ONCE = 1_000_000

Vectors = NDArray[np.float32]
# Returns the largest similarities of each vector to the others, largest first, and the others' rows.
Search = Callable[[Vectors, int], tuple[Vectors, NDArray[np.int64]]]


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
        told = f"{VERSION}; {self._model.about}; {_library()}"
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
        self._others = Others(self._vectors) if vectors else None

    def make(self, requests: Sequence[Request]) -> list[Sequence[FoundImage] | NothingMade]:
        missing = list(dict.fromkeys(each.image for each in requests if each.image not in self._places))
        computed = self._model.vectors(missing, self._open) if missing else {}
        vectors = [
            self._vectors[self._places[each.image]] if each.image in self._places else computed[each.image]
            for each in requests
        ]
        readable = [number for number, vector in enumerate(vectors) if not isinstance(vector, NoPicture)]
        found: dict[int, list[tuple[int, float]]] = {}
        if readable and self._others is not None:
            near = self._others.nearest(
                np.stack([np.asarray(vectors[number], np.float32) for number in readable]),
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
        broken = NoPicture("The model's vector of the image is not made of numbers. Check the model's weights.")
        numbers = {name: vector if np.isfinite(vector).all() else broken for name, vector in found.items()}
        return {**numbers, **gone}


class _Layout:
    """Vectors of colours and edges by region, without a model."""

    about, weights = ColourAndGradient.name, ""

    def __init__(self) -> None:
        self._embedding = ColourAndGradient()

    def keep_in(self, images: Images) -> None:
        """They take no longer than reading them would."""

    def vectors(self, names: Sequence[str], open_picture: OpenPicture) -> Mapping[str, Vectors | NoPicture]:
        return embed_each(names, open_picture, self._embedding)


class Others:
    """Vectors among which the nearest are searched, exactly: by faiss where it is installed, else by scikit-learn.

    vectors: shape (n, dimensions), of length 1.
    """

    def __init__(self, vectors: Vectors) -> None:
        self._vectors = vectors
        self._search = (_faiss if has_faiss() else _scikit_learn)(vectors)

    def nearest(
        self,
        vectors: Vectors,
        excluded: Sequence[Sequence[int]],
        *,
        count: int,
        at_least: float = -1,
        below: float = 2,
    ) -> list[list[tuple[int, float]]]:
        """Return for each of `vectors` the rows of the nearest others, nearest first, with their cosines.

        Of equal cosines the lower row comes first. excluded: for each vector, rows to leave out. Cosines are from
        `at_least` up to, but not including, `below`. At most `count` others each.

        Example: of (1, 0), (0.6, 0.8) and (0, 1), the nearest other of the first is the second, with 0.6.
        """
        found: dict[int, list[tuple[int, float]]] = {}
        left: Sequence[int] = range(len(vectors))
        wanted = count + SPARE + max(map(len, excluded), default=0)
        while left:
            wanted = min(wanted, len(self._vectors))
            for some in in_batches(left, max(1, MOST_AT_ONCE // wanted)):
                similarities, rows = self._search(vectors[some], wanted)
                for number, last, near in zip(some, similarities[:, -1].tolist(), rows, strict=True):
                    cosines = self._cosines(vectors[number], near, excluded[number], below)
                    nearest = [each for each in cosines if each[1] >= at_least][:count]
                    least = nearest[-1][1] if len(nearest) == count else at_least
                    # No row that was not searched can be nearer, or as near.
                    if wanted == len(self._vectors) or last + ROUNDING < least:
                        found[number] = nearest
            left = [number for number in left if number not in found]
            wanted *= WIDER
        return [found[number] for number in range(len(vectors))]

    def _cosines(
        self, vector: Vectors, rows: NDArray[np.int64], excluded: Sequence[int], below: float
    ) -> list[tuple[int, float]]:
        """Return rows and their cosines, nearest first, computed in float64, so that batches change nothing."""
        cosines = np.clip(np.einsum("ij,j->i", self._vectors[rows], vector, dtype=np.float64), -1, 1)
        own = {*excluded}
        found = [
            (row, cosine)
            for row, cosine in zip(rows.tolist(), cosines.tolist(), strict=True)
            if cosine < below and row not in own
        ]
        return sorted(found, key=lambda each: (-each[1], each[0]))


def has_faiss() -> bool:
    """Whether faiss is installed, which no site needs."""
    return find_spec("faiss") is not None


def _library() -> str:
    """Return the name and version of the library that searches."""
    if not has_faiss():
        return f"scikit-learn {version('scikit-learn')}"
    import faiss

    return f"faiss {faiss.__version__}"


def _faiss(vectors: Vectors) -> Search:
    import faiss

    index = faiss.IndexFlatIP(vectors.shape[1])
    index.add(np.ascontiguousarray(vectors))
    found: Search = index.search
    return found


def _scikit_learn(vectors: Vectors) -> Search:
    # Imported here, because only work in the background needs it.
    from sklearn.neighbors import NearestNeighbors

    model = NearestNeighbors(algorithm="brute").fit(vectors)

    def search(some: Vectors, wanted: int) -> tuple[Vectors, NDArray[np.int64]]:
        distances, rows = model.kneighbors(some, wanted)
        return 1 - distances**2 / 2, rows

    return search
