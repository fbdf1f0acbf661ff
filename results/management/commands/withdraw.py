from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand
from django.utils import timezone

from results.actions.exports import discard_files
from results.actions.participants import withdraw
from results.management.people import add_person, person_named
from results.sentences import told
from studies.management.arguments import actor_named, project_called
from studies.permissions import Verb


class Command(BaseCommand):
    help = (
        "An annotator took their consent back: from now on their answers count nowhere in the project and leave in no "
        "file, and files and releases that hold them are no longer offered."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_person(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_called(options["project"])
        by = actor_named(options, Verb.REMOVE_PEOPLE, project)
        person = person_named(project, options)
        followed = withdraw(annotator=person.annotator, project=project, by=by, now=timezone.now())
        self.stdout.write(f"{person.name} has withdrawn: {told('withdraw', followed)}")
        self.stdout.write(
            f"Files deleted: {discard_files():,}. Make exports and releases again; give no older file away."
        )
