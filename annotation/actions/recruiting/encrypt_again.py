"""Encrypt stored tokens and ids under the site's newest key, in batches, while the site runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db import IntegrityError, models, transaction

from annotation.actions.recruiting import panel
from annotation.models import Annotator, PanelMember, ProlificAccount, Session, Submission
from background.sealed_secrets import CannotUnseal, keyed_digest, seal_again, unseal

BATCH = 500
TOKENS = ("sealed_token", "sealed_webhook_key")


@dataclass(frozen=True)
class IdColumns:
    """The columns of a table with an encrypted id and its digest, and what the digests are of."""

    table: type[models.Model]
    purpose: str
    sealed: str = "sealed_id"
    digest: str = "id_digest"


IDS = (
    IdColumns(Annotator, Annotator.id_purpose),
    IdColumns(Session, Session.id_purpose),
    IdColumns(Submission, Session.id_purpose),
    IdColumns(PanelMember, panel.PURPOSE, "sealed_address", "address_digest"),
)


@dataclass
class EncryptionCounts:
    """again: encrypted under the newest key. already: were under it. lost: no key of the site decrypts them.

    doubled: ids that another row has under the newest key. They stay as they are.
    """

    again: int = 0
    already: int = 0
    lost: int = 0
    doubled: int = 0


def encrypt_tokens_again() -> EncryptionCounts:
    """Encrypt the tokens of all accounts under the newest key."""
    counts = EncryptionCounts()
    for account in ProlificAccount.objects.order_by("pk"):
        for field in TOKENS:
            sealed = getattr(account, field)
            if not sealed:
                continue
            try:
                again = seal_again(sealed)
            except CannotUnseal:
                counts.lost += 1
            else:
                # A token that was replaced meanwhile is under the newest key already.
                unchanged = ProlificAccount.objects.filter(pk=account.pk, **{field: sealed})
                counts.again += unchanged.update(**{field: again})
    return counts


def encrypt_ids_again() -> EncryptionCounts:
    """Encrypt all ids under the newest key, and store the digest that it gives them.

    Each batch is a transaction, so that the command may be interrupted and run again.
    """
    counts = EncryptionCounts()
    for columns in IDS:
        for batch in _batches(columns):
            changes = list(_changes(batch, columns.purpose, counts))
            try:
                with transaction.atomic():
                    counts.again += sum(_store(columns, change) for change in changes)
            except IntegrityError:
                for change in changes:
                    _store_by_itself(columns, change, counts)
    return counts


def _batches(columns: IdColumns) -> Iterator[list[tuple[int, str, str]]]:
    """Yield rows with an id, as (key, sealed id, digest)."""
    found = columns.table._default_manager.exclude(**{columns.sealed: ""}).order_by("pk")
    rows = found.values_list("pk", columns.sealed, columns.digest)
    last = 0
    while batch := list(rows.filter(pk__gt=last)[:BATCH]):
        yield batch
        last = batch[-1][0]


@dataclass(frozen=True)
class _Change:
    """What a row holds, and what it is to hold."""

    pk: int
    before: str
    sealed: str
    digest: str


def _changes(batch: Sequence[tuple[int, str, str]], purpose: str, counts: EncryptionCounts) -> Iterator[_Change]:
    for pk, sealed, digest in batch:
        try:
            newest = keyed_digest(unseal(sealed), purpose=purpose)
        except CannotUnseal:
            counts.lost += 1
            continue
        if newest == digest:
            counts.already += 1
        else:
            yield _Change(pk, sealed, seal_again(sealed), newest)


def _store(columns: IdColumns, change: _Change) -> int:
    # An id that was deleted meanwhile stays deleted.
    unchanged = columns.table._default_manager.filter(pk=change.pk, **{columns.sealed: change.before})
    return unchanged.update(**{columns.sealed: change.sealed, columns.digest: change.digest})


def _store_by_itself(columns: IdColumns, change: _Change, counts: EncryptionCounts) -> None:
    try:
        with transaction.atomic():
            counts.again += _store(columns, change)
    except IntegrityError:
        counts.doubled += 1
