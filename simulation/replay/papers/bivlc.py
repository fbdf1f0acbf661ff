"""Tables of BiVLC (Miranda et al. 2024)."""

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from analytics.scores import CHANCE
from evaluation.errors import BenchmarkError
from evaluation.protocols import Evaluation, get_protocol
from evaluation.protocols.bivlc import IMAGE_DETECTION, TEXT_DETECTION, BiVLC, Instances
from simulation.replay.papers.base import ANSWERS, WEIGHTS, PaperRow, PaperTable, others, percent
from simulation.replay.published_numbers import (
    HUMAN_GROUP,
    HUMAN_I2T,
    HUMAN_T2I,
    MEAN_KAPPA,
    PAIR_KAPPAS,
    QUESTIONS_PER_INSTANCE,
    RETRIEVAL_EXAMPLES,
)

PAPER = "BiVLC (Miranda et al. 2024)"
MAIN = ("SugarCrepe", "I2T", "T2I", "Group")
FINER = ("Ipos2T", "Ineg2T", "Tpos2I", "Tneg2I")
# Figures of misc/main_results.PNG and misc/training_str.PNG in IMirandaM/BiVLC: model -> figures in the order of MAIN,
# then of FINER; and the name of its result files.
MODELS: Mapping[str, tuple[str, str]] = {
    "CLIP": ("ViT-B-32", "76.56 75.83 52.40 49.06 84.32 89.50 69.21 82.82"),
    "CLIP_COCO": ("CLIP_COCO", "84.66 82.75 63.89 60.96 89.06 91.75 72.79 90.86"),
    "NegCLIP": ("NegCLIP", "85.64 80.74 61.95 58.75 89.53 89.53 70.10 91.34"),
    "GNM": ("GNM", "81.83 81.32 60.86 57.96 88.00 91.24 80.33 80.33"),
    "CLIP_TROHN-Text": ("CLIP_TROHN-Text", "93.40 78.18 62.19 57.48 93.25 83.87 71.05 90.59"),
    "CLIP_TROHN-Img": ("CLIP_TROHN-Img", "89.40 88.54 71.84 69.25 92.12 95.33 81.45 90.15"),
}
GENERATIVE = {
    "Open CapPa": "90.59 57.72 56.19 41.97",
    "VQAScore-XL": "90.85 81.96 76.61 70.20",
    "VQAScore-XXL": "93.72 86.16 81.93 76.47",
}
RECIPES_OF = {"CLIP_TROHN-Text": "trohn-text", "CLIP_TROHN-Img": "trohn-img"}
HUMAN_SUGARCREPE = 98.93
# Table 5: detectors with CLIP's encoders; accuracies in whole percents.
DETECTORS = {"CLIP_baseline": "57 100 66.69 19.64 19.64"}
DETECTED = ("Text detection", "Image detection", "I2T", "T2I", "Group")
TROHN_DETECTORS = "CLIP_TROHN-Img"
ACCEPTED = "BiVLC_negative_imgs.csv"


def tables(folder: Path) -> Iterator[PaperTable]:
    folder = folder / "bivlc"
    protocol = BiVLC()
    data = protocol.read(folder) if (folder / ACCEPTED).is_file() else None
    found = {name: _evaluate(protocol, data, folder, file) for name, (file, _) in MODELS.items()}
    yield _sizes(data)
    yield _main(found)
    yield _strategies(found)
    yield _detectors(protocol, data, folder)
    needs = "needs the weights of the text detectors (`train detector-text` trains such ones)"
    rows = [PaperRow(name, needs=needs) for name in (*DETECTORS, TROHN_DETECTORS)]
    yield PaperTable(PAPER, "Text detectors on SugarCrepe", "the README of IMirandaM/BiVLC", rows)
    kappas = {f"Pair {number}": f"{kappa:.2f}" for number, kappa in enumerate(PAIR_KAPPAS, start=1)}
    kappas["Mean"] = f"{MEAN_KAPPA:.2f}"
    row = PaperRow("Cohen's kappa", kappas, needs=f"{ANSWERS}; `replay_bivlc` computes them from simulated answers")
    yield PaperTable(PAPER, "Table 7: agreement of pairs of annotators", "table 7 of the paper", [row])
    yield others(PAPER, "Tables 2, 4, 6 and all after 7")


def _evaluate(protocol: BiVLC, data: Instances | None, folder: Path, model: str) -> dict[str, str]:
    """Return the figures of a model as far as its result files are there."""
    found: dict[str, str] = {}
    sugarcrepe = folder / f"results/SUGARCREPE_CORRECT_{model}.csv"
    if data is not None and sugarcrepe.is_file():
        crepe = get_protocol("sugarcrepe")
        items = crepe.read(folder)
        found["SugarCrepe"] = percent(crepe.tables(items, crepe.read_published(items, sugarcrepe)).whole, "Micro")
    bivlc = folder / f"results/BiVLC_{model}.csv"
    if data is not None and bivlc.is_file():
        whole = _tables(protocol, data, bivlc).whole
        found |= {name: percent(whole, name) for name in (*MAIN[1:], *FINER)}
    return found


