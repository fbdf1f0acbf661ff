from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from studies.actions.drafts import create_or_replace
from studies.actions.lookup import full_name
from studies.actions.studies import create_study
from studies.design import DesignRefused
from studies.errors import StudyError
from studies.management.arguments import add_by, read_actor, read_project
from studies.permissions import Verb


class Command(BaseCommand):
    help = "Create a draft from a study file, or list what is wrong, by line."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("file", type=Path, help="The study file (YAML); studies/designs/ has some to copy.")
        parser.add_argument(
            "--replace",
            action="store_true",
            help="Change the draft with the name in the file, if there is one.",
        )
        parser.add_argument(
            "--project", required=True, help="Slug of the project whose instances the study asks about."
        )
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["file"]
        try:
            source = file.read_text(encoding="utf-8")
        except OSError as error:
            raise CommandError(f"{file} cannot be read ({error.strerror}). Check the name.") from error
        except UnicodeDecodeError as error:
            raise CommandError(f"{file} is not UTF-8 text. Save the study file as UTF-8.") from error
        project = read_project(options["project"])
        by = read_actor(options, Verb.DESIGN, project)
        try:
            create = create_or_replace if options["replace"] else create_study
            study = create(project=project, source=source, by=by, now=timezone.now())
        except (DesignRefused, StudyError) as error:
            raise CommandError(f"{file} was not used:\n{error}") from error
        self.stdout.write(f"Study {study.slug} is a draft. Launch it with: manage.py launch_study {full_name(study)}")
