"""Random pseudonyms under which annotators are shown and exported; nothing leads back to the person."""

import secrets
from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from annotation.models import Annotator, Removal, Response
from results.models import Pseudonym, Release, ReleasePseudonym
from studies.models import Project, Study

# Without characters that are confused when read aloud or copied manually (0 O, 1 I L, 8 B, 5 S, 2 Z).
ALPHABET = "34679ACDEFGHJKMNPQRTUVWXY"
LENGTH = 5
_ATTEMPTS = 20


def name_annotators(*, project: Project) -> None:
    """Give each unnamed annotator of `project` a name that is unique in the project."""
    people = Annotator.objects.filter(sessions__study__project=project)
    _name_all(people.exclude(pseudonyms__project=project), Pseudonym, project=project)


def name_for_release(*, release: Release, studies: Sequence[Study]) -> None:
    """Name everybody who answered in `studies` and has not withdrawn for `release`, as `name_annotators` does."""
    given = Response.objects.filter(study__in=studies).exclude(left_out=Removal.Why.WITHDRAWN)
    people = Annotator.objects.filter(pk__in=given.order_by().values("annotator"))
    _name_all(people.exclude(release_pseudonyms__release=release), ReleasePseudonym, release=release)


def _name_all(
    nameless: QuerySet[Annotator], names: type[Pseudonym] | type[ReleasePseudonym], **owner: Project | Release
) -> None:
    for _ in range(_ATTEMPTS):
        missing = list(nameless.distinct().order_by("pk").values_list("pk", flat=True))
        if not missing:
            return
        # A name that is taken, or an annotator whom another request has just named, is passed over here and is
        # named in the next round if need be.
        made: list[Any] = [names(annotator_id=annotator, name=_random_name(), **owner) for annotator in missing]
        names.objects.bulk_create(made, ignore_conflicts=True)
    raise RuntimeError("No free pseudonym was found: there are more annotators than there are names.")


def _random_name() -> str:
    return "A-" + "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
