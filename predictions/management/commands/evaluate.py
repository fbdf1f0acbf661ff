import csv
import json
from argparse import ArgumentParser
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from evaluation.blind.benchmarks import evaluate_blind
from evaluation.blind.pictures import VectorSource
from evaluation.model_scores import LoadedScorer, ScoresPairs, text_embedder
from evaluation.pictures import Pictures
from evaluation.protocols import PROTOCOLS, Benchmark, BenchmarkError, Evaluation, evaluate, get_protocol
from evaluation.protocols.base import Scorer, score_blocks
from evaluation.result_files import ResultsFileError
from evaluation.score_files import ScoreFile
from evaluation.score_tables import Line, as_json, as_text
from predictions.blind_baselines import fitted_baseline, problem_with
from predictions.scorers import CannotLoad, scorer_of
from predictions.scorers.contrastive import Contrastive
from predictions.scoring import NO_VECTORS

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
            help="file:PATH, a scorer's spec, or a blind baseline's; may be repeated.",
        )
        parser.add_argument("--data", required=True, type=Path, metavar="FOLDER", help="The benchmark's own files.")
        parser.add_argument("--images", type=Path, metavar="FOLDER", help="Its images, if they are not in --data.")
        parser.add_argument(
            "--out", type=Path, metavar="FILE", help="Also write the tables to this file, as JSON with counts."
        )
        parser.add_argument(
            "--pairs", type=Path, metavar="FILE", help="Write the pairs to be scored to this file, as CSV."
        )
        parser.add_argument(
            "--answers",
            type=Path,
            metavar="FILE",
            help="Write the model's choices to this file for a leaderboard, without computing scores.",
        )
        parser.add_argument(
            "--prepare",
            action="store_true",
            help="Create the data that the paper creates at random, in the data folder.",
        )
        parser.add_argument("--seed", type=int, default=1, help="Seed of --prepare (default 1).")

    def handle(self, *args: Any, **options: Any) -> None:
        if options["benchmark"] not in PROTOCOLS:
            raise CommandError(f"Unknown benchmark {options['benchmark']!r}. Choose one of {', '.join(PROTOCOLS)}.")
        if not (options["model"] or options["pairs"] or options["prepare"]):
            raise CommandError("Name a model with --model, or write the pairs to be scored with --pairs.")
        protocol, folder = get_protocol(options["benchmark"]), options["data"]
        try:
            loaded = load_models([spec for spec in options["model"] if not spec.startswith(FILE)])
            if options["prepare"]:
                found = {spec: text_embedder(model) for spec, model in loaded.items()}
                encoders = {spec: embed for spec, embed in found.items() if embed is not None}
                for sentence in protocol.prepare(folder, seed=options["seed"], encoders=encoders):
                    self.stdout.write(sentence)
            if not (options["model"] or options["pairs"]):
                return
            data = protocol.read(folder)
            if options["pairs"]:
                self._write_pairs(protocol, data, options["pairs"])
            pictures = Pictures(options["images"] or folder)
            if options["answers"]:
                scored = score_blocks(only_scorer(options["model"], loaded, pictures), protocol.blocks(data))
                options["answers"].write_text(protocol.answers(data, scored) + "\n", encoding="utf-8")
                self.stdout.write(f"What {spec_name(options['model'][0])} chooses was written to {options['answers']}.")
                return
            lines = [
                Line(spec_name(spec), evaluate_file(protocol, data, spec))
                if spec.startswith(FILE)
                else Line(spec, evaluate_locally(protocol, data, spec, loaded, pictures))
                for spec in options["model"]
            ]
            if lines:
                self._show(protocol, lines, protocol.chance(data), options["out"])
        except (BenchmarkError, ResultsFileError) as error:
            raise CommandError(f"Nothing was evaluated.\n{error}") from error
        except OSError as error:
            where = f" ({error.filename})" if error.filename else ""
            raise CommandError(
                f"Nothing was evaluated. A file could not be written: {error.strerror}{where}."
            ) from error

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
        self.stdout.write(f"{count:,} pairs were written to {path}. Write their scores into its third column.")


def spec_name(spec: str) -> str:
    """Return the name of a file in tables: without its ending."""
    return Path(spec.removeprefix(FILE)).stem


def file_of(spec: str) -> Path:
    """Return the file that a spec names. Raises BenchmarkError."""
    path = Path(spec.removeprefix(FILE))
    if not path.exists():
        raise BenchmarkError(f"There is no file {path}.")
    return path


def only_scorer(specs: Sequence[str], loaded: Mapping[str, ScoresPairs], pictures: Pictures) -> Scorer:
    """Return the scorer of the only spec.

    Raises BenchmarkError for several specs, or for one that does not score pairs.
    """
    if len(specs) != 1 or fitted_baseline(specs[0]):
        raise BenchmarkError("--answers is for one model. Name a scorer or a file of scores with --model.")
    (spec,) = specs
    return ScoreFile(file_of(spec)) if spec.startswith(FILE) else LoadedScorer(loaded[spec], pictures)


def evaluate_file(protocol: Benchmark[Any, Any], data: Any, spec: str) -> Evaluation:
    """Evaluate a model from a file of its results or scores. Raises BenchmarkError and ResultsFileError."""
    path = file_of(spec)
    found = protocol.read_published(data, path)
    return evaluate(protocol, data, ScoreFile(path)) if found is None else protocol.tables(data, found)


def load_models(specs: Sequence[str]) -> dict[str, ScoresPairs]:
    """Load the models that the specs need, by spec; blind baselines may need none. Raises BenchmarkError."""
    found = {}
    for spec in specs:
        baseline = fitted_baseline(spec)
        if baseline is None and (problem := problem_with(spec)):
            raise BenchmarkError(problem)
        if baseline is None or baseline.model:
            found[spec] = load_model(spec if baseline is None else baseline.model)
    return found


def evaluate_locally(
    protocol: Benchmark[Any, Any], data: Any, spec: str, loaded: Mapping[str, ScoresPairs], pictures: Pictures
) -> Evaluation:
    """Evaluate a loaded model, or a blind baseline, which is fitted to the benchmark. Raises BenchmarkError."""
    baseline = fitted_baseline(spec)
    if baseline is None:
        return evaluate(protocol, data, LoadedScorer(loaded[spec], pictures))
    source = vector_source(loaded[spec], pictures) if baseline.model else baseline.source(pictures.open)
    return evaluate_blind(protocol, data, baseline.part, baseline.features(source))


def vector_source(model: Any, pictures: Pictures) -> VectorSource:
    """Return a model's embeddings of a benchmark's images. Raises BenchmarkError if it has no image embeddings."""
    if not isinstance(model, Contrastive):
        raise BenchmarkError(NO_VECTORS)
    return VectorSource({"embedding": model.identity.name}, lambda names: model.vectors_of(names, pictures.open))


def load_model(spec: str) -> ScoresPairs:
    """Load the model of a spec. Raises BenchmarkError if that fails."""
    try:
        return scorer_of(spec)
    except CannotLoad as error:
        raise BenchmarkError(str(error)) from error
