from argparse import ArgumentParser
from typing import Any

from django.utils import timezone

from results.management.training_arguments import add_training, read_training
from studies.management.arguments import ActionCommand, add_by, read_actor, read_project
from studies.permissions import Verb
from training.actions.deletion import delete_run, why_not_deleted
from training.errors import CannotTrain
from training.tasks import ask_to_discard


class Command(ActionCommand):
    refusals = (CannotTrain,)
    help = "Delete a training run with its model, and have its worker delete the weights and checkpoints."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_training(parser)
        parser.add_argument("--dry-run", action="store_true", help="Report whether it can be deleted; delete nothing.")
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project = read_project(options["project"])
        by = read_actor(options, Verb.MANAGE_MODELS, project)
        run = read_training(project, options["name"])
        if options["dry_run"]:
            self.stdout.write(why_not_deleted(run) or f"The training of {run.name} would be deleted.")
            return
        delete_run(run=run, by=by, now=timezone.now())
        ask_to_discard.delay()
        self.stdout.write(f"The training of {run.name} was deleted. Its worker deletes the weights.")
