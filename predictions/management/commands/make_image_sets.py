import sys
from argparse import ArgumentParser
from collections.abc import Mapping
from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management import call_command
from django.core.management.base import CommandError

from predictions.image_sets.embeddings import Embedding, NoEmbedding, embedding_of
from predictions.image_sets.near_duplicates import NEAR_BELOW
from predictions.image_sets.set_files import LEFT_OUT, LIST, SETS, TABLE
from predictions.image_sets.set_maker import CannotMake, SetOptions, Split, Summary, from_photos, from_videos
from predictions.image_sets.set_selection import MOST
from predictions.image_sets.splits import BadShares, shares_of
from predictions.image_sets.text_detection import NOT_LOOKED_FOR, program
from studies.management.arguments import ActionCommand, add_by, import_target, read_importer
from studies.progress_bars import ProgressBars

# By colour and gradient: consecutive frames of real sets of video frames are 0.01 to 0.11 apart, half of them less than
# 0.03. A photo that was saved again, smaller and as a poorer JPEG, is 0.003 from itself (of 60 photos the most was
# 0.008), and photos of one burst are at least 0.03 apart. Distances of another embedding need other bounds.
LEAST_DISTANCE, SAME_BELOW = 0.02, 0.01
# Of 46,056 pairs of 304 real photos, 6 in 100 are closer than this, nearly all of them photos of one thing. Frames of
# one shot have no such bound: in real sets they are up to 0.68 apart.
MOST_DISTANCE = 0.4


class Command(ActionCommand):
    refusals = (BadShares, CannotMake, NoEmbedding)
    help = "Make image sets of ten from photos or videos, and import them into a project."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("project", help="The project's slug; the project is created if it does not exist.")
        of_what = parser.add_mutually_exclusive_group(required=True)
        of_what.add_argument(
            "--photos", type=Path, metavar="DIR", help="Sets of each photo and the nine most similar ones."
        )
        of_what.add_argument(
            "--videos",
            type=Path,
            metavar="DIR",
            help="Sets of the frames of each shot, from videos or folders of frames.",
        )
        parser.add_argument(
            "--out", type=Path, metavar="DIR", help="Folder for the sets; an unfinished one is continued."
        )
        parser.add_argument(
            "--embedding",
            default="",
            metavar="MODEL",
            help="A contrastive model on this machine, FAMILY:NAME as for predict (default: colour and gradient).",
        )
        parser.add_argument(
            "--least-distance",
            type=float,
            help=f"Least distance between frames of a set, 0 to 2 (default {LEAST_DISTANCE}; required with a model).",
        )
        parser.add_argument(
            "--same-below",
            type=float,
            help=f"Photos closer than this count as the same and are never in one set (default {SAME_BELOW}; "
            "required with a model).",
        )
        parser.add_argument(
            "--most-distance",
            type=float,
            help="Most distance between photos or frames of a set, 0 to 2, as 1 - cosine (default "
            f"{MOST_DISTANCE} for photos; {MOST:g}, no bound, for frames and with a model).",
        )
        parser.add_argument(
            "--split",
            default="",
            metavar="SHARES",
            help="Split the sets, such as train=.8,valid=.1,test=.1. Sets of one video, or with near-duplicate "
            "images, stay in one split.",
        )
        parser.add_argument(
            "--seed",
            default=SetOptions.seed,
            help=f"Seed of the order of photos and of the splits (default {SetOptions.seed}).",
        )
        parser.add_argument(
            "--seconds", type=float, default=0.5, help="Seconds between two frames that are examined (default 0.5)."
        )
        parser.add_argument("--owner", metavar="USERNAME", help="Owner of the project, if it is created.")
        parser.add_argument("--only-make", action="store_true", help="Import nothing.")
        add_by(parser)

    def handle(self, *args: Any, **options: Any) -> None:
        read_importer(options, import_target(options["project"]))
        folder: Path = options["photos"] or options["videos"]
        if not folder.is_dir():
            raise CommandError(f"{folder} is not a folder. Check the name.")
        out: Path = options["out"] or settings.DATA_DIR / "image-sets" / options["project"]
        make = from_photos if options["photos"] else from_videos
        shares = shares_of(options["split"]) if options["split"] else None
        wishes = _wishes(options)
        embedding = embedding_of(options["embedding"])
        wishes = replace(wishes, embedding=embedding.name)
        split = Split(shares, _near_below(options, wishes), wishes.seed) if shares else None
        with closing(ProgressBars(None if options["verbosity"] == 0 else sys.stderr, unit="")) as bars:
            summary = make(folder, out, embedding=embedding, wishes=wishes, progress=bars.show, split=split)
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
            **{name: options[name] for name in ("owner", "by", "verbosity")},
            stdout=self.stdout,
            stderr=self.stderr,
        )

    def _say(self, summary: Summary, out: Path, embedding: Embedding, *, is_video: bool) -> None:
        for problem in summary.problems:
            self.stderr.write(f"Left out: {problem}")
        what = "frames" if is_video else "photos"
        counts = f"{summary.sets:,} sets of ten from {summary.looked_at:,} {what}"
        self.stdout.write(f"{counts}, by {embedding.name}.")
        left_out = ", ".join(f"{count:,} ({reason})" for reason, count in summary.left_out.items() if count)
        self.stdout.write(f"Left out: {left_out or 'none'}.")
        if is_video and not program():
            self.stdout.write(NOT_LOOKED_FOR)
        if not is_video:
            self.stdout.write(f"Why each photo was left out: {out / LEFT_OUT}.")
        if summary.splits:
            self.stdout.write(f"Splits: {_counts(summary.splits)}.")
        if summary.splits != summary.wanted:
            self.stdout.write(
                f"Wanted: {_counts(summary.wanted)}. Sets of one video, or with near-duplicate images, stay in "
                "one split, so these counts were not reached."
            )
        self.stdout.write(f"Distances within each set: {out / TABLE}.")


