"""Tables of RoCOCO (Park et al. 2024)."""

from collections import Counter
from collections.abc import Iterator
from pathlib import Path

from evaluation.benchmark_files import json_list
from simulation.replay.papers.base import PaperRow, PaperTable, others
from studies.importing.rococo import ALTERED, POLICIES

PAPER = "RoCOCO (Park et al. 2024)"


def tables(folder: Path) -> Iterator[PaperTable]:
    rows = [_pool(folder / f"rococo/{policy}.json", policy) for policy in POLICIES]
    yield PaperTable(
        PAPER,
        "The pools that are searched",
        "COCO's test split of 5,000 photos (abstract of arXiv 2304.10727, version 1)",
        rows,
    )
    needs = "needs COCO's photos and weights, or a file of scores: `evaluate --benchmark rococo`"
    published = {"BLIP": ("81.9", "48.4"), "VSE∞": ("66.1", "37.6")}
    rows = [
        PaperRow(name, {"R@1": before, "R@1, worst altered captions": after}, needs=needs)
        for name, (before, after) in published.items()
    ]
    rows.append(PaperRow("All others (also table 4: altered images)", needs=needs))
    source = "abstract of arXiv 2304.10727, version 5"
    yield PaperTable(PAPER, "Recall with altered captions and images", source, rows)
    needs = "needs COCO's photos and weights (`train rococo` trains such a model)"
    rows = [PaperRow("Semantic and visual contrastive loss", needs=needs)]
    yield PaperTable(PAPER, "Recall after training with the paper's losses", source, rows)
    yield others(PAPER, "All others")


def _pool(file: Path, policy: str) -> PaperRow:
    published = {"images": "5,000"}
    if not file.is_file():
        return PaperRow(policy, published, needs=f"needs {file.name}")
    counts: Counter[str] = Counter()
    for image in json_list(file):
        counts.update(images=1, captions=len(image["caption"]) - ALTERED, altered=ALTERED)
    computed = {"images": counts["images"], "captions": counts["captions"], "altered captions": counts["altered"]}
    return PaperRow(policy, published, {name: f"{count:,}" for name, count in computed.items()})
