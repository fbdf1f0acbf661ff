from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from annotation.actions import sessions


class Command(BaseCommand):
    help = "Give back the seats of sessions whose time is up. Also runs every few minutes by itself."

    def handle(self, *args: Any, **options: Any) -> None:
        lapsed = sessions.expire(now=timezone.now())
        self.stdout.write(f"{lapsed} sessions lapsed.")
