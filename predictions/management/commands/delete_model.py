from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from predictions.actions.models import count_predictions, delete_model
from predictions.errors import CannotPredict
from predictions.management.arguments import add_model, read_model
from studies.management.arguments import ActionCommand, add_by, read_actor, read_project
from studies.permissions import Verb


class Command(ActionCommand):
    refusals = (CannotPredict,)
    help = "Delete a model of a project and its predictions. Frozen releases do not change."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_model(parser)
        parser.add_argument("--dry-run", action="store_true", help="Report what would be deleted; delete nothing.")
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project = read_project(options["project"])
        by = read_actor(options, Verb.MANAGE_MODELS, project)
        model = read_model(project, options)
        if options["dry_run"]:
            self.stdout.write(f"{model} would be deleted, with {count_predictions(model)}.")
            return
        went = delete_model(project=project, model=model, by=by, now=timezone.now())
        self.stdout.write(f"{model} was deleted, with {went}.")
