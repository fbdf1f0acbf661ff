import argparse
from typing import Any

from annotation.actions.arriving.entry_links import personal_links
from studies.management.arguments import STUDY_HELP, ActionCommand, read_study


class Command(ActionCommand):
    help = "Print a personal link for each name. Anybody who has the link can open the session of that name."

    def add_arguments(self, parser: argparse.ArgumentParser) -> None:
        parser.add_argument("study", help=STUDY_HELP)
        parser.add_argument("names", nargs="+", metavar="NAME")

    def handle(self, *args: Any, **options: Any) -> None:
        links = personal_links(study=read_study(options["study"]), names=options["names"])
        for name, link in links.items():
            self.stdout.write(f"{name}: {link}")
