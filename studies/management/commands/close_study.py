from typing import Any

from django.core.management.base import CommandParser
from django.utils import timezone

from studies.actions.studies import change_state
from studies.management.arguments import STUDY_HELP, ActionCommand, add_by, read_actor, read_study
from studies.models import StudyState
from studies.permissions import Verb


class Command(ActionCommand):
    help = "Close a study: nobody can join, and open sessions can finish. It cannot be opened again."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help=STUDY_HELP)
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        study = read_study(options["study"])
        by = read_actor(options, Verb.RUN, study.project)
        change_state(study=study, to=StudyState.CLOSED, by=by, now=timezone.now())
        self.stdout.write(f"Study {study.slug} is closed.")
