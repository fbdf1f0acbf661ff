from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation.actions.removing.removals import CannotRemove, include
from results.management.people import add_person, person_named
from results.sentences import told
from studies.management.arguments import actor_named, project_called
from studies.permissions import Verb


class Command(BaseCommand):
    help = "Lets the answers of an annotator who was excluded count again, but those whose place somebody else has."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_person(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_called(options["project"])
        by = actor_named(options, Verb.REMOVE_PEOPLE, project)
        person = person_named(project, options)
        try:
            followed = include(annotator=person.annotator, project=project, by=by, now=timezone.now())
        except CannotRemove as error:
            raise CommandError(error.message) from error
        self.stdout.write(f"{person.name} counts again: {told('include', followed)}")
