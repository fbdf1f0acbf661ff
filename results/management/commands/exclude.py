from argparse import ArgumentParser
from typing import Any

from annotation.actions.removing.removals import exclude, reopen_slots
from results.actions.participants import NamedAnnotator
from results.management.people import PersonCommand
from results.sentences import say_effects


class Command(PersonCommand):
    help = "Lets an annotator's answers count nowhere in a project until `include`. They stay stored and marked."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--reason", required=True, help="why; it is kept, and shown to the project's members")
        parser.add_argument("--reopen-slots", action="store_true", help="also offer the places of their answers again")

    def change(self, person: NamedAnnotator, options: dict[str, Any], **about: Any) -> None:
        followed = exclude(annotator=person.annotator, reason=options["reason"], **about)
        self.stdout.write(f"{person.name} is excluded: {say_effects('exclude', followed)}")
        if options["reopen_slots"]:
            opened = reopen_slots(annotator=person.annotator, **about)
            self.stdout.write(f"{person.name}: {say_effects('reopen', opened)}")
