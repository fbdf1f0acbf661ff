import argparse
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from annotation.actions.arriving import personal_link
from annotation.recruitment import invite
from studies.management.named import STUDY_HELP, study_called


class Command(BaseCommand):
    help = "Print a link for each named annotator: whoever has it, and nobody else, comes to the session of that name."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("study", help=STUDY_HELP)
        parser.add_argument("names", nargs="+", metavar="NAME")

    def handle(self, *args: Any, **options: Any) -> None:
        study = study_called(options["study"])
        if not study.design.recruitment.invite:
            raise CommandError(f"Study {study.slug} lets nobody in by invitation: its file says `invite: false`.")
        for name in options["names"]:
            if not invite.is_a_name(name):
                raise CommandError(
                    f"{name!r} is no name that a link can carry. It needs 1 to {invite.LONGEST_NAME} characters that "
                    "can be seen, without spaces around them."
                )
        for name in options["names"]:
            self.stdout.write(f"{name}: {settings.SITE_URL}{personal_link(study=study, name=name)}")
