"""Train by hand, on one device or, by accelerate's launcher, on several. Pure, except for the files that it writes.

    python -m training FOLDER --images IMAGES
    accelerate launch -m training FOLDER --images IMAGES

FOLDER has `plan.json` (the fields of `training.plan.Plan`), `examples.jsonl` and, if there is a validation set,
`validation.jsonl`, as `training.examples.write_examples` writes them. The model comes there too. IMAGES: a folder in
which names of images are paths, or the address of a Parquet file's cell in it.
"""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from PIL import Image
from pydantic import TypeAdapter, ValidationError

from evaluation.errors import BenchmarkError
from evaluation.pictures import Pictures
from predictions.feeder import NoPicture
from predictions.pictures import SourceUnavailable
from predictions.scorers.base import OutOfMemory
from training.errors import CannotTrain
from training.examples import Example, ExampleFile
from training.loop import train
from training.plan import Plan, Progress

PLAN, EXAMPLES, VALIDATION = "plan.json", "examples.jsonl", "validation.jsonl"


def main() -> None:
    parser = argparse.ArgumentParser(prog="training", description="Train a model in FOLDER.")
    parser.add_argument("folder", type=Path, metavar="FOLDER")
    parser.add_argument("--images", type=Path, required=True, metavar="IMAGES")
    given = parser.parse_args()
    folder: Path = given.folder
    pictures = Pictures(given.images)

    def open_picture(name: str) -> Image.Image:
        try:
            return pictures.open(name)
        except BenchmarkError as error:
            raise NoPicture(str(error)) from error

    plan, examples, validation = _read(folder)
    try:
        result = train(plan, examples, validation, open_picture, folder, _print)
    except OutOfMemory:
        sys.exit("The device is out of memory. Use a larger device or a smaller base model.")
    except (CannotTrain, SourceUnavailable) as error:
        sys.exit(str(error))
    except KeyboardInterrupt:
        sys.exit("Stopped. The same command goes on from the last checkpoint.")
    sys.stdout.write(f"{result.spec}\n")


def _read(folder: Path) -> tuple[Plan, ExampleFile, Sequence[Example]]:
    """Return the plan, the examples to train on, and those to validate on. Ends the program where it cannot."""
    try:
        plan = TypeAdapter(Plan).validate_json((folder / PLAN).read_bytes())
        validation = ExampleFile(folder / VALIDATION) if (folder / VALIDATION).is_file() else []
        return plan, ExampleFile(folder / EXAMPLES), validation
    except ValidationError as error:
        problems = [": ".join(filter(None, (".".join(map(str, each["loc"])), each["msg"]))) for each in error.errors()]
        sys.exit(f"{folder / PLAN} is no plan to train by. {'; '.join(problems)}.")
    except OSError as error:
        sys.exit(f"{folder} has no plan and examples to train by ({error}).")


def _print(progress: Progress) -> None:
    left = "" if progress.seconds_left is None else f", {progress.seconds_left:,.0f} s left"
    score = "" if progress.score is None else f", score {progress.score:.1%}"
    losses = "".join(f", {name} {value:.4f}" for name, value in progress.losses.items())
    phase = f", {progress.phase}" if progress.phase else ""
    sys.stdout.write(f"step {progress.step:,} of {progress.steps:,}{losses}{score}{left}{phase}\n")
    sys.stdout.writelines(f"{sentence}\n" for sentence in progress.sentences)
    sys.stdout.flush()


if __name__ == "__main__":
    main()
