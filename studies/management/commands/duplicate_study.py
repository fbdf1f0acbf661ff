from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from studies.actions.drafts import duplicate_study
from studies.actions.lookup import full_name
from studies.design import DesignRefused
from studies.errors import StudyError
from studies.management.arguments import STUDY_HELP, add_by, read_actor, read_study
from studies.permissions import Verb


class Command(BaseCommand):
    help = "Copy a study to a new draft, whatever its state."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("study", help=STUDY_HELP)
        parser.add_argument("name", help="Name of the copy in URLs and commands.")
        parser.add_argument("--title", help="Title of the copy, which annotators read (default: the same title).")
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        study = read_study(options["study"])
        by, title = read_actor(options, Verb.DESIGN, study.project), options["title"] or study.title
        try:
            copy = duplicate_study(study=study, slug=options["name"], title=title, by=by, now=timezone.now())
        except DesignRefused as error:
            sentences = "\n".join(problem.message for problem in error.problems)
            raise CommandError(f"{study.slug} was not duplicated:\n{sentences}") from error
        except StudyError as error:
            raise CommandError(f"{study.slug} was not duplicated:\n{error}") from error
        self.stdout.write(f"Study {copy.slug} is a draft. Launch it with: manage.py launch_study {full_name(copy)}")
