"""Ids that a provider gave, in rows of ours: encrypted, and found by a keyed digest."""

from collections.abc import Iterable
from typing import ClassVar, TypedDict, TypeVar

from django.db import models

from background.sealed_secrets import CannotUnseal, keyed_digest, keyed_digests, seal, unseal


class SealedId(TypedDict):
    """The fields of a row that hold an id."""

    sealed_id: str
    id_digest: str


class EncryptedId(models.Model):
    """A row with an id of a provider's. Without the site's keys, the database does not tell it."""

    # What the ids are of: equal ids of one purpose have equal digests, in all tables.
    id_purpose: ClassVar[str]

    sealed_id = models.TextField(
        blank=True, default="", db_default="", help_text="Its id at the provider, encrypted. Empty: deleted."
    )
    id_digest = models.CharField(  # noqa: DJ001 (unique, so that "" could stand in one row only)
        max_length=64, null=True, blank=True, help_text="By which its id is found. Null: deleted."
    )

    class Meta:
        abstract = True

    @classmethod
    def seal_id(cls, text: str) -> SealedId:
        """Return the fields that hold the id `text`, under the site's newest key."""
        return SealedId(sealed_id=seal(text), id_digest=keyed_digest(text, purpose=cls.id_purpose))

    @classmethod
    def digests_of(cls, spellings: Iterable[str]) -> list[str]:
        """Return the digests that a row with one of these ids may have, in the order of preference.

        The first spelling comes first, and of each spelling the newest key.
        """
        found = (keyed_digests(text, purpose=cls.id_purpose) for text in dict.fromkeys(spellings))
        return [digest for digests in found for digest in digests]

    def open_id(self) -> str:
        """Return the id; "" if it was deleted. Raises CannotUnseal."""
        return unseal(self.sealed_id) if self.sealed_id else ""

    def known_digests(self) -> list[str]:
        """Return the digests that other rows with the same id may have."""
        if self.id_digest is None:
            return []
        try:
            return [self.id_digest, *self.digests_of([self.open_id()])]
        except CannotUnseal:
            return [self.id_digest]


Row = TypeVar("Row", bound=EncryptedId)


class EncryptedIdQuerySet(models.QuerySet[Row]):
    def with_id(self, provider: str, spellings: Iterable[str]) -> "EncryptedIdQuerySet[Row]":
        """Return the rows of `provider` whose id is one of `spellings`, under whichever key of the site."""
        return self.filter(provider=provider, id_digest__in=self.model.digests_of(spellings))
