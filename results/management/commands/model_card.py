from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from results.actions.atomic_files import why_not
from results.actions.model_cards import write_model_card
from studies.management.arguments import read_project
from training.errors import CannotTrain
from training.models import TrainingRun


class Command(BaseCommand):
    help = "Write the model card of a trained model, README.md in the form of the Hugging Face Hub."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="slug of the project")
        parser.add_argument("name", metavar="NAME", help="name of the trained model, as in train --name")
        parser.add_argument("--licence", default="", help="licence of the model, such as MIT (default: none)")
        parser.add_argument("--out", type=Path, metavar="FILE", help="file to write (default: print the card)")

    def handle(self, *args: Any, out: Path | None, **options: Any) -> None:
        project = read_project(options["project"])
        run = TrainingRun.objects.filter(project=project, name=options["name"]).first()
        if run is None:
            names = ", ".join(project.training_runs.values_list("name", flat=True)) or "none"
            raise CommandError(f"{project.slug} has no training called {options['name']!r}. Its trainings: {names}.")
        try:
            text = write_model_card(run=run, licence=options["licence"])
        except CannotTrain as error:
            raise CommandError(str(error)) from error
        if out is None:
            self.stdout.write(text)
            return
        try:
            out.write_text(text, encoding="utf-8")
        except OSError as error:
            raise CommandError(why_not(error, out)) from error
        self.stdout.write(str(out))
