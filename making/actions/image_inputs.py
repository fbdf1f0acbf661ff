"""Images that makers read: those that a pipeline begins with, and others in their role."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path

from django.conf import settings
from django.core.files.storage import default_storage
from django.db.models import Exists, OuterRef, QuerySet
from PIL import Image as Picture

from making.makers import Images
from making.models import Candidate, Pipeline
from predictions.scorers import NoPicture
from predictions.scorers.vector_store import MEGABYTE, CannotStoreVectors, VectorStore
from studies.actions.images import original_name
from studies.importing.pictures import NotAPicture, decode
from studies.models import Instance, InstanceImage, Project

# Below DATA_DIR; two million vectors of 512 numbers.
VECTORS_FOLDER, VECTORS_MB = "vectors", 4096


def start_instances(project: Project) -> QuerySet[Instance]:
    """Return the instances that a pipeline may begin with; those that pipelines made would be made from again."""
    return project.instances.exclude(reference__has_key="made")


def with_image(instances: QuerySet[Instance], role: str) -> QuerySet[Instance]:
    """Return those of the instances that have an image in `role`."""
    return instances.filter(
        Exists(InstanceImage.objects.filter(instance=OuterRef("pk"), role=role, image__isnull=False))
    )


def first_images(instances: Iterable[int], role: str) -> Mapping[int, str]:
    """Return the first image in `role` of each instance, by the instance's id."""
    uses = InstanceImage.objects.filter(instance__in=instances, role=role, image__isnull=False)
    return dict(uses.order_by("-position").values_list("instance_id", "image_id"))


def own_images(parents: Iterable[Candidate]) -> Mapping[int | None, frozenset[str]]:
    """Return the images of the instances that chains began with, by the instance's id."""
    found: dict[int | None, set[str]] = defaultdict(set)
    uses = InstanceImage.objects.filter(instance__in={one.start_id for one in parents}, image__isnull=False)
    for instance, image in uses.values_list("instance_id", "image_id"):
        found[instance].add(str(image))
    return {instance: frozenset(images) for instance, images in found.items()}


def images_of(pipeline: Pipeline, role: str, *, progress: Callable[[], None]) -> Images:
    """Return the images in `role` of the instances that a pipeline may begin with."""
    uses = InstanceImage.objects.filter(instance__in=start_instances(pipeline.project), role=role, image__isnull=False)
    names = sorted({str(name) for name in uses.order_by().values_list("image_id", flat=True).distinct()})
    return Images(names, _open, progress=progress, vectors=_vector_store())


def _open(sha256: str) -> Picture.Image:
    try:
        with default_storage.open(original_name(sha256)) as file:
            return decode(file.read(), max_pixels=settings.IMAGE_MAX_PIXELS)[1]
    except (OSError, NotAPicture) as error:
        raise NoPicture(f"The file of the image {sha256[:12]} is missing or damaged. Import it again.") from error


def _vector_store() -> VectorStore | None:
    try:
        return VectorStore(Path(settings.DATA_DIR) / VECTORS_FOLDER, most=VECTORS_MB * MEGABYTE)
    except CannotStoreVectors:
        # They are computed again.
        return None
