from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from results.actions.reports import write_report
from results.errors import CannotExport
from results.reports.formats import FORMATS
from studies.management.arguments import read_project


class Command(BaseCommand):
    help = "Write the tables and plots of a project for a paper: funnel, agreement, scores, cost."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="slug of the project")
        parser.add_argument("--format", default="md", choices=FORMATS, help="the format (default: md)")
        parser.add_argument("--out", type=Path, metavar="DIR", help="folder to write into (default: print the report)")

    def handle(self, *args: Any, **options: Any) -> None:
        project = read_project(options["project"])
        try:
            written = write_report(project=project, format=options["format"], folder=options["out"], now=timezone.now())
        except CannotExport as error:
            raise CommandError(str(error)) from error
        if written.paths:
            self.stdout.write("\n".join(str(path) for path in written.paths))
        else:
            self.stdout.write(written.text)
