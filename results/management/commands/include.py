from typing import Any

from annotation.actions.removing.removals import include
from results.actions.participants import NamedAnnotator
from results.management.people import PersonCommand
from results.sentences import say_effects


class Command(PersonCommand):
    help = "Lets the answers of an annotator who was excluded count again, but those whose place somebody else has."

    def change(self, person: NamedAnnotator, options: dict[str, Any], **about: Any) -> None:
        followed = include(annotator=person.annotator, **about)
        self.stdout.write(f"{person.name} counts again: {say_effects('include', followed)}")
