"""Find people by the ids that tests give them, which are encrypted in the database."""

from collections.abc import Iterable

from annotation.models import Annotator
from background.sealed_secrets import keyed_digest, unseal


def digest_of(person: str) -> str:
    """Return the digest by which a row of `Annotator` is found: `filter(annotator__id_digest=digest_of("ann"))`."""
    return keyed_digest(person, purpose="annotator")


def opened(sealed: Iterable[str]) -> list[str]:
    """Return ids that were read encrypted, as by `values_list("annotator__sealed_id", flat=True)`."""
    return [unseal(each) for each in sealed]


def make_annotator(person: str, *, provider: str = "prolific", **fields: bool) -> Annotator:
    return Annotator.objects.create(provider=provider, **Annotator.seal_id(person), **fields)
