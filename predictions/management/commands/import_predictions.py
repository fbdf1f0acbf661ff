from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from predictions.actions.import_predictions import ModelName, import_predictions
from predictions.errors import PredictionsRefused, first_of
from predictions.importing import FORMATS
from studies.management.arguments import add_by, read_actor, read_project
from studies.permissions import Verb


class Command(BaseCommand):
    help = "Import a model's answers from a file into a project: all of them, or none with a list of problems."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="The project's slug.")
        parser.add_argument("file", type=Path, metavar="FILE")
        parser.add_argument("--format", required=True, help=f"One of {', '.join(FORMATS)}.")
        parser.add_argument("--model", required=True, metavar="NAME", help="The model's name in tables.")
        parser.add_argument("--model-version", default="", metavar="VERSION")
        parser.add_argument("--weights", default="", help="Tag or hash that identifies the model's weights.")
        parser.add_argument(
            "--skip-unknown", action="store_true", help="Skip rows about instances that the project does not have."
        )
        parser.add_argument("--dry-run", action="store_true", help="Check all rows; import nothing.")
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project = read_project(options["project"])
        try:
            summary = import_predictions(
                project=project,
                file=options["file"],
                format=options["format"],
                model=ModelName(options["model"], options["model_version"], options["weights"]),
                skip_unknown=options["skip_unknown"],
                dry_run=options["dry_run"],
                by=read_actor(options, Verb.IMPORT, project),
                now=timezone.now(),
            )
        except PredictionsRefused as error:
            raise CommandError(f"Nothing was imported from {options['file'].name}.\n{error}") from error
        for sentence in first_of(summary.left_out, "rows left out"):
            self.stderr.write(sentence)
        self.stdout.write(f"{summary.file}: {summary}")
