from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.db import transaction
from django.utils import timezone

from results.actions.exports import exportable_study
from results.actions.releases import (
    RELEASE_FORMATS,
    check_fits,
    freeze_release,
    prepare_release,
    release_into,
    write_provider_ids,
)
from results.errors import CannotExport
from results.exporting.dataset_card import About
from results.management.progress import progress_bar
from results.models import Release
from studies.actions.events import Actor
from studies.actions.projects.datasets import dataset_studies
from studies.management.arguments import add_by, read_actor, read_project
from studies.models import Project, Study
from studies.permissions import Verb
from studies.wording import format_count


class Command(BaseCommand):
    help = (
        "Freeze the accepted items of a study, or the dataset of a project, with all their answers. Write them with a "
        "dataset card and a Croissant file. The same name gives the same files again, byte for byte."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", metavar="PROJECT", help="slug of the project")
        parser.add_argument(
            "--study",
            metavar="SLUG",
            help="the study to release (default: the project's dataset)",
        )
        parser.add_argument("--name", required=True, help="name of the release, such as v1")
        parser.add_argument(
            "--format", default="hf", choices=RELEASE_FORMATS, help="the format (default: hf, with images)"
        )
        parser.add_argument("--out", required=True, type=Path, metavar="DIR", help="folder to write into")
        parser.add_argument("--description", default="", help="description of the data (default: its counts)")
        parser.add_argument("--licence", default="", help="the licence of the data: an SPDX name or an address")
        parser.add_argument("--citation", default="", help="how to cite it, in BibTeX")
        parser.add_argument(
            "--with-provider-ids",
            action="store_true",
            help="also write the key to the pseudonyms, into a separate file that only you can read",
        )
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        project = read_project(options["project"])
        by = read_actor(options, Verb.RELEASE, project)
        if options["with_provider_ids"]:
            read_actor(options, Verb.IDENTIFY_PEOPLE, project)
        about = About(options["name"], options["description"], options["licence"], options["citation"])
        try:
            study, *beside = _studies(project, options["study"], options["name"])
            # A format that cannot hold the items leaves no release behind.
            with transaction.atomic():
                release, created = prepare_release(study=study, beside=beside, about=about, by=by, now=timezone.now())
                check_fits(release.studies(), options["format"], release)
            freeze_release(release=release, now=timezone.now())
            self._write(release, options["format"], options["out"], by, created=created)
            if options["with_provider_ids"]:
                path = write_provider_ids(release=release, folder=options["out"], by=by, now=timezone.now())
                self.stdout.write(f"{path}: the key to the pseudonyms. Keep it separate from the release.")
        except CannotExport as error:
            raise CommandError(str(error)) from error

    def _write(self, release: Release, format: str, folder: Path, by: Actor, *, created: bool) -> None:
        with progress_bar(release.name, " items", self.stderr) as report:
            written = release_into(
                release=release, format=format, folder=folder, report=report, by=by, now=timezone.now()
            )
        when = "frozen now" if created else f"frozen {release.made_at:%Y-%m-%d %H:%M} UTC"
        self.stdout.write(
            f"{written.path}: {format_count(release.dossier['size'], 'accepted item')}, "
            f"{format_count(release.responses, 'response')}, {when}"
        )


def _studies(project: Project, name: str | None, release: str) -> list[Study]:
    """Return the study called `name`, else those of the release called so, else the dataset's. Raises CannotExport."""
    if name is not None:
        return [exportable_study(project=project, name=name)]
    if (known := Release.objects.filter(project=project, name=release).first()) is not None:
        return known.studies()
    if studies := dataset_studies(project):
        return studies
    raise CannotExport(
        f"No study of {project.slug} is part of its dataset. Name a study with --study, or choose "
        "the studies of the dataset with set_dataset."
    )
