"""ARO: whether models know relations, whose attribute is whose, and word order."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from analytics.scores import Bools, Floats, Mean, Score, macro, score, scores_by
from evaluation.benchmark_files import filename_of, json_list, json_object, missing_data, records_of
from evaluation.errors import BenchmarkError
from evaluation.protocols.base import Benchmark, Block, Breakdown, Cell, Choice, EmbedTexts, Evaluation
from evaluation.scene_graphs import attribution_cases, relation_cases
from evaluation.word_order import TAGGER, installed_tagger, shuffle_caption
from studies.importing import Record
from studies.importing.aro import SHUFFLED
from studies.importing.captions import retrieval

RELATION, ATTRIBUTION = "VG-Relation", "VG-Attribution"
REGIONS = {RELATION: "visual_genome_relation.json", ATTRIBUTION: "visual_genome_attribution.json"}
ORDERS = {"COCO-Order": "coco_order.json", "Flickr30k-Order": "flickr30k_order.json"}
SCENE_GRAPHS = "val_sceneGraphs.json"
CAPTIONS = {"COCO-Order": "coco_karpathy_test.json", "Flickr30k-Order": "flickr30k_test.json"}
# Relations and pairs of attributes with fewer cases are left out.
LEAST_CASES = {RELATION: 10, ATTRIBUTION: 25}
# Symmetric relations: exchanging the two objects does not change the meaning.
SYMMETRIC = frozenset({"by", "of", "near", "next to", "with", "beside", "on the side of", "around"})
# Relations to leave out, one on each line, as listed in the authors' notebook.
LEFT_OUT = "left_out_relations.txt"
PUBLISHED = {RELATION: 48, ATTRIBUTION: 117}
UNITS = {RELATION: "relations", ATTRIBUTION: "attribute pairs"}
NO_TAGGER = f"Not created: there is no tagger ({TAGGER} of spaCy)."
SHUFFLES = dict(zip(SHUFFLED, ("nouns and adjectives", "other words", "within threes", "threes"), strict=True))


@dataclass(frozen=True)
class Cases:
    """The cases of one of ARO's four datasets.

    roles: of the captions that are options, in order. left_out: relations that do not count. least: cases that a
    relation needs to count.
    """

    records: Sequence[Record]
    roles: Sequence[str]
    left_out: frozenset[str] = frozenset()
    least: int = 1


Answers = Mapping[str, Floats]


class ARO(Benchmark[Mapping[str, Cases], Answers]):
    """Yuksekgonul et al. 2023, "When and why vision-language models behave like bags-of-words".

    Tie rule: that of the authors' code, which takes the first of the highest scores (`numpy.argmax` in
    `dataset_zoo/aro_datasets.py` of mertyg/vision-language-models-are-bows). Order of options: in VG-Relation and
    VG-Attribution the false caption is first and the true one second, so a tie is wrong. In COCO-Order and
    Flickr30k-Order the caption is first and its four orders follow, so a tie is right. A shuffle may restore the
    caption, so these tables also have a column in which ties are wrong.

    VG-Relation (1 of 2) is the mean over relations, 48 in the paper. The authors' notebook leaves out a list of names,
    read from `left_out_relations.txt` if it exists. Without that file, two sorts of relations are left out: the eight
    symmetric ones at the end of the list, and those with fewer than 10 cases. A note says if 48 do not remain.
    VG-Attribution (1 of 2) is the mean over pairs of attributes with at least 25 cases. The orders are 1 of 5:
    Precision@1 over all captions, which are read as `retrieval-v1` makes them.

    Data: `visual_genome_relation.json`, `visual_genome_attribution.json`, `coco_order.json` and `flickr30k_order.json`,
    any of them. --prepare creates missing ones: the first two, regions of images, from `val_sceneGraphs.json` (GQA's),
    the captions in other orders from `coco_karpathy_test.json` and `flickr30k_test.json` (a list of objects with image
    and caption). Two of the four orders need a tagger; without one, only 1 of 2 is computed for each of the others.
    """

    name = "aro"
    title = "ARO"
    paper = "Yuksekgonul et al. 2023"
    example: ClassVar[Mapping[str, str]] = {
        "visual_genome_relation.json": '[{"image_path": "1.jpg", "bbox_x": 0, "bbox_y": 0, "bbox_w": 20, "bbox_h": 10,'
        ' "relation_name": "eating", "true_caption": "the horse is eating the grass",'
        ' "false_caption": "the grass is eating the horse"}]',
        "coco_order.json": '[{"image": "val2014/1.jpg", "caption_options": ["A cat naps on a red couch.", null, null,'
        ' "A naps cat a on red couch.", "on a red A cat naps couch."]}]',
    }

    def read(self, folder: Path) -> Mapping[str, Cases]:
        found: dict[str, Cases] = {}
        for dataset, file in REGIONS.items():
            if (folder / file).is_file():
                left_out, least = _left_out(folder) if dataset == RELATION else (frozenset(), LEAST_CASES[dataset])
                found[dataset] = Cases(
                    records_of(folder / file, "aro"), ("negative_caption", "caption"), left_out, least
                )
        for dataset, file in ORDERS.items():
            if (folder / file).is_file():
                records = records_of(folder / file, "aro")
                made = [role for role in SHUFFLED if all(role in record.captions for record in records)]
                if not made:
                    raise BenchmarkError(f"{file} has no order that exists for every caption.")
                found[dataset] = Cases(records, ("caption", *made))
        if not found:
            raise missing_data(
                folder,
                f"one of {', '.join([*REGIONS.values(), *ORDERS.values()])} must exist; --prepare creates the last "
                f"two of {' and '.join(CAPTIONS.values())}.",
            )
        return found

    def prepare(self, folder: Path, *, seed: int, encoders: Mapping[str, EmbedTexts]) -> list[str]:
        said = _make_regions(folder)
        tagger = installed_tagger()
        for dataset, file in ORDERS.items():
            if (folder / file).exists():
                said.append(f"{file} already exists and was kept.")
            elif not (folder / CAPTIONS[dataset]).is_file():
                said.append(f"{dataset} was not created: {CAPTIONS[dataset]} is missing.")
            else:
                cases = []
                for image, number, caption in _captions(folder / CAPTIONS[dataset]):
                    rng = random.Random(f"{seed}|{image}|{number}")  # noqa: S311 (the order is public)
                    orders = shuffle_caption(caption, tagger=tagger, rng=rng)
                    cases.append({"image": image, "caption_options": [caption, *orders]})
                (folder / file).write_text(json.dumps(cases, ensure_ascii=False), encoding="utf-8")
                said.append(f"{file}: {len(cases):,} captions in other orders. {'' if tagger else NO_TAGGER}".strip())
        return said

    def blocks(self, data: Mapping[str, Cases]) -> Iterator[Block]:
        for dataset, cases in data.items():
            for record in cases.records:
                texts = [record.captions[role] for role in cases.roles]
                if dataset in ORDERS:
                    texts = [retrieval(text) for text in texts]
                yield Block((filename_of(record, "image"),), texts)

    def choices(self, data: Mapping[str, Cases]) -> Iterator[Sequence[Choice]]:
        for cases in data.values():
            yield from [[Choice("text", 0, cases.roles.index("caption"))]] * len(cases.records)

    def collect_outcomes(self, data: Mapping[str, Cases], scored: Iterator[tuple[Block, Floats]]) -> Answers:
        return {dataset: np.array([next(scored)[1][0] for _ in cases.records]) for dataset, cases in data.items()}

    def tables(self, data: Mapping[str, Cases], found: Answers) -> Evaluation:
        cells: dict[str, Cell] = {}
        parts: list[Breakdown] = []
        notes: list[str] = []
        for dataset, cases in data.items():
            scores = found[dataset]
            if dataset in REGIONS:
                by_subtype = _subtype_scores(cases, scores.argmax(axis=1) == 1)
                cells[dataset] = macro(by_subtype, cases.least)
                parts += [
                    Breakdown(f"{dataset}: {name}", each.n, {"1 of 2": each}) for name, each in by_subtype.items()
                ]
                if (n := cells[dataset].n) != (kinds := PUBLISHED[dataset]):
                    notes.append(
                        f"{dataset} is the mean over {n} {UNITS[dataset]} here, and over {kinds} in the paper."
                    )
            else:
                cells |= _order_cells(dataset, cases, scores)
                parts.append(_order_part(dataset, cases, scores))
        n = sum(len(cases.records) for cases in data.values())
        return Evaluation(Breakdown("all", n, cells), parts, notes)

    def chance(self, data: Mapping[str, Cases]) -> Mapping[str, float | None]:
        shares: dict[str, float | None] = {}
        for dataset in data:
            shares[dataset] = 1 / 2 if dataset in REGIONS else 1 / (1 + len(SHUFFLED))
            if dataset in ORDERS:
                shares[f"{dataset}, ties wrong"] = shares[dataset]
        return shares


def _make_regions(folder: Path) -> list[str]:
    """Create missing files of regions from scene graphs."""
    if not (folder / SCENE_GRAPHS).is_file():
        return []
    graphs = json_object(folder / SCENE_GRAPHS)
    said = []
    for dataset, make in ((RELATION, relation_cases), (ATTRIBUTION, attribution_cases)):
        file = REGIONS[dataset]
        if (folder / file).exists():
            said.append(f"{file} already exists and was kept.")
            continue
        cases = make(graphs, SCENE_GRAPHS)
        (folder / file).write_text(json.dumps(cases, ensure_ascii=False), encoding="utf-8")
        said.append(f"{file}: {len(cases):,} cases of {len(graphs):,} scenes.")
    return said


def _captions(path: Path) -> Iterator[tuple[str, int, str]]:
    """Yield (image, number of its caption, caption) of a file of COCO's or Flickr30k's captions."""
    problems: list[str] = []
    for number, item in enumerate(json_list(path), start=1):
        image = item.get("image") if isinstance(item, dict) else None
        captions: Any = item.get("caption") if isinstance(item, dict) else None
        if (
            not isinstance(image, str)
            or not isinstance(captions, list)
            or not all(isinstance(c, str) for c in captions)
        ):
            problems.append(f"{path.name}: Record {number}: It has no image with a list of texts under caption.")
            continue
        yield from ((image, place, caption) for place, caption in enumerate(captions))
    if problems:
        raise BenchmarkError(*problems)


def _subtype_scores(cases: Cases, correct: Bools) -> dict[str, Score]:
    """Return the score of each relation or pair of attributes, except those left out by name."""
    counted = scores_by(correct, [record.subtype for record in cases.records])
    return {name: each for (name,), each in counted.items() if name not in cases.left_out}


def _left_out(folder: Path) -> tuple[frozenset[str], int]:
    """Return the relations left out by name, and the minimum number of cases of the others."""
    path = folder / LEFT_OUT
    if not path.is_file():
        return SYMMETRIC, LEAST_CASES[RELATION]
    try:
        names = frozenset(path.read_text(encoding="utf-8-sig").split("\n")) - {""}
    except UnicodeDecodeError as error:
        raise BenchmarkError(f"{LEFT_OUT} is not UTF-8 text.") from error
    return frozenset(name.strip() for name in names), 1


def _order_cells(dataset: str, cases: Cases, scores: Floats) -> dict[str, Cell]:
    strictly = f"{dataset}, ties wrong"
    if len(cases.roles) <= len(SHUFFLED):
        return {dataset: Mean(None, 0, NO_TAGGER), strictly: Mean(None, 0, NO_TAGGER)}
    return {dataset: score(scores.argmax(axis=1) == 0), strictly: score(scores[:, 0] > scores[:, 1:].max(axis=1))}


def _order_part(dataset: str, cases: Cases, scores: Floats) -> Breakdown:
    """Return how often the caption beats each of its orders alone, 1 of 2, under the same tie rule."""
    cells: dict[str, Cell] = {}
    for role, words in SHUFFLES.items():
        if role in cases.roles:
            cells[f"{words} (1 of 2)"] = score(scores[:, 0] >= scores[:, cases.roles.index(role)])
        else:
            cells[f"{words} (1 of 2)"] = Mean(None, 0, NO_TAGGER)
    return Breakdown(dataset, len(cases.records), cells)
