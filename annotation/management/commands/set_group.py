from pathlib import Path
from typing import Any

from django.core.management.base import CommandError, CommandParser
from django.utils import timezone

from annotation.actions.arriving.groups import set_group
from annotation.recruitment.people_lists import PROVIDERS, parse_ids
from annotation.recruitment.prolific.entry import PROVIDER as PROLIFIC
from studies.management.arguments import ActionCommand, add_by, read_actor, read_project
from studies.permissions import Verb


class Command(ActionCommand):
    help = "Set the members of a group that studies of a project can require: exactly the people in FILE."

    def add_arguments(self, parser: CommandParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="slug of the project")
        parser.add_argument("group", metavar="GROUP", help="the name of the group, as study files have it")
        parser.add_argument("file", metavar="FILE", type=Path, help="an id of a person on each line; empty: nobody")
        parser.add_argument("--provider", default=PROLIFIC, choices=PROVIDERS, help="whose ids they are")
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project, group = read_project(options["project"]), options["group"].strip()
        by = read_actor(options, Verb.IDENTIFY_PEOPLE, project)
        try:
            text = options["file"].read_text(encoding="utf-8-sig")
        except (OSError, UnicodeDecodeError) as error:
            raise CommandError(f"{options['file']} cannot be read: {error}") from error
        provider = options["provider"]
        people = parse_ids(text, provider=provider)
        many = set_group(project=project, group=group, provider=provider, people=people, by=by, now=timezone.now())
        self.stdout.write(f"The group {group} of {project.slug} has {many} {'person' if many == 1 else 'people'}.")
