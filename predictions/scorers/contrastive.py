"""Contrastive models: one vector per image and per text; the score is the cosine between them.

Shared by all libraries: each image and text is embedded once, and its vector is reused. Pure: subclasses use the
library.
"""

import hashlib
import json
from abc import abstractmethod
from collections import OrderedDict
from collections.abc import Callable, Generator, Mapping, Sequence
from contextlib import AbstractContextManager, closing
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray
from PIL import Image

from predictions.feeder import Batch, NoPicture, OpenPicture
from predictions.scorers.base import ModelIdentity
from predictions.scorers.batches import BatchedScorer, Vector, in_batches, pad_rows

# Imported only for type checking: most workers store no vectors.
if TYPE_CHECKING:
    from predictions.scorers.vector_store import VectorStore

# Vectors held by one process; about 512 MB with 1,024 numbers each.
BYTES_KEPT = 512 * 2**20
# A fixed text whose embedding identifies the model.
TRIED_TEXT, TRIED_SIZE = "Two red birds, and a cat: WHO is under the roof?", (96, 64)


class Contrastive(BatchedScorer):
    """A model with two towers."""

    def __init__(self, identity: ModelIdentity, *, batch: int) -> None:
        super().__init__(identity, batch=batch)
        self._pictures = _VectorCache()
        self._texts = _VectorCache()
        self._folder: VectorStore | None = None
        self._spaces: tuple[bytes, bytes] | None = None

    def keep_in(self, folder: "VectorStore") -> None:
        self._folder = folder

    @abstractmethod
    def embed_pictures(self, batch: Any) -> NDArray[np.float32]:
        """Return one vector, of any length, per image of a batch, in rows. Raises OutOfMemory.

        batch: an array of preprocessed images, or what `images_on` makes of it.
        """

    @abstractmethod
    def embed_texts(self, batch: NDArray[Any]) -> NDArray[np.float32]:
        """Return one vector, of any length, per text of a batch, in rows. Raises OutOfMemory."""

    def conditions(self) -> Mapping[str, Any]:
        return {**super().conditions(), "score": "cosine"}

    def score_in_batches(
        self, pairs: Sequence[tuple[str, str]], open_picture: OpenPicture
    ) -> Sequence[float | NoPicture]:
        """Return the cosines, -1 to 1."""
        texts = self._of_texts([text for text, _ in pairs])
        pictures = self._of_pictures([picture for _, picture in pairs], open_picture)
        return [_cosine(texts[text], pictures[picture]) for text, picture in pairs]

    def read_ahead(self, names: Sequence[str], open_picture: OpenPicture) -> AbstractContextManager[OpenPicture]:
        return super().read_ahead(self._pictures.without(names), open_picture)

    def try_batch(self, picture: NDArray[Any]) -> int:
        return len(self.embed_pictures(np.stack([picture] * self.batch)))

    def forget(self) -> None:
        self._pictures.clear()
        self._texts.clear()
        self._spaces = None

    def vectors_of(
        self, names: Sequence[str], open_picture: OpenPicture
    ) -> tuple[Mapping[str, Vector], Mapping[str, NoPicture]]:
        """Return the vectors of images by name, and why each of the others has none.

        Length 1; zeros if the model gives no direction. Halves batches as `score` does; raises OutOfMemory.
        """
        found = self._retry_smaller(lambda: self._of_pictures(names, open_picture))
        gone = {name: why for name, why in found.items() if isinstance(why, NoPicture)}
        return {name: vector for name, vector in found.items() if not isinstance(vector, NoPicture)}, gone

    def vectors_of_texts(self, texts: Sequence[str]) -> Mapping[str, Vector]:
        """Return the vectors of texts by text, as `vectors_of` does those of images. Raises OutOfMemory."""
        return self._retry_smaller(lambda: self._of_texts(texts))

    def _of_texts(self, texts: Sequence[str]) -> dict[str, Vector]:
        def read(missing: Sequence[str]) -> Generator[Batch]:
            for some in in_batches(missing, self.batch):
                yield Batch(some, pad_rows([self.tokenize(text) for text in some], self.batch))

        return self._vectors(texts, read, of_pictures=False)

    def _of_pictures(self, names: Sequence[str], open_picture: OpenPicture) -> dict[str, Vector | NoPicture]:
        gone: dict[str, NoPicture] = {}

        def read(missing: Sequence[str]) -> Generator[Batch]:
            return self.read_pictures(missing, open_picture).batches(self.batch, self.images_on, gone)

        return {**self._vectors(names, read, of_pictures=True), **gone}

    def _vectors(
        self, names: Sequence[str], read: Callable[[Sequence[str]], Generator[Batch]], *, of_pictures: bool
    ) -> dict[str, Vector]:
        """Return the vectors of images or texts by name, stored or computed from the input that `read` returns."""
        kept, embed = (self._pictures, self.embed_pictures) if of_pictures else (self._texts, self.embed_texts)
        found, missing = kept.split(names)
        if self._folder is not None and missing:
            found |= kept.keep(self._folder.get(self._space(of_pictures=of_pictures), missing))
            missing = [name for name in missing if name not in found]
        with closing(read(missing)) as batches:
            for batch in batches:
                vectors = embed(batch.rows)[: len(batch.names)]
                made = dict(zip(batch.names, _normalize(vectors), strict=True))
                found |= kept.keep(made)
                if self._folder is not None:
                    self._folder.put(self._space(of_pictures=of_pictures), made)
        return found

    def _space(self, *, of_pictures: bool) -> bytes:
        """Return a digest of everything, besides the image or text, that determines its vector.

        Included: model, weights, preprocessing, number type, batch shape, libraries, device. Weights do not determine
        everything (such as the activation, or the numbers of words), so the exact vectors of a generated image and a
        fixed text are included too. Raises OutOfMemory.
        """
        if self._spaces is None:
            known = self.identity
            told = [known.name, known.version, known.weights, self.batch, dict(self.facts())]
            canonical = json.dumps(told, sort_keys=True, separators=(",", ":"), default=str).encode()
            pixels, tokens = self.preprocess(_made_up()), self.tokenize(TRIED_TEXT)
            seen = self.embed_pictures(pad_rows([pixels], self.batch))[:1]
            read = self.embed_texts(pad_rows([tokens], self.batch))[:1]
            picture, text = (
                hashlib.sha256(b"|".join([canonical, sort, given.tobytes(), made.tobytes()])).digest()
                for sort, given, made in ((b"picture", pixels, seen), (b"text", tokens, read))
            )
            self._spaces = picture, text
        return self._spaces[0 if of_pictures else 1]


