"""Command-line arguments that name a model of a project."""

from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from predictions.models import Model
from studies.models import Project


def add_model(parser: ArgumentParser) -> None:
    parser.add_argument("project", help="The project's slug.")
    parser.add_argument("model", help="The model's name, as in tables.")
    parser.add_argument(
        "--model-version", metavar="VERSION", help="The model's version, if several models have that name."
    )
    parser.add_argument(
        "--weights",
        help="The model's weights, or the first characters of them, if several models have that name and version.",
    )


def read_model(project: Project, options: dict[str, Any]) -> Model:
    """Return the model of `project` that the arguments of `add_model` name.

    Raises CommandError if there is none or several, and lists the existing ones.
    """
    found = list(Model.objects.filter(project=project, name=options["model"]))
    if options["model_version"] is not None:
        found = [model for model in found if model.version == options["model_version"]]
    if options["weights"] is not None:
        found = [model for model in found if model.weights.startswith(options["weights"])]
    if len(found) == 1:
        return found[0]
    if found:
        raise CommandError(
            f"{project.slug} has several such models: {_join_names(found)}. "
            "Choose one with --model-version or --weights."
        )
    there = _join_names(list(Model.objects.filter(project=project)))
    raise CommandError(
        f"{project.slug} has no such model. {f'It has {there}.' if there else 'The project has no models yet.'}"
    )


def _join_names(models: list[Model]) -> str:
    return ", ".join(map(str, models))