def _tables(protocol: BiVLC, data: Instances, file: Path) -> Evaluation:
    results = protocol.read_published(data, file)
    if results is None:
        raise BenchmarkError(f"{file} has no columns of results. Put the file there that the authors released.")
    return protocol.tables(data, results)


def _sizes(data: Instances | None) -> PaperTable:
    published = {" ".join(category): f"{count:,}" for category, count in RETRIEVAL_EXAMPLES.items()}
    published["all"] = f"{sum(RETRIEVAL_EXAMPLES.values()):,}"
    computed: dict[str, str] = {}
    if data is not None:
        kept = Counter(f"{one.type} {one.subtype}" for one in data.described)
        computed = {name: f"{QUESTIONS_PER_INSTANCE * kept[name]:,}" for name in published if name != "all"}
        computed["all"] = f"{QUESTIONS_PER_INSTANCE * kept.total():,}"
    row = PaperRow("Retrieval examples", published, computed, "" if computed else f"needs {ACCEPTED} and accepted.csv")
    return PaperTable(PAPER, "Table 1: retrieval examples by category", "table 1 of the paper", [row])


def _main(found: Mapping[str, Mapping[str, str]]) -> PaperTable:
    people = [f"{share:.2f}" for share in (HUMAN_SUGARCREPE, HUMAN_I2T, HUMAN_T2I, HUMAN_GROUP)]
    rows = [PaperRow("Human", dict(zip(MAIN, people, strict=True)), needs=ANSWERS), _chance(MAIN)]
    rows += [_model(name, MAIN, found[name]) for name in ("CLIP", "CLIP_COCO", "NegCLIP", "GNM")]
    rows += [PaperRow(name, _figures(MAIN, text), needs=WEIGHTS) for name, text in GENERATIVE.items()]
    source = "table 3 of the paper, misc/main_results.PNG in IMirandaM/BiVLC"
    return PaperTable(PAPER, "Table 3: people and models", source, rows)


def _strategies(found: Mapping[str, Mapping[str, str]]) -> PaperTable:
    columns = (*MAIN, *FINER)
    rows = [_chance(columns), *(_model(name, columns, found[name]) for name in MODELS)]
    source = "misc/training_str.PNG in IMirandaM/BiVLC"
    return PaperTable(PAPER, "Training strategies, with the finer scores", source, rows)


def _chance(columns: Sequence[str]) -> PaperRow:
    published = {name: {"I2T": "25.00", "T2I": "25.00", "Group": "16.67"}.get(name, "50.00") for name in columns}
    return PaperRow("Random", published, {name: f"{100 * CHANCE.get(name, 1 / 2):.2f}" for name in columns})


def _model(name: str, columns: Sequence[str], computed: Mapping[str, str]) -> PaperRow:
    _, text = MODELS[name]
    known = {column: computed[column] for column in columns if column in computed}
    needs = f"{WEIGHTS} (`train {RECIPES_OF[name]}` trains such a model)" if name in RECIPES_OF else WEIGHTS
    return PaperRow(name, _figures((*MAIN, *FINER), text, columns), known, "" if known else needs)


def _figures(names: Sequence[str], text: str, only: Sequence[str] = ()) -> dict[str, str]:
    return {name: figure for name, figure in zip(names, text.split(), strict=True) if not only or name in only}


def _detectors(protocol: BiVLC, data: Instances | None, folder: Path) -> PaperTable:
    rows = []
    needs = "needs the file of its results (`train detector-text` and `train detector-image` train such detectors)"
    for name in (*DETECTORS, TROHN_DETECTORS):
        file = folder / f"results/BiVLC_Classifier_CORRECT_{name}.csv"
        computed: dict[str, str] = {}
        if data is not None and file.is_file():
            whole = _tables(protocol, data, file).whole
            computed = {cell: percent(whole, cell, 0) for cell in (TEXT_DETECTION, IMAGE_DETECTION)}
            computed |= {cell: percent(whole, cell) for cell in DETECTED[2:]}
        published = _figures(DETECTED, DETECTORS[name]) if name in DETECTORS else {}
        rows.append(PaperRow(name, published, computed, "" if computed else needs))
    notes = ["The paper prints the accuracies of detection in whole percents, so they are rounded here too."]
    source = "table 5 of the paper, as quoted on the project's poster"
    return PaperTable(PAPER, "Table 5: detectors of synthetic texts and images", source, rows, notes)
