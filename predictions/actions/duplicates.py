"""Find near duplicates of a project's images: in the project, in other projects and in known test sets.

One job per project, requested periodically, so that imports do not wait for it.
"""

from collections import defaultdict
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from pathlib import Path

import numpy as np
from django.conf import settings
from django.core.files.storage import default_storage
from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from PIL import Image as Picture

from background.errors import Failed
from background.jobs import request_job
from background.models import Job, JobState
from background.work import RunningJob, Work
from predictions.feeder import NoPicture
from predictions.image_sets.embeddings import Embedding, NoEmbedding, Vectors, embedding_of
from predictions.image_sets.known_test_sets import UnusableSet, known_sets
from predictions.image_sets.near_duplicates import NEAR_BELOW, nearest_below
from predictions.models import NearDuplicate, PictureVector
from predictions.scorers.batches import in_batches
from studies.actions.images import NoSuchPicture, rendition
from studies.models import Image, InstanceImage, Project

KIND = "predictions.near_duplicates"
# Compare the size that people see: it is upright and quick to read.
SIZE = "card"
PICTURES_AT_ONCE = 64
# Bounds the matrix of distances to 32 MB.
COMPARED_AT_ONCE, BLOCK = 2048, 4096
MOST_LOOKED_AT, MOST_KEPT = 64, 5
# Somebody must fix the cause first; retrying sooner would only fail again.
AFTER_FAILURE = timedelta(days=1)


def embedding_in_use() -> str:
    """Return the name of the current embedding, under which vectors and pairs are stored."""
    return settings.NEAR_DUPLICATE_MODEL or embedding_of("").name


def below() -> float:
    """Return the distance (`embedding.distances`) below which two images are near duplicates."""
    return NEAR_BELOW if settings.NEAR_DUPLICATE_BELOW is None else settings.NEAR_DUPLICATE_BELOW


def look_for_new(*, now: datetime) -> list[Job]:
    """Request a job for each project with images that were not compared yet; return the new jobs."""
    compared = PictureVector.objects.filter(
        image=OuterRef("image"), embedding=embedding_in_use(), compared_at__isnull=False
    )
    waiting = InstanceImage.objects.filter(instance__project=OuterRef("pk"), image__isnull=False)
    found = (
        Project.objects.filter(Exists(waiting.exclude(Exists(compared)))).order_by("pk").values_list("pk", flat=True)
    )
    failed = Job.objects.filter(kind=KIND, state=JobState.FAILED, finished_at__gt=now - AFTER_FAILURE)
    given_up = {arguments["project"] for arguments in failed.values_list("arguments", flat=True)}
    asked = [
        request_job(kind=KIND, arguments={"project": pk}, by=None, now=now, key=str(pk))
        for pk in found
        if pk not in given_up
    ]
    return [job for job, is_new in asked if is_new]


def compare_again(*, project: Project, now: datetime) -> tuple[Job, bool]:
    """Request a job that compares all images of `project` again, for example with a new known test set.

    Returns the job and whether it is new.
    """
    _vectors(project).update(compared_at=None)
    return request_job(kind=KIND, arguments={"project": project.pk}, by=None, now=now, key=str(project.pk))


def _find(job: RunningJob) -> None:
    project = Project.objects.filter(pk=job.arguments["project"]).first()
    if project is None:
        return
    if settings.NEAR_DUPLICATE_MODEL and settings.NEAR_DUPLICATE_BELOW is None:
        raise Failed(
            "NEAR_DUPLICATE_MODEL is set without NEAR_DUPLICATE_BELOW: set the distance below which images are "
            "near duplicates."
        )
    try:
        embedding = embedding_of(settings.NEAR_DUPLICATE_MODEL)
        _embed_missing(job, project, embedding)
        _compare(job, project, embedding)
    except (NoEmbedding, UnusableSet) as error:
        raise Failed(str(error)) from error


NEAR_DUPLICATES = Work(
    run=_find,
    unit="pictures",
    trouble="The search for near duplicates failed.",
    minutes=60,
    patience=timedelta(minutes=10),
)


def _images(project: Project) -> QuerySet[Image]:
    used = InstanceImage.objects.filter(instance__project=project, image=OuterRef("pk"))
    return Image.objects.filter(Exists(used))


def _vectors(project: Project) -> QuerySet[PictureVector]:
    used = InstanceImage.objects.filter(instance__project=project, image=OuterRef("image"))
    return PictureVector.objects.filter(Exists(used), embedding=embedding_in_use())


def _embed_missing(job: RunningJob, project: Project, embedding: Embedding) -> None:
    """Store a vector of each image of `project` that has none."""
    there = PictureVector.objects.filter(image=OuterRef("pk"), embedding=embedding_in_use())
    missing = list(_images(project).exclude(Exists(there)).order_by("pk").values_list("pk", flat=True))
    done = 0
    for batch in in_batches(missing, PICTURES_AT_ONCE):
        # In the form in which they are stored.
        vectors = {name: vector.astype("<f2").tobytes() for name, vector in embed_readable(batch, embedding).items()}
        rows = [
            PictureVector(image_id=sha256, embedding=embedding_in_use(), vector=vectors.get(sha256, b""))
            for sha256 in batch
        ]
        with transaction.atomic():
            job.check()
            PictureVector.objects.bulk_create(rows, ignore_conflicts=True)
        done += len(batch)
        job.advance(done=done, total=len(missing))


