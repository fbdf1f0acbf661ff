"""Command-line arguments that name a training run of a project."""

from argparse import ArgumentParser

from django.core.management.base import CommandError

from studies.models import Project
from training.models import TrainingRun


def add_training(parser: ArgumentParser) -> None:
    parser.add_argument("project", metavar="PROJECT", help="slug of the project")
    parser.add_argument("name", metavar="NAME", help="name of the trained model, as in train --name")


def read_training(project: Project, name: str) -> TrainingRun:
    """Return the training run of `project` called `name`. Raises CommandError, with the names of those that exist."""
    run = TrainingRun.objects.filter(project=project, name=name).first()
    if run is None:
        names = ", ".join(project.training_runs.values_list("name", flat=True)) or "none"
        raise CommandError(f"{project.slug} has no training called {name!r}. Its trainings: {names}.")
    return run
