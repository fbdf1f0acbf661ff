from typing import Any

from annotation.actions.removing.removals import withdraw
from results.actions.exports import discard_files
from results.actions.participants import NamedAnnotator
from results.management.people import PersonCommand
from results.sentences import say_effects


class Command(PersonCommand):
    help = (
        "Withdraw an annotator who withdrew their consent: their answers no longer count and are left out of new "
        "files. Files and releases that contain them are no longer available. This cannot be undone."
    )

    def change(self, person: NamedAnnotator, options: dict[str, Any], **about: Any) -> None:
        followed = withdraw(annotator=person.annotator, **about)
        self.stdout.write(f"{person.name} has withdrawn. {say_effects('withdraw', followed)}")
        self.stdout.write(
            f"Files deleted: {discard_files():,}. Create exports and releases again, and do not share older files."
        )