class _VectorCache:
    """Vectors by name; the least recently used ones are dropped when there are too many."""

    def __init__(self) -> None:
        self._vectors: OrderedDict[str, Vector] = OrderedDict()

    def split(self, names: Sequence[str]) -> tuple[dict[str, Vector], list[str]]:
        """Return the stored vectors of `names`, and the names without one, each once, in order."""
        found = {}
        missing = {}
        for name in names:
            if name in self._vectors:
                self._vectors.move_to_end(name)
                found[name] = self._vectors[name]
            else:
                missing[name] = True
        return found, list(missing)

    def without(self, names: Sequence[str]) -> list[str]:
        """Return those of `names` without a vector, each once, in order. Another thread may change these meanwhile."""
        return [name for name in dict.fromkeys(names) if name not in self._vectors]

    def keep(self, vectors: Mapping[str, Vector]) -> Mapping[str, Vector]:
        self._vectors.update(vectors)
        while self._vectors and len(self._vectors) * next(iter(self._vectors.values())).nbytes > BYTES_KEPT:
            self._vectors.popitem(last=False)
        return vectors

    def clear(self) -> None:
        self._vectors.clear()


def _made_up() -> Image.Image:
    """Return a generated image whose colours change in both directions and in steps."""
    width, height = TRIED_SIZE
    down, right = np.mgrid[0:height, 0:width]
    colours = np.stack([right * 255 // width, down * 255 // height, (right // 8 + down // 8) % 2 * 200], axis=-1)
    return Image.fromarray(colours.astype(np.uint8))


def _normalize(vectors: NDArray[np.float32]) -> Vector:
    """Normalize rows to length 1; a row of zeros stays zero, so its cosine with any vector is 0."""
    lengths = np.linalg.norm(vectors.astype(np.float64), axis=1, keepdims=True)
    return (vectors / np.where(lengths == 0, 1, lengths)).astype(np.float32)


def _cosine(text: Vector, picture: Vector | NoPicture) -> float | NoPicture:
    if isinstance(picture, NoPicture):
        return picture
    return float(np.dot(text.astype(np.float64), picture.astype(np.float64)))