def _counts(splits: Mapping[str, int]) -> str:
    return ", ".join(f"{name} {count:,}" for name, count in splits.items())


def _wishes(options: Mapping[str, Any]) -> SetOptions:
    """Return the parameters of the sets, without the embedding.

    Raises CommandError if a model is named without a bound, because its distances are unknown, and for bounds that
    exclude every distance.
    """
    flag = "same_below" if options["photos"] else "least_distance"
    if options["embedding"] and options[flag] is None:
        raise CommandError(
            f"Give {_flag(flag)}: the distances between images by {options['embedding']} are not known "
            "in advance. Use 0 with --only-make, and choose a bound from the distances in sets.csv."
        )
    least = _value_or_default(options["least_distance"], LEAST_DISTANCE)
    same = _value_or_default(options["same_below"], SAME_BELOW)
    is_known = options["photos"] and not options["embedding"]
    most = _value_or_default(options["most_distance"], MOST_DISTANCE if is_known else MOST)
    lower = same if options["photos"] else least
    if not 0 <= lower < most <= MOST:
        raise CommandError(
            f"{_flag(flag)} {lower:g} and --most-distance {most:g} leave no distance between them. Distances are from "
            f"0 to {MOST:g}, and the first must be less than the second."
        )
    return SetOptions(
        embedding="",
        least_distance=least,
        same_below=same,
        most_distance=most,
        seconds=options["seconds"],
        seed=options["seed"],
    )


def _near_below(options: Mapping[str, Any], wishes: SetOptions) -> float:
    """Return the distance below which images must be in the same split."""
    bound = wishes.same_below if options["photos"] else wishes.least_distance
    return bound if options["embedding"] else max(bound, NEAR_BELOW)


def _value_or_default(value: float | None, otherwise: float) -> float:
    return otherwise if value is None else value


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"
