from argparse import ArgumentParser
from typing import Any

from django.core.management.base import CommandError

from results.actions.erasure import forget
from results.actions.participants import NamedAnnotator
from results.errors import CannotExport
from results.management.people import PersonCommand
from results.sentences import say_effects
from studies.errors import StudyError
from studies.permissions import Verb


class Command(PersonCommand):
    verb = Verb.FORGET_PEOPLE
    help = (
        "Delete everything about an annotator in a project, as privacy law requires: answers, sessions, names, and "
        "files that contain them. Frozen rows of releases are written again without them, under a new hash."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        super().add_arguments(parser)
        parser.add_argument(
            "--yes", action="store_true", help="delete; without this the command only says what to do first"
        )

    def change(self, person: NamedAnnotator, options: dict[str, Any], **about: Any) -> None:
        if not options["yes"]:
            raise CommandError(
                f"{person.name} would be deleted from {about['project'].slug} for good, with every answer. Pay what is "
                "due first: afterwards nobody can tell who was owed what. Add --yes to do it."
            )
        try:
            forgotten = forget(annotator=person.annotator, **about)
        except (CannotExport, StudyError) as error:
            raise CommandError(f"Nothing was deleted. {error}") from error
        self.stdout.write(f"{person.name} is forgotten. {say_effects('withdraw', forgotten.followed)}")
        self.stdout.write(
            f"Deleted: answers {forgotten.rows.responses:,} (every version), sessions {forgotten.rows.sessions:,}, "
            f"files {forgotten.files:,}. Releases written again under a new hash: "
            f"{', '.join(forgotten.releases) or 'none'}."
        )
        self.stdout.write("Backups still contain them until they are overwritten, and so do files that you shared.")
