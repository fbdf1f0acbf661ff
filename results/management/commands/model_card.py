from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from results.actions.atomic_files import why_not
from results.actions.model_cards import compute_model_card
from results.management.training_arguments import add_training, read_training
from studies.management.arguments import read_project
from training.errors import CannotTrain


class Command(BaseCommand):
    help = "Write the model card of a trained model, README.md in the form of the Hugging Face Hub."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_training(parser)
        parser.add_argument("--licence", default="", help="licence of the model, such as MIT (default: none)")
        parser.add_argument("--out", type=Path, metavar="FILE", help="file to write (default: print the card)")

    def handle(self, *args: Any, out: Path | None, **options: Any) -> None:
        project = read_project(options["project"])
        run = read_training(project, options["name"])
        try:
            text = compute_model_card(run=run, licence=options["licence"], now=timezone.now())
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
