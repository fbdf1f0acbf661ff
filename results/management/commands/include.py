from typing import Any

from annotation.actions.removing.removals import include
from results.actions.participants import NamedAnnotator
from results.management.people import PersonCommand
from results.sentences import say_effects


class Command(PersonCommand):
    help = "Include an excluded annotator again. Answers whose place somebody else has taken still do not count."

    def change(self, person: NamedAnnotator, options: dict[str, Any], **about: Any) -> None:
        followed = include(annotator=person.annotator, **about)
        self.stdout.write(f"{person.name} counts again. {say_effects('include', followed)}")
