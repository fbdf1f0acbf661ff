from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.db.models import Sum
from django.utils import timezone

from annotation.actions.launching.launch import launch, launch_warnings
from studies.errors import StudyError
from studies.management.arguments import STUDY_HELP, add_by, read_actor, read_study
from studies.permissions import Verb
from studies.wording import format_count


class Command(BaseCommand):
    help = "Freeze the design of a study, plan its surveys, open its places."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help=STUDY_HELP)
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        study = read_study(options["study"])
        for warning in launch_warnings(study):
            self.stderr.write(self.style.WARNING(warning))
        try:
            launch(study=study, by=read_actor(options, Verb.RUN, study.project), now=timezone.now())
        except StudyError as error:
            raise CommandError(f"Study {study.slug} was not launched:\n{error}") from error
        seats = study.surveys.aggregate(seats=Sum("seats_planned", default=0))["seats"]
        wanted = study.questions.aggregate(wanted=Sum("answers_wanted", default=0))["wanted"]
        questions, surveys = (
            format_count(study.questions.count(), "question"),
            format_count(study.surveys.count(), "survey"),
        )
        self.stdout.write(
            f"Study {study.slug} is open: {questions} in {surveys}, {format_count(seats, 'place')}, "
            f"{format_count(wanted, 'answer')} wanted."
        )
