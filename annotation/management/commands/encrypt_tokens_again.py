"""Encrypt the stored tokens of users under the newest key."""

from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.actions.recruiting.prolific_account import seal_tokens_again
from studies.wording import format_count


class Command(BaseCommand):
    help = "Encrypt the stored tokens of Prolific under the first of ENCRYPTION_KEYS, so that older keys can go."

    def handle(self, *args: Any, **options: Any) -> None:
        sealed, lost = seal_tokens_again()
        self.stdout.write(f"{format_count(sealed, 'token')} encrypted under the newest key.")
        if lost:
            raise CommandError(
                f"No key of this site opens {format_count(lost, 'token')}. "
                "Add the key that encrypted them to ENCRYPTION_KEYS, or let the owners save them again."
            )
