import subprocess
import tempfile
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.conf import settings
from django.core.management.base import BaseCommand, CommandError

from predictions.scorers import CannotLoad, scorer_of
from predictions.scorers.onnx import DEMO_FILE
from simulation.actions.demo_project import SEED as SEED_OF_THE_DEMO
from simulation.demo.model_card import evaluate, model_card
from simulation.demo.scenes import describe_instances
from simulation.management.commands.demo import PER_CATEGORY

SCENES, EPOCHS, SEED = 4_000, 12, "training"
PYTHON = Path(".venv-models") / "bin" / "python"


class Command(BaseCommand):
    help = (
        "Train the demo's small model on drawn scenes of other seeds than the demo's, and write it with a model card. "
        "Takes minutes on two cores."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--out", type=Path, default=DEMO_FILE, metavar="FILE", help="File of the model (default: the demo's own)."
        )
        parser.add_argument("--scenes", type=int, default=SCENES, help="Number of training scenes.")
        parser.add_argument("--epochs", type=int, default=EPOCHS, help="Number of passes over the scenes.")
        parser.add_argument("--seed", default=SEED, help="Seed of the scenes; it must differ from the demo's.")
        parser.add_argument(
            "--python",
            type=Path,
            default=settings.BASE_DIR / PYTHON,
            help=f"A Python that has torch and onnx, unlike the site's; {PYTHON} unless it is named.",
        )

    def handle(self, *args: Any, **options: Any) -> None:
        file: Path = options["out"].resolve()
        if options["seed"] == SEED_OF_THE_DEMO:
            raise CommandError(f"{SEED_OF_THE_DEMO!r} is the seed of the demo's own scenes. Choose another.")
        _train(options["python"], file, options)
        instances = [
            instance
            for instance in describe_instances(seed=SEED_OF_THE_DEMO, per_category=PER_CATEGORY)
            if instance.right is not None
        ]
        try:
            scorer = scorer_of(f"onnx:{file}")
        except CannotLoad as error:
            raise CommandError(str(error)) from error
        self.stdout.write("Testing it on the demo's scenes ...")
        with tempfile.TemporaryDirectory() as folder:
            outcomes = evaluate(scorer, instances, Path(folder))
        told = f"on {options['scenes']:,} scenes of the seed `{options['seed']}`, {options['epochs']} times each"
        text = model_card(file, scorer.identity.name, told, instances, outcomes)
        file.with_suffix(".md").write_text(text, encoding="utf-8")
        self.stdout.write(
            f"{text}\nWritten to {file} and, with this card, to {file.with_suffix('.md').name} beside it."
        )


def _train(python: Path, file: Path, options: dict[str, Any]) -> None:
    """Train in a Python with torch. Raises CommandError."""
    if not _has_torch(python):
        raise CommandError(
            f"Training needs torch, onnx and onnxscript, which {python} has not. Run make .venv-models/installed, then "
            ".venv-models/bin/pip install -r requirements-training.txt; or name another Python with --python."
        )
    command = [str(python), "-W", "ignore", "-m", "simulation.demo.model_training", str(file)]
    for name in ("scenes", "epochs", "seed"):
        command += [f"--{name}", str(options[name])]
    if subprocess.run(command, cwd=settings.BASE_DIR, check=False).returncode:  # noqa: S603 (our own words)
        raise CommandError("The training failed; its messages stand above.")


def _has_torch(python: Path) -> bool:
    try:
        found = subprocess.run(  # noqa: S603 (our own words)
            [str(python), "-c", "import torch, onnx, onnxscript"], check=False, capture_output=True
        )
    except OSError:
        return False
    return found.returncode == 0
