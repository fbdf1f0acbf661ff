import argparse
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from annotation.actions.arriving.entry_links import personal_links
from studies.errors import StudyError
from studies.management.arguments import STUDY_HELP, study_called


class Command(BaseCommand):
    help = "Print a link for each named annotator: whoever has it, and nobody else, comes to the session of that name."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("study", help=STUDY_HELP)
        parser.add_argument("names", nargs="+", metavar="NAME")

    def handle(self, *args: Any, **options: Any) -> None:
        try:
            links = personal_links(study=study_called(options["study"]), names=options["names"])
        except StudyError as error:
            raise CommandError(str(error)) from error
        for name, link in links.items():
            self.stdout.write(f"{name}: {link}")
