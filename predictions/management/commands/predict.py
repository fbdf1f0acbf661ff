import time
from argparse import ArgumentParser
from typing import Any

from django.conf import settings
from django.core.management.base import CommandError
from django.urls import reverse
from django.utils import timezone

from predictions.actions.runs import request_run
from predictions.errors import CannotPredict
from predictions.models import Run
from predictions.tasks import send_to_worker
from studies.actions.lookup import find_study_of
from studies.errors import StudyError
from studies.kinds import KINDS
from studies.management.arguments import ActionCommand, add_by, read_actor, read_project
from studies.permissions import Verb

LOOK_EVERY_SECONDS = 1.0


class Command(ActionCommand):
    refusals = (CannotPredict, StudyError)
    help = "Request a model's missing scores from a worker with models."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="The project's slug.")
        parser.add_argument(
            "--model", required=True, metavar="SPEC", help="FAMILY:NAME, such as open_clip:ViT-B-32/openai."
        )
        about = parser.add_mutually_exclusive_group(required=True)
        about.add_argument("--study", default="", metavar="SLUG", help="Ask the model the questions of this study.")
        about.add_argument(
            "--kind",
            default="",
            help=f"Ask the model this kind's default questions about all instances; one of {', '.join(KINDS)}.",
        )
        parser.add_argument("--variant", default="", help="With --kind: ask only this variant.")
        parser.add_argument("--wait", action="store_true", help="Wait for the run to end and print its result.")
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project = read_project(options["project"])
        by = read_actor(options, Verb.PREDICT, project)
        run = request_run(
            project=project,
            spec=options["model"],
            study=find_study_of(project, options["study"]) if options["study"] else None,
            kind=options["kind"],
            variant=options["variant"],
            by=by,
            now=timezone.now(),
        )
        send_to_worker(run)
        page = f"{settings.SITE_URL}{reverse('project_models', args=[project.slug])}"
        self.stdout.write(f"Model run requested: {run.spec} on {run.about}. {page} shows its progress.")
        if options["wait"]:
            self._wait(run)

    def _wait(self, run: Run) -> None:
        while run.is_unfinished:
            time.sleep(LOOK_EVERY_SECONDS)
            run.refresh_from_db()
        if run.state != Run.State.DONE:
            raise CommandError(run.error or "The run was cancelled.")
        self.stdout.write(
            f"{run.stored:,} newly scored, {run.already_there:,} already scored, {run.wrong:,} could not be scored, "
            f"{run.left_out:,} left out."
        )
