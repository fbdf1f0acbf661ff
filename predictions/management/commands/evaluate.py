import csv
import json
from argparse import ArgumentParser
from importlib import import_module
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from analytics.results_files import ResultsFileError
from predictions.protocols import PROTOCOLS, Benchmark, BenchmarkError, Evaluation, Scorer, evaluate, get_protocol
from predictions.protocols.rendering import Line, as_json, as_text
from predictions.protocols.score_files import ScoreFile

FILE = "file:"


class Command(BaseCommand):
    help = "Evaluate models on a public benchmark by its paper's protocol, and print its table with the chance row."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--benchmark", required=True, metavar="NAME", help=f"One of {', '.join(PROTOCOLS)}.")
        parser.add_argument(
            "--model",
            action="append",
            default=[],
            metavar="SPEC",
            help="file:PATH, or a scorer's spec; as often as wanted.",
        )
        parser.add_argument("--data", required=True, type=Path, metavar="FOLDER", help="The benchmark's own files.")
        parser.add_argument("--out", type=Path, metavar="FILE", help="Write the tables there too, as JSON with counts.")
        parser.add_argument("--pairs", type=Path, metavar="FILE", help="Write the pairs to be scored there, as CSV.")
        parser.add_argument(
            "--prepare",
            action="store_true",
            help="Make what the paper makes of the data by chance, into the data folder.",
        )
        parser.add_argument("--seed", type=int, default=1, help="What --prepare makes follows from it (default 1).")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["benchmark"] not in PROTOCOLS:
            raise CommandError(f"There is no benchmark {options['benchmark']!r}. It is one of {', '.join(PROTOCOLS)}.")
        if not (options["model"] or options["pairs"] or options["prepare"]):
            raise CommandError("Name a model with --model, or write the pairs to be scored with --pairs.")
        protocol, folder = get_protocol(options["benchmark"]), options["data"]
        try:
            if options["prepare"]:
                for sentence in protocol.prepare(folder, seed=options["seed"], embed=None):
                    self.stdout.write(sentence)
            data = protocol.read(folder)
            if options["pairs"]:
                self._write_pairs(protocol, data, options["pairs"])
            if options["model"]:
                lines = [Line(called(spec), evaluated(protocol, data, spec)) for spec in options["model"]]
                self._show(protocol, lines, protocol.chance(data), options["out"])
        except (BenchmarkError, ResultsFileError) as error:
            raise CommandError(f"Nothing was evaluated.\n{error}") from error

    def _show(self, protocol: Benchmark[Any, Any], lines: list[Line], chance: Any, out: Path | None) -> None:
        n = lines[0].evaluation.whole.n
        self.stdout.write(as_text(f"{protocol.title} ({protocol.paper}), n = {n:,}, in percent", lines, chance))
        if out is not None:
            what = {"benchmark": protocol.name, "paper": protocol.paper} | as_json(lines, chance)
            out.write_text(json.dumps(what, ensure_ascii=False, indent=1) + "\n", encoding="utf-8")

    def _write_pairs(self, protocol: Benchmark[Any, Any], data: Any, path: Path) -> None:
        count = 0
        with path.open("w", encoding="utf-8", newline="") as stream:
            writer = csv.writer(stream, lineterminator="\n")
            writer.writerow(["image", "text", "score"])
            for block in protocol.blocks(data):
                writer.writerows((image, text, "") for image in block.images for text in block.texts)
                count += len(block.images) * len(block.texts)
        self.stdout.write(f"{count:,} pairs are in {path}; write their scores into its third column.")


def called(spec: str) -> str:
    """Return what a table calls a model: a file by its name without its ending."""
    return Path(spec.removeprefix(FILE)).stem if spec.startswith(FILE) else spec


def evaluated(protocol: Benchmark[Any, Any], data: Any, spec: str) -> Evaluation:
    """Evaluate one model. Raises BenchmarkError, and ResultsFileError for a file of results."""
    if not spec.startswith(FILE):
        return evaluate(protocol, data, scorer_called(spec))
    path = Path(spec.removeprefix(FILE))
    if not path.exists():
        raise BenchmarkError([f"There is no file {path}."])
    found = protocol.published(data, path)
    return evaluate(protocol, data, ScoreFile(path)) if found is None else protocol.tables(data, found)


def scorer_called(spec: str) -> Scorer:
    """Return the scorer of a spec. Raises BenchmarkError where there is none."""
    try:
        scorer: Scorer = import_module("predictions.scorers").scorer_of(spec)
    except (ImportError, AttributeError) as error:
        raise BenchmarkError(
            [f"Models such as {spec!r} cannot be loaded here. Give their scores as a file, file:PATH."]
        ) from error
    return scorer
