from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from studies.actions.lookup import find_study_of
from studies.actions.projects.datasets import describe_dataset, set_dataset
from studies.management.arguments import ActionCommand, add_by, read_actor, read_project
from studies.permissions import Verb


class Command(ActionCommand):
    help = (
        "Set the studies whose accepted items are a project's dataset. Without a study, all instances are the dataset."
    )

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="slug of the project")
        parser.add_argument("study", metavar="STUDY", nargs="*", help="slugs of studies that accept items")
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project = read_project(options["project"])
        by = read_actor(options, Verb.DESIGN, project)
        studies = [find_study_of(project, name) for name in dict.fromkeys(options["study"])]
        set_dataset(project=project, studies=studies, by=by, now=timezone.now())
        self.stdout.write(f"The dataset of {project.slug} contains {describe_dataset(studies)}.")
