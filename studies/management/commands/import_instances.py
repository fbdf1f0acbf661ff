import json
import sys
from argparse import ArgumentParser
from contextlib import closing
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError
from django.urls import reverse
from django.utils import timezone

from background.tasks import send
from studies.actions.imports.import_jobs import request_import
from studies.actions.imports.import_state import ImportRefused
from studies.actions.imports.importer import import_files
from studies.actions.imports.table_preview import sample_of
from studies.importing import IMPORTERS, TABLE
from studies.importing.captions import CAPTION_RULES
from studies.importing.mapping import guess_mapping
from studies.importing.table import NO_MAPPING
from studies.management.arguments import add_by, import_target, read_importer, read_user
from studies.progress_bars import ProgressBars

IMAGE_OPTIONS = "--images names their folder; --images-later lets them come later."


class Command(BaseCommand):
    help = "Import instances from files into a project: all rows, or none with a list of problems."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="The project's slug; the project is created if it does not exist.")
        parser.add_argument("files", nargs="+", type=Path, metavar="FILE")
        parser.add_argument("--format", required=True, help=f"One of {', '.join(IMPORTERS)}.")
        parser.add_argument(
            "--mapping", type=Path, metavar="JSON", help=f"A JSON file that says what each column of a {TABLE} is."
        )
        parser.add_argument(
            "--images", type=Path, metavar="DIR", help="The folder of the images; names in the rows are relative to it."
        )
        parser.add_argument("--caption-rule", default="as-is-v1", help=f"One of {', '.join(CAPTION_RULES)}.")
        parser.add_argument(
            "--images-later",
            action="store_true",
            help="Import rows whose images are missing; the images can come later.",
        )
        parser.add_argument("--owner", metavar="USERNAME", help="Owner of the project, if it is created.")
        how = parser.add_mutually_exclusive_group()
        how.add_argument("--dry-run", action="store_true", help="Check all rows; import nothing.")
        how.add_argument(
            "--in-background",
            action="store_true",
            help="Import in the background with a worker on this machine, and print where to see the result.",
        )
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project = import_target(options["project"])
        owner = None if options["owner"] is None else read_user(options["owner"])
        is_new = project.pk is None
        by = read_importer(options, project)
        wanted = {
            "project": project,
            "files": options["files"],
            "format": options["format"],
            "by": by,
            "now": timezone.now(),
            "mapping": _mapping(options),
            "images_dir": options["images"],
            "caption_rule": options["caption_rule"],
            "images_later": options["images_later"],
            "owner": owner,
        }
        try:
            if options["in_background"]:
                self._ask(wanted)
            else:
                self._import(wanted, options)
        except ImportRefused as error:
            heading = f"Nothing was imported{f' from {error.file}' if error.file else ''}."
            options_for_images = [IMAGE_OPTIONS] if error.lacks_images else []
            raise CommandError("\n".join([heading, str(error), *options_for_images])) from error
        if is_new:
            self.stdout.write(f"The project {project.slug} {'would be' if options['dry_run'] else 'was'} made.")

    def _import(self, wanted: dict[str, Any], options: dict[str, Any]) -> None:
        with closing(ProgressBars(None if options["verbosity"] == 0 else sys.stderr, unit=" rows")) as bars:
            summaries = import_files(**wanted, dry_run=options["dry_run"], progress=bars.show)
        for summary in summaries:
            self.stdout.write(f"{summary.file}: {summary}")

    def _ask(self, wanted: dict[str, Any]) -> None:
        asked = request_import(**wanted)
        if asked.job is not None:
            send(asked.job)
        page = f"{settings.SITE_URL}{reverse('project_imports', args=[asked.project.slug])}"
        self.stdout.write(f"Import {asked.pk} is waiting for a worker. {page} shows its progress and result.")


def _mapping(options: dict[str, Any]) -> Any:
    """Return the mapping in the file of --mapping. Without one that a table needs, raise CommandError with a guess."""
    if options["mapping"] is not None:
        try:
            mapping = json.loads(options["mapping"].read_text(encoding="utf-8"))
        except (OSError, ValueError) as error:
            raise CommandError(f"{options['mapping']} cannot be read as JSON ({error}).") from error
        if not isinstance(mapping, dict) or not all(isinstance(target, str) for target in mapping.values()):
            raise CommandError(f'{options["mapping"]} is not a mapping. Write {{"column": "caption:caption", ...}}.')
        return mapping
    if options["format"] != TABLE or not all(file.is_file() for file in options["files"]):
        return None
    shown = sample_of(options["files"])
    if shown.problem:
        raise CommandError(shown.problem)
    guess = json.dumps(guess_mapping(shown.columns, shown.rows), ensure_ascii=False, indent=2)
    raise CommandError(f"{NO_MAPPING} Correct this guess and save it as the file of --mapping:\n{guess}")
