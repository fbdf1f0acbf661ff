"""Near duplicates of a project's images, as a member may see them."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from django.db.models import Exists, OuterRef, Q, QuerySet

from background.models import UNFINISHED, Job
from predictions.actions.duplicates import KIND, embedding_in_use
from predictions.models import NearDuplicate
from studies.models import Image, InstanceImage, Project

USES_TOLD = 3


@dataclass(frozen=True)
class Side:
    """One image of a pair with its places that the member may see; `more`: the number not listed."""

    image: Image
    uses: Sequence[InstanceImage]
    more: int


@dataclass(frozen=True)
class Pair:
    """Two near-duplicate images.

    `there`: the other image. None if it is from the known test set `known`, or if the member may not see any project
    that shows it: then nothing about it is revealed.
    """

    here: Side
    there: Side | None
    known: str
    distance: float


def near_duplicates_of(project: Project) -> QuerySet[NearDuplicate]:
    """Return the pairs with at least one image in `project`, nearest first; both are still in use."""
    found = NearDuplicate.objects.filter(embedding=embedding_in_use())
    return found.filter(
        Q(_is_used("image", project)) | Q(_is_used("other", project)),
        Q(other=None) | Q(_is_used("other")),
        _is_used("image"),
    )


def _is_used(field: str, project: Project | None = None) -> Exists:
    uses = InstanceImage.objects.filter(image=OuterRef(field))
    return Exists(uses if project is None else uses.filter(instance__project=project))


def search_job(project: Project) -> Job | None:
    """Return the job that searches for them, if there is one."""
    return Job.objects.filter(kind=KIND, key=str(project.pk), state__in=UNFINISHED).first()


def pairs_of(found: Iterable[NearDuplicate], project: Project, visible: QuerySet[Project]) -> list[Pair]:
    """Return these pairs of `project` as a member who may see the projects `visible` sees them."""
    found = list(found)
    ids = {sha256 for each in found for sha256 in (each.image_id, each.other_id) if sha256}
    images = Image.objects.in_bulk(ids)
    uses: Mapping[str, list[InstanceImage]] = defaultdict(list)
    shown = InstanceImage.objects.filter(image__in=ids, instance__project__in=visible)
    for use in shown.select_related("instance__project").order_by("instance_id", "role", "position"):
        uses[str(use.image_id)].append(use)

    def side(sha256: str | None) -> Side | None:
        if sha256 is None or not uses[sha256]:
            return None
        # The place in this project comes first.
        told = sorted(uses[sha256], key=lambda use: use.instance.project_id != project.pk)
        return Side(images[sha256], told[:USES_TOLD], max(0, len(told) - USES_TOLD))

    pairs = []
    for each in found:
        sides = [side(each.image_id), side(each.other_id)]
        sides.sort(key=lambda one: one is None or one.uses[0].instance.project_id != project.pk)
        here, there = sides
        # One image of the pair is in this project, which the member may see.
        if here is not None:
            pairs.append(Pair(here, there, each.known, each.distance))
    return pairs
