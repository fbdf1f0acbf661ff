from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from studies.actions.drafts import delete_draft
from studies.management.arguments import STUDY_HELP, ActionCommand, add_by, read_actor, read_study
from studies.permissions import Verb


class Command(ActionCommand):
    help = "Delete a draft with its links and codes. A launched study cannot be deleted."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help=STUDY_HELP)
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        study = read_study(options["study"])
        by = read_actor(options, Verb.DESIGN, study.project)
        delete_draft(study=study, by=by, now=timezone.now())
        self.stdout.write(f"The draft {study.slug} is deleted.")
