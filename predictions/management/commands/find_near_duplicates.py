from argparse import ArgumentParser
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from background.job_runner import run
from background.models import JobState
from predictions.actions.duplicates import compare_again
from predictions.queries.duplicates import near_duplicates_of
from studies.management.arguments import read_project


class Command(BaseCommand):
    help = "Compare all images of a project again with all others and with the known test sets, without a worker."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="The project's slug.")

    def handle(self, *args: Any, **options: Any) -> None:
        project = read_project(options["project"])
        job, _ = compare_again(project=project, now=timezone.now())
        run(job_id=job.pk, message="", now=timezone.now)
        job.refresh_from_db()
        if job.state != JobState.DONE:
            raise CommandError(
                job.error or "A worker is already comparing the images. The project's page shows its progress."
            )
        self.stdout.write(f"Near-duplicate pairs: {near_duplicates_of(project).count():,}.")
