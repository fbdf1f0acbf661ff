"""The vectors of images: those stored, and the others computed."""

from collections.abc import Iterable, Iterator, Sequence

import numpy as np

from predictions.actions.duplicates import embed_readable
from predictions.image_sets.embeddings import Embedding, Vectors
from predictions.models import PictureVector
from predictions.scorers.batches import in_batches

VECTORS_AT_ONCE, PICTURES_AT_ONCE = 512, 64


def vectors_of(images: Iterable[str], embedding: Embedding) -> Iterator[tuple[list[str], Vectors]]:
    """Yield images, by SHA-256, and their vectors of length 1, in blocks. Images that cannot be read are left out."""
    for names in in_batches(images, VECTORS_AT_ONCE):
        stored = PictureVector.objects.filter(image__in=names, embedding=embedding.name).order_by("image_id")
        rows = list(stored.values_list("image_id", "vector"))
        # Without a vector: it could not be read.
        if block := [(name, vector) for name, vector in rows if vector]:
            vectors = np.stack([np.frombuffer(vector, "<f2") for _, vector in block]).astype(np.float32)
            yield [name for name, _ in block], vectors
        yield from _computed([name for name in names if name not in dict(rows)], embedding)


def _computed(images: Sequence[str], embedding: Embedding) -> Iterator[tuple[list[str], Vectors]]:
    for names in in_batches(images, PICTURES_AT_ONCE):
        if found := embed_readable(names, embedding):
            yield list(found), np.stack(list(found.values()))
