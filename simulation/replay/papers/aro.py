"""Tables of ARO (Yuksekgonul et al. 2023)."""

from collections.abc import Iterator
from pathlib import Path

from evaluation.protocols.aro import ORDERS, PUBLISHED, REGIONS
from simulation.replay.papers.base import PaperRow, PaperTable, others

PAPER = "ARO (Yuksekgonul et al. 2023)"


def tables(folder: Path) -> Iterator[PaperTable]:
    photos = dict.fromkeys(REGIONS, "Visual Genome") | {"COCO-Order": "COCO", "Flickr30k-Order": "Flickr30k"}
    rows = [
        PaperRow(name, needs=f"needs {file}, photos of {photos[name]} and weights: `evaluate --benchmark aro`")
        for name, file in (REGIONS | ORDERS).items()
    ]
    yield PaperTable(PAPER, "Models on relations, attributes and word order", "the paper", rows)
    rows = [
        PaperRow(name, {"counted groups": str(groups)}, needs="needs the file of its cases")
        for name, groups in PUBLISHED.items()
    ]
    source = "48 relations and 117 pairs of attributes: the authors' notebook"
    yield PaperTable(PAPER, "Relations and pairs of attributes", source, rows)
    needs = "needs photos of COCO and Flickr30k, and weights"
    rows = [PaperRow("Altered order", needs=needs)]
    source = "abstract of the paper, README of mertyg/vision-language-models-are-bows"
    yield PaperTable(PAPER, "Retrieval from captions and images in another order", source, rows)
    rows = [PaperRow("NegCLIP", needs="needs its weights, or COCO's photos and a GPU: `train negclip`")]
    yield PaperTable(PAPER, "NegCLIP against CLIP", "the paper", rows)
    yield others(PAPER, "All others")
