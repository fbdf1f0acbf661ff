from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import BaseCommand, CommandError
from tqdm import tqdm

from predictions.image_sets.choosing import SHARPNESS
from predictions.image_sets.embedding import Embedding, NoEmbedding, embedding_of
from predictions.image_sets.making import LIST, SETS, TABLE, CannotMake, Summary, Wishes, from_photos, from_videos
from predictions.image_sets.reading_text import NOT_LOOKED_FOR, program
from studies.management.named import add_by, importer_named, project_to_fill

# Consecutive frames of real sets of video frames are 0.01 to 0.11 apart, half of them less than 0.03. A photo that was
# saved again, smaller and as a poorer JPEG, is 0.003 from itself (of 60 photos the most was 0.008), and photos of one
# burst are 0.03 from each other at least. Both by colour and gradient: distances of another embedding say nothing
# about these.
LEAST_DISTANCE, SAME_BELOW = 0.02, 0.01


class Command(BaseCommand):
    help = "Make image sets of ten from photos or videos, and import them into a project."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="The project's slug; a project that does not exist is made.")
        of_what = parser.add_mutually_exclusive_group(required=True)
        of_what.add_argument("--photos", type=Path, metavar="DIR", help="Each photo and the nine most like it.")
        of_what.add_argument(
            "--videos", type=Path, metavar="DIR", help="Frames of each shot of videos, or of folders of frames."
        )
        parser.add_argument("--out", type=Path, metavar="DIR", help="Where sets are made; gone on with if it exists.")
        parser.add_argument(
            "--embedding",
            default="",
            metavar="MODEL",
            help="A contrastive model on this machine, FAMILY:NAME as for predict; else by colour and gradient.",
        )
        parser.add_argument(
            "--least-distance",
            type=float,
            help=f"How far frames of a set are apart at least, 0 to 2 (default {LEAST_DISTANCE}; with a model none).",
        )
        parser.add_argument(
            "--same-below",
            type=float,
            help=f"Photos closer than this are the same, never in one set (default {SAME_BELOW}; with a model none).",
        )
        parser.add_argument(
            "--seconds", type=float, default=0.5, help="Between two frames that are looked at (default 0.5)."
        )
        parser.add_argument("--owner", metavar="USERNAME", help="Who becomes the owner of a project that is made.")
        parser.add_argument("--only-make", action="store_true", help="Import nothing.")
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        importer_named(options, project_to_fill(options["project"]))
        folder: Path = options["photos"] or options["videos"]
        if not folder.is_dir():
            raise CommandError(f"{folder} is no folder. Check the name.")
        out: Path = options["out"] or settings.DATA_DIR / "image-sets" / options["project"]
        least_distance, same_below = _how_far_apart(options)
        try:
            embedding = embedding_of(options["embedding"])
        except NoEmbedding as error:
            raise CommandError(str(error)) from error
        wishes = Wishes(
            embedding=embedding.name,
            least_distance=least_distance,
            same_below=same_below,
            seconds=options["seconds"],
        )
        make = from_photos if options["photos"] else from_videos
        with _Bars(disable=options["verbosity"] == 0) as bars:
            try:
                summary = make(folder, out, embedding=embedding, wishes=wishes, progress=bars.show)
            except CannotMake as error:
                raise CommandError(str(error)) from error
        self._say(summary, out, embedding, is_video=options["videos"] is not None)
        if options["only_make"]:
            return
        if not summary.sets:
            raise CommandError("No set was made, so nothing was imported.")
        call_command(
            "import_instances",
            options["project"],
            str(out / LIST),
            format="imagecode",
            images=out / SETS,
            owner=options["owner"],
            by=options["by"],
            verbosity=options["verbosity"],
            stdout=self.stdout,
            stderr=self.stderr,
        )

    def _say(self, summary: Summary, out: Path, embedding: Embedding, *, is_video: bool) -> None:
        for problem in summary.problems:
            self.stderr.write(f"Left out: {problem}")
        what = "frames" if is_video else "photos"
        counts = f"{summary.sets:,} sets of ten from {summary.looked_at:,} {what}"
        self.stdout.write(f"{counts}, by {embedding.name}.")
        if is_video:
            text = f"{summary.full_of_text:,} full of text" if program() else NOT_LOOKED_FOR
            self.stdout.write(f"Left out: {summary.blurred:,} blurred frames ({SHARPNESS}), {text}.")
        self.stdout.write(f"How alike the pictures of each set are: {out / TABLE}.")


def _how_far_apart(options: dict[str, Any]) -> tuple[float, float]:
    """Return how far frames, and photos, of a set are apart at least. Raises CommandError where a model is named, of
    whose distances nothing is known, and nobody says."""
    needed = "least_distance" if options["videos"] else "same_below"
    if options["embedding"] and options[needed] is None:
        raise CommandError(
            f"Say --{needed.replace('_', '-')}: how far pictures are from each other by {options['embedding']} is not "
            "known beforehand. Make sets with 0 and --only-make, and look at the distances in sets.csv."
        )
    frames, photos = options["least_distance"], options["same_below"]
    return LEAST_DISTANCE if frames is None else frames, SAME_BELOW if photos is None else photos


class _Bars:
    """A progress bar for each thing that is counted."""

    def __init__(self, *, disable: bool) -> None:
        self._disable = disable
        self._bars: dict[str, tqdm[Any]] = {}

    def __enter__(self) -> "_Bars":
        return self

    def __exit__(self, *args: object) -> None:
        for bar in self._bars.values():
            bar.close()

    def show(self, what: str, done: int, total: int) -> None:
        if what not in self._bars:
            self._bars[what] = tqdm(total=total, desc=what, unit="", disable=self._disable)
        bar = self._bars[what]
        bar.total = max(total, done)
        bar.update(done - bar.n)
