from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError, CommandParser
from django.utils import timezone

from annotation.actions.groups import set_group
from annotation.recruitment import invite
from annotation.recruitment.base import one_spelling
from annotation.recruitment.prolific.entry import LONGEST_ID, PROVIDER
from studies.management.named import actor_named, add_by, project_called
from studies.permissions import Verb

LONGEST_NAME = 50


class Command(BaseCommand):
    help = "Declare a group of people of a project, which its studies may ask for: those in FILE, and nobody else."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="slug of the project")
        parser.add_argument("group", metavar="GROUP", help="the name of the group, as study files have it")
        parser.add_argument("file", metavar="FILE", type=Path, help="an id of a person on each line; empty: nobody")
        parser.add_argument(
            "--provider", default=PROVIDER, choices=[PROVIDER, invite.PROVIDER], help="whose ids they are"
        )
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project, group = project_called(options["project"]), options["group"].strip()
        by = actor_named(options, Verb.IDENTIFY_PEOPLE, project)
        if not group or len(group) > LONGEST_NAME:
            raise CommandError(f"The name of a group has 1 to {LONGEST_NAME} characters.")
        try:
            lines = options["file"].read_text(encoding="utf-8-sig").splitlines()
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{options['file']} cannot be read: {error}") from error
        people = [
            _person(line, options["provider"], number) for number, line in enumerate(lines, start=1) if line.strip()
        ]
        many = set_group(
            project=project, group=group, provider=options["provider"], people=people, by=by, now=timezone.now()
        )
        self.stdout.write(f"The group {group} of {project.slug} has {many} {'person' if many == 1 else 'people'}.")


def _person(line: str, provider: str, number: int) -> str:
    if provider == invite.PROVIDER:
        if not invite.is_a_name(line.strip()):
            raise CommandError(f"Line {number} is no name of somebody who is invited.")
        return invite.named_entry(line.strip()).person
    person = one_spelling(line)
    if not person or len(person) > LONGEST_ID or any(each.isspace() for each in person):
        raise CommandError(f"Line {number} is no id of a person.")
    return person