def open_small(sha256: str) -> Picture.Image:
    """Return an image in the size that people see. Raises NoPicture."""
    try:
        with default_storage.open(rendition(sha256=sha256, size=SIZE)) as file, Picture.open(file) as picture:
            return picture.convert("RGB")
    except (NoSuchPicture, OSError) as error:
        raise NoPicture(f"The image {sha256[:12]} cannot be read.") from error


def embed_readable(names: Sequence[str], embedding: Embedding) -> dict[str, Vectors]:
    """Return the vectors of those images that can be read, by name."""
    pictures = readable(names)
    return dict(zip(pictures, embedding.embed(list(pictures.values())), strict=True))


def readable(names: Sequence[str]) -> dict[str, Picture.Image]:
    """Return those images that can be read, in the size that people see, by name."""
    # Not by the feeder: to find the rendition asks the database, which its threads must not.
    pictures = {}
    for name in names:
        with suppress(NoPicture):
            pictures[name] = open_small(name)
    return pictures


def _compare(job: RunningJob, project: Project, embedding: Embedding) -> None:
    """Compare the new vectors of `project` with all vectors and with the known test sets."""
    waiting = _vectors(project).filter(compared_at=None)
    waiting.filter(vector=b"").update(compared_at=job.now())
    total, done = waiting.count(), 0
    while block := list(waiting.order_by("image_id").values_list("image_id", "vector")[:COMPARED_AT_ONCE]):
        names, vectors = _read(block)
        near = nearest_below(names, vectors, _all_vectors(job), below=below(), most=MOST_LOOKED_AT)
        pairs = [*_picture_pairs(near), *_known_set_pairs(job, names, vectors, embedding)]
        with transaction.atomic():
            job.check()
            NearDuplicate.objects.bulk_create(pairs, ignore_conflicts=True, batch_size=500)
            _vectors(project).filter(image__in=names).update(compared_at=job.now())
        done += len(names)
        job.advance(done=done, total=total)


def _read(rows: Sequence[tuple[str, bytes | memoryview]]) -> tuple[list[str], Vectors]:
    names = [name for name, _ in rows]
    return names, np.stack([np.frombuffer(vector, "<f2") for _, vector in rows]).astype(np.float32)


def _all_vectors(job: RunningJob) -> Iterator[tuple[list[str], Vectors]]:
    """Yield all vectors of the current embedding, of all projects, in blocks; report progress before each."""
    rows = PictureVector.objects.filter(embedding=embedding_in_use()).exclude(vector=b"").order_by("image_id")
    for block in in_batches(rows.values_list("image_id", "vector").iterator(chunk_size=BLOCK), BLOCK):
        job.advance()
        yield _read(block)


def _picture_pairs(near: Mapping[str, Sequence[tuple[float, str]]]) -> Iterator[NearDuplicate]:
    """Yield the pairs of images that no instance shows together: images of one instance are similar on purpose."""
    instances = _instances_of({*near, *(other for found in near.values() for _, other in found)})
    seen = set()
    for name, found in near.items():
        apart = [(distance, other) for distance, other in found if not instances[name] & instances[other]]
        for distance, other in apart[:MOST_KEPT]:
            first, second = sorted((name, other))
            if (first, second) not in seen:
                seen.add((first, second))
                yield _pair(distance, image_id=first, other_id=second)


def _instances_of(images: Collection[str]) -> Mapping[str, set[int]]:
    found: dict[str, set[int]] = defaultdict(set)
    for some in in_batches(sorted(images), 1000):
        uses = InstanceImage.objects.filter(image__in=some).order_by()
        for image, instance in uses.values_list("image_id", "instance_id"):
            found[str(image)].add(instance)
    return found


def _known_set_pairs(
    job: RunningJob, names: Sequence[str], vectors: Vectors, embedding: Embedding
) -> Iterator[NearDuplicate]:
    if not settings.KNOWN_SETS_DIR:
        return
    kept = Path(settings.DATA_DIR) / "known-sets"
    for known in known_sets(Path(settings.KNOWN_SETS_DIR), kept, embedding=embedding, progress=job.advance):
        rows = range(0, len(known.pictures), BLOCK)
        names_of = [f"{known.name}: {name}" for name in known.pictures]
        blocks = ((names_of[start : start + BLOCK], known.vectors[start : start + BLOCK]) for start in rows)
        for name, found in nearest_below(names, vectors, blocks, below=below(), most=MOST_KEPT).items():
            for distance, other in found:
                yield _pair(distance, image_id=name, known=other[:500])


def _pair(distance: float, **pictures: str) -> NearDuplicate:
    # Vectors are stored in half precision, so further decimals are noise.
    return NearDuplicate(embedding=embedding_in_use(), distance=round(distance, 4), **pictures)
