from argparse import ArgumentParser
from collections.abc import Callable
from functools import partial
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from results.actions.exports import (
    describe_exports,
    export_into,
    export_project_into,
    exportable_studies,
    exportable_study,
    is_of_project,
)
from results.actions.row_progress import WrittenFile
from results.errors import CannotExport
from results.exporting import FORMATS
from results.management.progress import progress_bar
from studies.actions.events import Actor
from studies.management.arguments import add_by, read_actor, read_project
from studies.models import Project
from studies.permissions import Verb


class Command(BaseCommand):
    # They load every page of the site, which takes longer than ten thousand rows.
    requires_system_checks = ()
    help = "Export the accepted items of a project's studies, or all their responses: one file per launched study."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="slug of the project")
        parser.add_argument(
            "--format", required=True, choices=FORMATS, help="the format; jsonl has everything exactly as stored"
        )
        parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder to write into")
        parser.add_argument(
            "--study",
            default="",
            metavar="SLUG",
            help="only this study; without it imagecode exports the whole project",
        )
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project = read_project(options["project"])
        by = read_actor(options, Verb.EXPORT, project)
        try:
            paths = self._export(project, options, by)
            described = describe_exports(project=project, written=paths)
        except CannotExport as error:
            raise CommandError(str(error)) from error
        if described:
            self.stdout.write(f"{described}: description of the files")

    def _export(self, project: Project, options: dict[str, Any], by: Actor) -> list[Path]:
        wanted: dict[str, Any] = {"format": options["format"], "folder": options["out"], "by": by}
        if is_of_project(options["format"]) and not options["study"]:
            return [self._run_export(project.slug, partial(export_project_into, project=project, **wanted))]
        named = options["study"]
        studies = [exportable_study(project=project, name=named)] if named else exportable_studies(project=project)
        return [self._run_export(study.slug, partial(export_into, study=study, **wanted)) for study in studies]

    def _run_export(self, name: str, export: Callable[..., WrittenFile]) -> Path:
        with progress_bar(name, " rows", self.stderr) as report:
            written = export(report=report, now=timezone.now())
        self.stdout.write(f"{written.path}: {written.rows} rows")
        return written.path
