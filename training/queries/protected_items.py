"""What no model may be trained on: the one definition of it.

- Instances of a baseline: people answer about them to be compared with models, in studies whose purpose it is.
- Instances of a split for validation or tests, whoever was asked about them.
- Items of released test sets (`results` reads them, and passes them on).
- Public test sets in the site's folder `KNOWN_SETS_DIR`.

Of an instance, all captions, all images, and all descriptions that people were asked about are protected.
"""

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from django.conf import settings
from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Lower

from predictions.actions.duplicates import below, readable
from predictions.image_sets.embeddings import GAINS, ColourAndGradient, Embedding, NoEmbedding, Vectors, embedding_of
from predictions.image_sets.known_test_sets import KnownSet, UnusableSet, known_sets, known_texts
from predictions.queries.vectors import PICTURES_AT_ONCE, vectors_of
from predictions.scorers.batches import in_batches
from studies.descriptions import source_description
from studies.models import Instance, Project, Purpose, Question
from training.errors import CannotTrain
from training.frames import without_frame
from training.leaks import Item, LeakCheck, Protected
from training.near_crops import NearCrops, Pixels, small_pixels
from training.source_ids import source_ids
from training.splits import FOR_TRAINING, FOR_VALIDATION

CHUNK = 1000
# Of each, 55 windows are embedded, which takes about a tenth of a second.
MOST_CROPPED = 3_000


def protected_instances(projects: QuerySet[Project], *, for_validation: bool = False) -> QuerySet[Instance]:
    """Return the protected instances of `projects`.

    for_validation: those that a model may not be chosen by either, so without the splits for validation.
    """
    in_baseline = Question.objects.filter(instance=OuterRef("pk"), study__purpose=Purpose.BASELINE)
    usable = FOR_TRAINING | FOR_VALIDATION if for_validation else FOR_TRAINING
    held_out = Instance.objects.filter(project__in=projects).alias(split_name=Lower("split"))
    return held_out.filter(Exists(in_baseline) | ~Q(split_name__in=usable)).order_by("pk")


def protected_items(projects: QuerySet[Project], *, for_validation: bool = False) -> Iterator[Item]:
    """Yield the protected instances of `projects` as items; see `protected_instances`."""
    found = protected_instances(projects, for_validation=for_validation).select_related("project")
    rows = found.prefetch_related("images").iterator(chunk_size=CHUNK)
    while instances := list(islice(rows, CHUNK)):
        descriptions = _descriptions([instance.pk for instance in instances])
        for instance in instances:
            project, images = instance.project.slug, list(instance.images.all())
            yield Item(
                f"{project}/{instance.key}",
                [*instance.captions.values(), *descriptions.get(instance.pk, ())],
                [image.image_id for image in images if image.image_id],
                [
                    instance_id(project, instance.key),
                    *source_ids(name for image in images for name in (image.filename, image.source)),
                ],
                of=project,
            )


def instance_id(project: str, key: str) -> str:
    """Return the id that an instance, and all that is made from it, has among the sources of an item."""
    return f"instance:{project}/{key}"


def protect(items: Iterable[Item], *, progress: Callable[[], None] = lambda: None) -> LeakCheck:
    """Return a check for leaks of `items` and of the known test sets.

    Calls `progress` between batches. Raises CannotTrain if a known test set cannot be used.
    """
    embedding = _embedding()
    held = [*items, *_known_texts()]
    own = list(dict.fromkeys(image for item in held for image in item.images))
    names: list[str] = []
    blocks: list[Vectors] = []
    for some, vectors in vectors_of(own, embedding):
        names += some
        blocks.append(vectors)
        progress()
    for known in _known_pictures(embedding, progress):
        pictures = [f"{known.name}: {picture}" for picture in known.pictures]
        # With the folder's name: plain numbers are ids of photos in some collections only.
        held += [
            Item(f"{known.name}: {picture}", sources=source_ids([f"{known.name}/{picture}"]), of=known.name)
            for picture in known.pictures
        ]
        names += pictures
        blocks.append(known.vectors)

    def of_examples(images: Sequence[str]) -> Mapping[str, Vectors]:
        progress()
        found = vectors_of(images, embedding)
        return {name: vector for some, vectors in found for name, vector in zip(some, vectors, strict=True)}

    def pixels_of(images: Sequence[str]) -> Mapping[str, Pixels]:
        found: dict[str, Pixels] = {}
        for some in in_batches(images, PICTURES_AT_ONCE):
            found |= {name: small_pixels(picture) for name, picture in readable(some).items()}
            progress()
        return found

    def unframed_of(images: Sequence[str]) -> Mapping[str, tuple[Vectors, Pixels]]:
        found: dict[str, tuple[Vectors, Pixels]] = {}
        for some in in_batches(images, PICTURES_AT_ONCE):
            insides = {name: without_frame(picture) for name, picture in readable(some).items()}
            found |= {
                name: (embedding.embed([inside])[0], small_pixels(inside))
                for name, inside in insides.items()
                if inside is not None
            }
            progress()
        return found

    rows = np.concatenate(blocks) if blocks else None
    if not isinstance(embedding, ColourAndGradient):
        return LeakCheck(Protected(held, images=names, vectors=rows, near_below=below()), vectors_of=of_examples)
    altered = _altered(own[:MOST_CROPPED], embedding, progress)
    protected = Protected(
        held, images=names, vectors=rows, alterations=embedding, near_below=below(), **altered._asdict()
    )
    return LeakCheck(protected, vectors_of=of_examples, pixels_of=pixels_of, unframed_of=unframed_of)


