"""Read known test sets: folders of images, files of their vectors, or of texts, in one folder of the operator.

`FOLDER/coco-val2017/` holds images. `FOLDER/imagecode-test.npz` holds the vectors of images that may not be
distributed: arrays `names` (texts), `vectors` (one row each) and `embedding` (its name). The vectors of a folder's
images are stored in such a file, too. `FOLDER/imagecode-test.txt` holds texts.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from zipfile import BadZipFile

import numpy as np

from predictions.image_sets.embeddings import Embedding, Vectors
from predictions.image_sets.set_files import put_arrays
from predictions.image_sets.videos import PICTURES, open_pictures
from predictions.scorers.batches import in_batches

BATCH = 64


@dataclass(frozen=True)
class KnownSet:
    """A test set: its name, the names of its images, and their vectors of length 1, one row each."""

    name: str
    pictures: list[str]
    vectors: Vectors


class UnusableSet(Exception):
    """A file of vectors cannot be used; the message is for people and says what to do."""


def known_sets(folder: Path, kept: Path, *, embedding: Embedding, progress: Callable[[], None]) -> Iterator[KnownSet]:
    """Yield the sets in `folder` by name, one at a time; computed vectors are stored in the folder `kept`.

    A folder of images is embedded once, and again when its images change. Calls `progress` between batches. Raises
    UnusableSet.
    """
    for path in sorted(folder.iterdir()) if folder.is_dir() else ():
        if path.is_dir():
            yield _embed_pictures(path, kept, embedding, progress)
        elif path.suffix == ".npz":
            yield _read_set(path, embedding.name)


def known_texts(file: Path) -> Iterator[str]:
    """Yield the texts of a test set, which its file has one per line. Raises OSError, UnicodeDecodeError."""
    with file.open(encoding="utf-8") as lines:
        yield from filter(None, map(str.strip, lines))


def _read_set(path: Path, embedding: str) -> KnownSet:
    try:
        with np.load(path) as stored:
            names, vectors, said = stored["names"].tolist(), stored["vectors"], str(stored["embedding"])
    except (OSError, ValueError, KeyError, EOFError, BadZipFile) as error:
        raise UnusableSet(
            f"{path.name} is not a file of vectors ({error}). It needs names, vectors and embedding."
        ) from error
    if said != embedding:
        raise UnusableSet(
            f"{path.name} has vectors of {said}, but the images here have those of {embedding}. Create the file again."
        )
    if vectors.ndim != 2 or len(vectors) != len(names):
        raise UnusableSet(f"{path.name} has {len(names)} names and vectors of shape {vectors.shape}.")
    return KnownSet(path.stem, names, vectors.astype(np.float32))


def _embed_pictures(folder: Path, kept: Path, embedding: Embedding, progress: Callable[[], None]) -> KnownSet:
    """Return the vectors of a folder's images, computed where a file is new, has changed or could not be read before.

    An image that cannot be read gets a row of zeros, which is far from every vector.
    """
    files = sorted(path for path in folder.rglob("*") if path.suffix.lower() in PICTURES)
    names = [path.relative_to(folder).as_posix() for path in files]
    stamps = [_stamp(path) for path in files]
    file = kept / f"{folder.name}.npz"
    rows = _kept_rows(file, embedding.name)
    known = list(zip(names, stamps, strict=True))
    missing = [(name, path) for each, name, path in zip(known, names, files, strict=True) if each not in rows]
    stamp_of = dict(known)
    for batch in in_batches(missing, BATCH):
        pictures, _ = open_pictures(dict(batch))
        made = embedding.embed(list(pictures.values())) if pictures else ()
        rows |= {(name, stamp_of[name]): row for name, row in zip(pictures, made, strict=True)}
        progress()
    none = np.zeros_like(next(iter(rows.values()))) if rows else np.zeros(embedding.embed([]).shape[1], np.float32)
    vectors = np.stack([rows.get(each, none) for each in known]) if known else embedding.embed([])
    if missing or not file.exists():
        kept.mkdir(parents=True, exist_ok=True)
        arrays = {"names": np.array(names, str), "vectors": vectors, "embedding": np.array(embedding.name)}
        put_arrays(file, arrays | {"stamps": np.array(stamps, str)})
    return KnownSet(folder.name, names, vectors)


def _stamp(path: Path) -> str:
    """Return the size and the time of change of a file; "" for a link that leads nowhere."""
    try:
        status = path.stat()
    except OSError:
        return ""
    return f"{status.st_size} {status.st_mtime_ns}"


def _kept_rows(file: Path, embedding: str) -> dict[tuple[str, str], Vectors]:
    """Return (name, size and time of change) -> the vector that was stored of an image, but for unreadable ones."""
    try:
        known = _read_set(file, embedding)
        with np.load(file) as stored:
            stamps = stored["stamps"].tolist()
    except (UnusableSet, OSError, KeyError):
        return {}
    rows = zip(known.pictures, stamps, known.vectors, strict=True)
    return {(name, stamp): row for name, stamp, row in rows if row.any()}
