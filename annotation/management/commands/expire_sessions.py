from typing import Any

from django.core.management.base import BaseCommand, CommandParser
from django.utils import timezone

from annotation.actions.answering import advance_session
from studies.management.arguments import add_by, read_operator
from studies.wording import format_count


class Command(BaseCommand):
    help = "Release the places of sessions whose time is up. Also runs automatically every few minutes."

    def add_arguments(self, parser: CommandParser) -> None:
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        lapsed = advance_session.expire(by=read_operator(options), now=timezone.now())
        self.stdout.write(f"{format_count(lapsed, 'session')} lapsed.")
