from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from results.actions.session_flags import flag_sessions
from studies.management.arguments import add_by, read_actor, read_project
from studies.models import Study, StudyState
from studies.permissions import Verb
from studies.wording import format_count


class Command(BaseCommand):
    help = "Look for signs of careless answers in the sessions of a project, for its researchers to review."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="slug of the project")
        parser.add_argument("--study", metavar="STUDY", help="only this study, by its slug")
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project = read_project(options["project"])
        by = read_actor(options, Verb.REMOVE_PEOPLE, project)
        launched = Study.objects.filter(project=project).exclude(state=StudyState.DRAFT).select_related("project")
        studies = launched.order_by("pk")
        if options["study"]:
            studies = studies.filter(slug=options["study"])
            if not studies:
                raise CommandError(
                    f"{project.slug} has no launched study {options['study']}. "
                    f"It has: {', '.join(launched.order_by('slug').values_list('slug', flat=True)) or 'none'}."
                )
        for study in studies:
            changes = flag_sessions(study=study, by=by, now=timezone.now())
            self.stdout.write(
                f"{study.slug}: {changes.flagged} of {format_count(changes.sessions, 'session')} flagged; "
                f"{format_count(changes.found, 'new flag')}, {changes.cleared} cleared."
            )
