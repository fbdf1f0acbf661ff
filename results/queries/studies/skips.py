"""Questions that annotators skipped because images could not be shown."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.db.models import F, OuterRef, QuerySet, Subquery

from annotation.models import Skip
from results.models import Pseudonym
from studies.actions.images import can_be_shown
from studies.models import Study
from studies.names import name_in_address

SKIPS_SHOWN = 20


@dataclass(frozen=True)
class FailedImage:
    """An image that failed. `missing`: then, according to the server; `is_there`: now."""

    option: str
    sha256: str
    failed_loads: int
    missing: bool
    is_there: bool


@dataclass(frozen=True)
class SkipLine:
    """`instance`: its key; `address`: its form in the address of its page."""

    instance: str
    address: str
    annotator: str
    at: datetime
    images: Sequence[FailedImage]


@dataclass(frozen=True)
class Skips:
    """Counts of a study's skips, and the latest of them."""

    count: int
    lines: Sequence[SkipLine]


def image_skips(studies: Iterable[Study]) -> QuerySet[Skip]:
    """Return the skips of `studies` because of images; those without images are in `reported`."""
    return Skip.objects.filter(study__in=studies).exclude(images=[])


def ordinary_image_skips(studies: Iterable[Study]) -> QuerySet[Skip]:
    """Return the skips that numbers count: those of `image_skips`, without skipped checks."""
    return image_skips(studies).filter(question__check_type="")


def study_skips(study: Study) -> Skips:
    name = Pseudonym.objects.filter(project=study.project_id, annotator=OuterRef("annotator_id")).values("name")
    skips = image_skips([study])
    latest = skips.annotate(key=F("question__instance__key"), pseudonym=Subquery(name[:1]))[:SKIPS_SHOWN]
    columns = latest.values_list("question__instance_id", "key", "pseudonym", "at", "images")
    lines = [
        SkipLine(key, name_in_address(key, pk=pk), person or "", at, [_failed_image(image) for image in images])
        for pk, key, person, at, images in columns
    ]
    return Skips(skips.count() if len(lines) == SKIPS_SHOWN else len(lines), lines)


def _failed_image(image: Mapping[str, Any]) -> FailedImage:
    sha256, missing = image["image"], image["missing"]
    return FailedImage(image["option"], sha256, image["failed_loads"], missing, not missing or can_be_shown(sha256))
