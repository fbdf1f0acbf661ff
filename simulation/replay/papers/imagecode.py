"""Tables of ImageCoDe (Krojer et al. 2022)."""

from collections.abc import Iterator
from pathlib import Path

import yaml

from analytics.imagecode import SetCounts, count_sets, phenomenon
from evaluation.benchmark_files import json_object
from simulation.replay.imagecode.published_numbers import HUMANS_VALID, NOT_COMPUTED, PHENOMENA
from simulation.replay.papers.base import ANSWERS, NONE, WEIGHTS, PaperRow, PaperTable, others
from studies.descriptions import SET_SIZE

PAPER = "ImageCoDe (Krojer et al. 2022)"
TAGS = "manual_annotation_valid.yaml"
SPLITS = {"train": "train_data.json", "valid": "valid_data.json", "test": "test_data_unlabeled.json"}
IMAGES, DESCRIPTIONS = 94_020, 21_202
# The variants of baselines/README.md in McGill-NLP/imagecode, and the recipes that train those of CLIP.
VARIANTS = {
    "zero-shot": "",
    "non-contrastive": "",
    "+ContextBatch": "imagecode-context-batch",
    "+ContextModule": "imagecode-context-module",
    "+TemporalEmbeddings": "imagecode-temporal",
}


def tables(folder: Path) -> Iterator[PaperTable]:
    folder = folder / "imagecode"
    yield _sizes(folder)
    yield _phenomena(folder)
    rows = [
        PaperRow("People (validation)", {"accuracy": f"{HUMANS_VALID:.1f}"}, needs=ANSWERS),
        PaperRow("People (test)", {"accuracy": "90.8"}, needs=ANSWERS),
        PaperRow("Best model (test)", {"video": "20.9", "static": "59.4"}, needs=f"{WEIGHTS}, and labels of the test"),
    ]
    yield PaperTable(PAPER, "Accuracy of people and models", "the paper; of the test split, its abstract", rows)
    yield _variants()
    further = [
        PaperRow(what, needs=needs) for what, _, needs in NOT_COMPUTED if "people" not in what and "test" not in what
    ]
    yield PaperTable(PAPER, "Other figures", "the paper", further)
    yield others(PAPER, "All but tables 1 and 2 and the accuracy of models")


def _variants() -> PaperTable:
    needs = "needs ImageCoDe's images, labels of the test split and"
    rows = [
        PaperRow(
            f"CLIP {name}", needs=f"{needs} weights" + (f" (`train {recipe}` trains such a model)" if recipe else "")
        )
        for name, recipe in VARIANTS.items()
    ]
    rows.append(
        PaperRow("ViLBERT and UNITER, all variants", needs=f"{needs} their weights (the platform does not train them)")
    )
    source = "baselines/README.md in McGill-NLP/imagecode"
    return PaperTable(PAPER, "CLIP, ViLBERT and UNITER with more and more context", source, rows)


def _sizes(folder: Path) -> PaperTable:
    counts = {
        name: count_sets(json_object(folder / file)) for name, file in SPLITS.items() if (folder / file).is_file()
    }
    rows = [
        PaperRow(name, {}, _figures(counts[name])) if name in counts else PaperRow(name, needs=f"needs {file}")
        for name, file in SPLITS.items()
    ]
    published = {"images": f"{IMAGES:,}", "descriptions": f"{DESCRIPTIONS:,}"}
    computed: dict[str, str] = {}
    if len(counts) == len(SPLITS):
        totals = [_numbers(each) for each in counts.values()]
        computed = {name: f"{sum(each[name] for each in totals):,}" for name in published}
    rows.append(PaperRow("all", published, computed, "" if computed else "needs the files of all splits"))
    source = "abstract of the paper, over all splits"
    return PaperTable(PAPER, "Table 1: image sets and descriptions", source, rows)


def _figures(counts: SetCounts) -> dict[str, str]:
    return {name: f"{count:,}" for name, count in _numbers(counts).items()}


def _numbers(counts: SetCounts) -> dict[str, int]:
    found = {
        "sets": counts.sets,
        "images": SET_SIZE * counts.sets,
        "descriptions": counts.descriptions,
        "static sets": counts.static_sets,
        "static descriptions": counts.static_descriptions,
        "video sets": counts.video_sets,
        "video descriptions": counts.video_descriptions,
    }
    return found | {f"sets of {source}": sets for source, sets in sorted(counts.sets_by_source.items())}


def _phenomena(folder: Path) -> PaperTable:
    published = {name: f"{share:.1f}" for name, share in PHENOMENA.values()}
    computed: dict[str, str] = {}
    if (folder / TAGS).is_file():
        sets = yaml.load((folder / TAGS).read_text(encoding="utf-8"), Loader=yaml.CSafeLoader)
        codes = [description["annotation"] for of_set in sets.values() for description in of_set.values()]
        shares = {name: phenomenon(codes, code).percent(1) for code, (name, _) in PHENOMENA.items()}
        computed = {name: NONE if share is None else str(share) for name, share in shares.items()}
    row = PaperRow("Validation (%)", published, computed, "" if computed else f"needs {TAGS}")
    return PaperTable(PAPER, "Table 2: phenomena in descriptions", "table 2 of the paper", [row])
