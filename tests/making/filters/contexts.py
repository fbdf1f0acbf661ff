"""What filters of a whole stage may look at in tests: nothing unless it is given."""

from collections.abc import Iterator, Mapping, Sequence

from PIL import Image

from making.errors import CannotMake
from making.filters.base import StageContext
from predictions.image_sets.embeddings import Embedding, Vectors
from predictions.scorers import NoPicture


def no_context() -> StageContext:
    return context()


def context(
    texts: Sequence[str] = (),
    *,
    sets: Mapping[str, Sequence[str]] | None = None,
    made: Mapping[str, Image.Image] | None = None,
    project: Mapping[str, Image.Image] | None = None,
) -> StageContext:
    """Return what a project shows to filters: captions, known test sets, made images, images of instances."""

    def known_set(name: str) -> Iterator[str]:
        if name not in (sets or {}):
            raise CannotMake(f"There is no set {name}.")
        return iter((sets or {})[name])

    def open_picture(name: str) -> Image.Image:
        if name not in (made or {}):
            raise NoPicture(f"The image {name} cannot be read.")
        return (made or {})[name]

    def known_vectors(embedding: Embedding) -> Iterator[tuple[Sequence[str], Vectors]]:
        pictures = project or {}
        if pictures:
            yield list(pictures), embedding.embed(list(pictures.values()))

    return StageContext(lambda: iter(texts), known_set, open_picture, known_vectors)
