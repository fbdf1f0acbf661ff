from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from annotation.actions.removing.removals import CannotRemove, exclude, reopen_slots
from results.management.people import add_person, person_named
from results.sentences import told
from studies.management.arguments import actor_named, project_called
from studies.permissions import Verb


class Command(BaseCommand):
    help = "Lets an annotator's answers count nowhere in a project until `include`. They stay stored and marked."

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_person(parser)
        parser.add_argument("--reason", required=True, help="why; it is kept, and shown to the project's members")
        parser.add_argument("--reopen-slots", action="store_true", help="also offer the places of their answers again")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_called(options["project"])
        by, now = actor_named(options, Verb.REMOVE_PEOPLE, project), timezone.now()
        person = person_named(project, options)
        try:
            followed = exclude(annotator=person.annotator, project=project, reason=options["reason"], by=by, now=now)
            self.stdout.write(f"{person.name} is excluded: {told('exclude', followed)}")
            if options["reopen_slots"]:
                opened = reopen_slots(annotator=person.annotator, project=project, by=by, now=now)
                self.stdout.write(f"{person.name}: {told('reopen', opened)}")
        except CannotRemove as error:
            raise CommandError(error.message) from error
