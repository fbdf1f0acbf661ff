"""Find participants, and foresee the effects of changes to them."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, TypeVar

from django.db import transaction

from annotation.models import Annotator
from annotation.recruitment import invite
from annotation.recruitment.base import normalize_id
from results.actions.pseudonyms import name_annotators
from results.errors import UnknownPerson
from results.models import Pseudonym
from studies.models import Project

Foreseen = TypeVar("Foreseen")


def foresee(act: Callable[[], Foreseen]) -> Foreseen:
    """Return the effects of `act` without keeping them."""
    with transaction.atomic():
        followed = act()
        transaction.set_rollback(True)
    return followed


@dataclass(frozen=True)
class NamedAnnotator:
    """A person and their name on the pages of a project."""

    annotator: Annotator
    name: str


def find_person(*, project: Project, name: str) -> NamedAnnotator:
    """Return the annotator with the pseudonym `name` in `project`. Raises UnknownPerson."""
    unknown = f"{project.slug} has no annotator called {name}. The Annotators page of a study lists the names."
    return _find_person(unknown, project=project, name=name)


def identify_person(*, project: Project, provider: str, provider_id: str) -> NamedAnnotator:
    """Return the annotator of `project` with an id of `provider`; for an invited person, the name in their link.

    Raises UnknownPerson without the id: messages end up in logs.
    """
    # An invitation's name is stored with a prefix, so that it differs from a visit without one.
    ids = [provider_id, normalize_id(provider_id)]
    if provider == invite.PROVIDER:
        ids.append(f"name:{provider_id}")
    people = Annotator.objects.with_id(provider, ids)
    unknown = f"No annotator with this {provider} ID has taken part in {project.slug}. Check that the ID is complete."
    return _find_person(unknown, project=project, annotator__in=people)


def _find_person(unknown: str, *, project: Project, **wanted: Any) -> NamedAnnotator:
    name_annotators(project=project)
    found = Pseudonym.objects.select_related("annotator").filter(project=project, **wanted).first()
    if found is None:
        raise UnknownPerson(unknown)
    return NamedAnnotator(found.annotator, found.name)
