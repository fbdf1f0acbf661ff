"""Pseudonyms: the names under which annotators are shown and leave. Random, so that nothing leads back."""

import secrets

from annotation.models import Annotator
from results.models import Pseudonym
from studies.models import Project

# Without the signs that are taken for one another when read aloud or copied by hand (0 O, 1 I L, 8 B, 5 S, 2 Z).
ALPHABET = "34679ACDEFGHJKMNPQRTUVWXY"
LENGTH = 5
_ATTEMPTS = 20


def name_annotators(*, project: Project) -> None:
    """Give every annotator of `project` who has no name yet one that nobody in the project has."""
    for _ in range(_ATTEMPTS):
        nameless = Annotator.objects.filter(sessions__study__project=project).exclude(pseudonyms__project=project)
        missing = list(nameless.distinct().order_by("pk").values_list("pk", flat=True))
        if not missing:
            return
        # A name that is taken, or an annotator whom another request has just named, is passed over here and is
        # named in the next round if need be.
        Pseudonym.objects.bulk_create(
            (Pseudonym(project=project, annotator_id=annotator, name=_random_name()) for annotator in missing),
            ignore_conflicts=True,
        )
    raise RuntimeError("No free pseudonym was found: the project has more annotators than there are names.")


def _random_name() -> str:
    return "A-" + "".join(secrets.choice(ALPHABET) for _ in range(LENGTH))
