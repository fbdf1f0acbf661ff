from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from results.actions.erasure import forget
from results.errors import CannotExport
from results.management.people import add_person, person_named
from results.sentences import told
from studies.management.arguments import actor_named, project_called
from studies.permissions import Verb


class Command(BaseCommand):
    help = (
        "Deletes everything about an annotator in a project, where the law asks for it: answers, sessions, names, "
        "files that hold them; the frozen rows of releases are written again without them, under a new hash."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        add_person(parser)
        parser.add_argument("--yes", action="store_true", help="do it; without this it only says what to do first")

    def handle(self, *args: Any, **options: Any) -> None:
        project = project_called(options["project"])
        by = actor_named(options, Verb.FORGET_PEOPLE, project)
        person = person_named(project, options)
        if not options["yes"]:
            raise CommandError(
                f"{person.name} would be deleted from {project.slug} for good, with every answer. Pay what is due "
                "first: afterwards nobody can tell who was owed what. Add --yes to do it."
            )
        try:
            forgotten = forget(annotator=person.annotator, project=project, by=by, now=timezone.now())
        except CannotExport as error:
            raise CommandError(f"Nothing was deleted. {error}") from error
        self.stdout.write(f"{person.name} is forgotten: {told('withdraw', forgotten.followed)}")
        self.stdout.write(
            f"Deleted: answers {forgotten.rows.responses:,} (every version), sessions {forgotten.rows.sessions:,}, "
            f"files {forgotten.files:,}. Releases written again under a new hash: "
            f"{', '.join(forgotten.releases) or 'none'}."
        )
        self.stdout.write(
            "Backups still hold them until they are overwritten, and files given away cannot be called back."
        )
