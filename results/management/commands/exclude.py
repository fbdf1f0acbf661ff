from argparse import ArgumentParser
from typing import Any

from annotation.actions.removing.removals import exclude, reopen_slots
from results.actions.participants import NamedAnnotator
from results.management.people import PersonCommand
from results.sentences import say_effects


class Command(PersonCommand):
    help = "Exclude an annotator from a project: their answers are kept, but do not count until `include`."

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument("--reason", required=True, help="the reason, which the project's members can read")
        parser.add_argument("--reopen-slots", action="store_true", help="also ask other people these questions")

    def change(self, person: NamedAnnotator, options: dict[str, Any], **about: Any) -> None:
        followed = exclude(annotator=person.annotator, reason=options["reason"], **about)
        self.stdout.write(f"{person.name} is excluded. {say_effects('exclude', followed)}")
        if options["reopen_slots"]:
            opened = reopen_slots(annotator=person.annotator, **about)
            self.stdout.write(f"{person.name}: {say_effects('reopen', opened)}")
