"""Encrypt stored tokens and ids under the newest key."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.actions.recruiting.encrypt_again import encrypt_ids_again, encrypt_tokens_again
from studies.wording import format_count


class Command(BaseCommand):
    help = (
        "Encrypt the stored tokens of Prolific and the ids of annotators, sessions and submissions under the first of "
        "ENCRYPTION_KEYS, so that older keys can go. The site may run meanwhile."
    )

    def handle(self, *args: Any, **options: Any) -> None:
        tokens = encrypt_tokens_again()
        self.stdout.write(f"{format_count(tokens.again, 'token')} encrypted under the newest key.")
        ids = encrypt_ids_again()
        self.stdout.write(
            f"{format_count(ids.again, 'id')} encrypted under the newest key; {ids.already:,} were already."
        )
        if ids.doubled:
            self.stdout.write(
                f"{format_count(ids.doubled, 'id')} occurred twice, because somebody arrived while the keys changed. "
                "The second rows stay under the older key, and are not found once it has gone."
            )
        self._check_lost(tokens.lost, ids.lost)

    def _check_lost(self, tokens: int, ids: int) -> None:
        lost = [format_count(count, noun) for count, noun in ((tokens, "token"), (ids, "id")) if count]
        if lost:
            raise CommandError(
                f"No key of this site opens {' and '.join(lost)}. Add the key that encrypted them to ENCRYPTION_KEYS. "
                "If it is lost, owners must save their tokens again, and people with lost ids count as new."
            )
