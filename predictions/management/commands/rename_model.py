from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from predictions.actions.models import rename_model
from predictions.errors import CannotPredict
from predictions.management.arguments import add_model, read_model
from studies.management.arguments import ActionCommand, add_by, read_actor, read_project
from studies.permissions import Verb


class Command(ActionCommand):
    refusals = (CannotPredict,)
    help = "Rename a model in every table. Its predictions and weights do not change."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_model(parser)
        parser.add_argument("--name", help="The new name (default: unchanged).")
        parser.add_argument("--new-version", metavar="VERSION", help="The new version (default: unchanged).")
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project = read_project(options["project"])
        by = read_actor(options, Verb.MANAGE_MODELS, project)
        model = read_model(project, options)
        name, version = options["name"], options["new_version"]
        if name is None and version is None:
            raise CommandError("Nothing to rename. Give --name or --new-version.")
        renamed = rename_model(
            project=project,
            model=model,
            name=model.name if name is None else name,
            version=model.version if version is None else version,
            by=by,
            now=timezone.now(),
        )
        self.stdout.write(f"{model} was renamed to {renamed}.")
