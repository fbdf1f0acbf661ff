from argparse import ArgumentParser
from typing import Any

from annotation.actions.withdrawing import withdraw
from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from results.management.projects import project_called
from results.models import Pseudonym


class Command(BaseCommand):
    help = "Notes that an annotator took their consent back: from now on nothing of theirs leaves, in no export."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="slug of the project")
        parser.add_argument("annotator", metavar="PSEUDONYM", help="as the project's pages show it")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_called(options["project"])
        named = Pseudonym.objects.filter(project=project, name=options["annotator"]).select_related("annotator").first()
        if named is None:
            raise CommandError(f"Nobody in {project.slug} is called {options['annotator']}. Look at a study's page.")
        withdraw(annotator=named.annotator, now=timezone.now())
        self.stdout.write(f"{named.name} has withdrawn. Make exports and releases again; give no older file away.")
