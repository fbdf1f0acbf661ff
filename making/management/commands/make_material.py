from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import CommandError
from django.utils import timezone

from background.job_runner import run
from background.models import Job, JobState
from background.tasks import send
from making.actions.pipeline_studies import studies_of
from making.actions.pipelines import request_pipeline
from making.models import Pipeline
from making.queries.yields import stage_yields, started_with
from making.tokens import NO_TOKENS
from studies.design import DesignRefused
from studies.errors import StudyError
from studies.management.arguments import ActionCommand, add_by, read_actor, read_project
from studies.permissions import Verb
from studies.wording import format_count


class Command(ActionCommand):
    refusals = (DesignRefused, StudyError)
    help = "Make candidates and hard negatives from a project's captions, as a pipeline file says."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="The project's slug.")
        parser.add_argument("file", type=Path, help="The pipeline file (YAML); docs/making.md describes it.")
        parser.add_argument("--in-background", action="store_true", help="Let a worker do it.")
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project = read_project(options["project"])
        by = read_actor(options, Verb.IMPORT, project)
        source = _read(options["file"])
        before = project.pipelines.filter(source=source, is_trial=False).first()
        if before is not None and before.error:
            # It came from a worker, after the command had ended.
            self.stdout.write(f"The pipeline {before.name} had stopped: {before.error}")
        pipeline, job = request_pipeline(project=project, source=source, by=by, now=timezone.now())
        if job is None:
            self.stdout.write(f"The pipeline {pipeline.name} is already complete, so it did not run again.")
        elif options["in_background"]:
            send(job)
            self.stdout.write(f"The pipeline {pipeline.name} is waiting for a worker.")
            return
        else:
            self._run(job)
            pipeline.refresh_from_db()
        self._tell(pipeline)

    def _run(self, job: Job) -> None:
        run(job_id=job.pk, message="", now=timezone.now)
        job.refresh_from_db()
        if job.state == JobState.FAILED:
            raise CommandError(job.error)
        if job.state != JobState.DONE:
            raise CommandError(
                "The pipeline was cancelled, or a worker is running it. Run the command again to continue."
            )

    def _tell(self, pipeline: Pipeline) -> None:
        self.stdout.write(f"{pipeline.name} began with {format_count(started_with(pipeline), 'text')}.")
        for each in stage_yields(pipeline):
            self.stdout.write(
                f"{each.name} ({each.maker}): {each.parents:,} texts, {each.made:,} candidates made, {each.kept:,} kept"
            )
            if each.tokens != NO_TOKENS:
                cost = f", {each.cost}" if each.cost else ""
                self.stdout.write(
                    f"  {each.tokens.prompt:,} tokens read, {each.tokens.completion:,} tokens written{cost}"
                )
            if each.device_cost:
                self.stdout.write(f"  {each.device_hours:.2f} hours of a worker's device, {each.device_cost}")
            for note in each.notes:
                self.stdout.write(f"  {note}")
            for reason, count in each.reasons.items():
                self.stdout.write(f"  {count:,}: {reason}")
        if pipeline.waits_for:
            self.stdout.write(
                f"{pipeline.waits_for} is waiting for workers with models, then continues. Run the command again to "
                "see its progress."
            )
            return
        made = pipeline.instances.count()
        self.stdout.write(f"{format_count(made, 'instance')} made.")
        for study in studies_of(pipeline):
            self.stdout.write(f"Study {study.slug}: {study.get_state_display().lower()}.")
        if pipeline.waits_for_people:
            self.stdout.write(
                "A worker continues the pipeline when people accept instances. Or run this command again."
            )


def _read(file: Path) -> str:
    try:
        return file.read_text(encoding="utf-8")
    except OSError as error:
        raise CommandError(f"{file} cannot be read ({error.strerror}). Check the name.") from error
    except UnicodeDecodeError as error:
        raise CommandError(f"{file} is not UTF-8 text. Save the pipeline file as UTF-8.") from error