class _Altered(NamedTuple):
    """The first protected images when they are brighter, and their parts; see `Protected`."""

    brightened: Sequence[str] = ()
    brighter: Vectors | None = None
    crops: NearCrops | None = None


def _altered(images: Sequence[str], embedding: ColourAndGradient, progress: Callable[[], None]) -> _Altered:
    """Return what is compared of altered images, vectors in half precision because they are many."""
    names: list[str] = []
    pixels: list[Pixels] = []
    brighter: list[Vectors] = []
    windows: list[Vectors] = []
    for some in in_batches(images, PICTURES_AT_ONCE):
        pictures = readable(some)
        for name, picture in pictures.items():
            names.append(name)
            pixels.append(small_pixels(picture))
            brighter.append(embedding.brighter([picture])[0].astype(np.float16))
            windows.append(embedding.windows([picture])[0].astype(np.float16))
            progress()
    if not names:
        return _Altered()
    brightened = [name for name in names for _ in GAINS]
    return _Altered(brightened, np.concatenate(brighter), NearCrops(names, np.stack(windows), np.stack(pixels)))


def _descriptions(instances: Sequence[int]) -> Mapping[int, list[str]]:
    """Return the descriptions that people were asked about, by instance."""
    found: dict[int, list[str]] = {}
    asked = Question.objects.filter(instance__in=instances).exclude(source_type="").order_by()
    for instance, source in asked.values_list("instance_id", "source"):
        if (description := source_description(source)) is not None:
            found.setdefault(instance, []).append(description.text)
    return found


def _embedding() -> Embedding:
    if settings.NEAR_DUPLICATE_MODEL and settings.NEAR_DUPLICATE_BELOW is None:
        raise CannotTrain("NEAR_DUPLICATE_MODEL is set without NEAR_DUPLICATE_BELOW. Set both, or neither.")
    try:
        return embedding_of(settings.NEAR_DUPLICATE_MODEL)
    except NoEmbedding as error:
        raise CannotTrain(f"Images cannot be compared with protected ones. {error}") from error


def _known_texts() -> Iterator[Item]:
    for file in sorted(Path(settings.KNOWN_SETS_DIR).glob("*.txt")) if settings.KNOWN_SETS_DIR else ():
        try:
            for number, text in enumerate(known_texts(file), start=1):
                # A line does not say which image its text is about, so all lines count as about one.
                yield Item(f"{file.stem}: text {number}", [text], sources=[f"known-texts:{file.stem}"], of=file.stem)
        except (OSError, UnicodeDecodeError) as error:
            raise CannotTrain(
                f"The known test set {file.name} cannot be read ({error}). It must be in UTF-8, a text a line."
            ) from error


def _known_pictures(embedding: Embedding, progress: Callable[[], None]) -> Iterator[KnownSet]:
    if not settings.KNOWN_SETS_DIR:
        return
    kept = Path(settings.DATA_DIR) / "known-sets"
    try:
        yield from known_sets(Path(settings.KNOWN_SETS_DIR), kept, embedding=embedding, progress=progress)
    except UnusableSet as error:
        raise CannotTrain(f"A known test set cannot be used. {error}") from error
