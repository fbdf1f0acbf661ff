"""Encrypt stored tokens and ids under the site's newest key, in batches, while the site runs."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from django.db import IntegrityError, models, transaction

from annotation.models import Annotator, ProlificAccount, Session, Submission
from background.sealed_secrets import CannotUnseal, keyed_digest, seal_again, unseal

BATCH = 500
TOKENS = ("sealed_token", "sealed_webhook_key")
# The tables with an encrypted id and its digest, and what the digests are of.
ID_TABLES: Sequence[tuple[type[models.Model], str]] = (
    (Annotator, Annotator.id_purpose),
    (Session, Session.id_purpose),
    (Submission, Session.id_purpose),
)


@dataclass
class Encrypted:
    """How many were encrypted again, were under the newest key already, and can be opened by no key of the site.

    doubled: ids that another row has under the newest key already. They stay as they are.
    """

    again: int = 0
    already: int = 0
    lost: int = 0
    doubled: int = 0


def encrypt_tokens_again() -> Encrypted:
    """Encrypt the tokens of all accounts under the newest key."""
    counts = Encrypted()
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


def encrypt_ids_again() -> Encrypted:
    """Encrypt all ids under the newest key, and store the digest that it gives them.

    Each batch is a transaction, so that the command may be interrupted and run again.
    """
    counts = Encrypted()
    for table, purpose in ID_TABLES:
        for batch in _batches(table):
            changes = list(_changes(batch, purpose, counts))
            try:
                with transaction.atomic():
                    counts.again += sum(_store(table, change) for change in changes)
            except IntegrityError:
                for change in changes:
                    _store_by_itself(table, change, counts)
    return counts


def _batches(table: type[models.Model]) -> Iterator[list[tuple[int, str, str]]]:
    """Yield rows with an id, as (key, sealed id, digest)."""
    rows = table._default_manager.exclude(sealed_id="").order_by("pk").values_list("pk", "sealed_id", "id_digest")
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


def _changes(batch: Sequence[tuple[int, str, str]], purpose: str, counts: Encrypted) -> Iterator[_Change]:
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


def _store(table: type[models.Model], change: _Change) -> int:
    # An id that was deleted meanwhile stays deleted.
    unchanged = table._default_manager.filter(pk=change.pk, sealed_id=change.before)
    return unchanged.update(sealed_id=change.sealed, id_digest=change.digest)


def _store_by_itself(table: type[models.Model], change: _Change, counts: Encrypted) -> None:
    try:
        with transaction.atomic():
            counts.again += _store(table, change)
    except IntegrityError:
        counts.doubled += 1
