from typing import Any

from results.actions.exports import discard_files
from results.actions.participants import NamedAnnotator, withdraw
from results.management.people import PersonCommand
from results.sentences import say_effects


class Command(PersonCommand):
    help = (
        "An annotator took their consent back: from now on their answers count nowhere in the project and leave in no "
        "file, and files and releases that hold them are no longer offered."
    )

    def change(self, person: NamedAnnotator, options: dict[str, Any], **about: Any) -> None:
        followed = withdraw(annotator=person.annotator, **about)
        self.stdout.write(f"{person.name} has withdrawn: {say_effects('withdraw', followed)}")
        self.stdout.write(
            f"Files deleted: {discard_files():,}. Make exports and releases again; give no older file away."
        )
