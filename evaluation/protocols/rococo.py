"""RoCOCO: robustness of COCO retrieval to captions with one wrong word and to images mixed with another one."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from statistics import fmean, stdev
from typing import Any, ClassVar, TypeVar

import numpy as np
from numpy.typing import NDArray

from analytics.scores import Bools, Floats, Mean, Score, drop_rate, score
from evaluation.alterations import ENCODERS, alter_caption, mix_images, partners, patch_image, substitutes_of
from evaluation.benchmark_files import filename_of, first_existing, json_list, json_object, missing_data, records_of
from evaluation.errors import BenchmarkError
from evaluation.pictures import IMAGES, Pictures
from evaluation.protocols.base import Benchmark, Block, Breakdown, Cell, EmbedTexts, Evaluation
from studies.importing.captions import retrieval
from studies.importing.rococo import ALTERED, POLICIES
from studies.wording import format_count

FILES = {policy: f"{policy}.json" for policy in POLICIES}
CAPTIONS, SUBSTITUTES = "coco_karpathy_test.json", "substitutes.json"
Name = TypeVar("Name")
IMAGES_AT_ONCE = 50
WITHOUT, WITH, DROP, RSMS, SPREAD = "R@1 without", "R@1 with", "drop rate", "RSMS", "R@1 with, SD"
# Tie rule -> suffix of the cells, version.
AUTHORS, STRICT = "authors", "strict"
VERSIONS = {AUTHORS: "rococo-authors-v1", STRICT: "rococo-strict-v1"}
SUFFIXES = {AUTHORS: "", STRICT: ", strict"}
# Shares of the first image and random seeds of the altered images (table 4; the authors' README).
SHARES, SEEDS = (0.9, 0.8), (1, 10, 100)
METHODS = {"mixed": "mix", "patched": "patch"}


@dataclass(frozen=True, slots=True)
class ImageAlteration:
    """How every image was altered: method (mixed, patched), share of the first image, and random seed."""

    method: str
    share: float
    seed: int

    @property
    def setting(self) -> str:
        return f"{self.method} {self.share}"

    @property
    def folder(self) -> str:
        """Return the authors' name of the folder; seeds other than the first are a suffix."""
        return f"{METHODS[self.method]}_{self.share}{'' if self.seed == SEEDS[0] else f'_seed{self.seed}'}"


ALL_MADE = [ImageAlteration(method, share, seed) for method in METHODS for share in SHARES for seed in SEEDS]


@dataclass(frozen=True)
class Pool:
    """The captions and images to search.

    captions: the originals of each image. altered: by policy, the altered captions of each image. made: by method, the
    altered image of each image.
    """

    images: Sequence[str]
    captions: Sequence[Sequence[str]]
    altered: Mapping[str, Sequence[Sequence[str]]]
    made: Mapping[ImageAlteration, Sequence[str]]

    @property
    def texts(self) -> list[str]:
        """All captions as models read them: the originals by image, then the altered ones by policy and image."""
        sets = [*self.captions, *(texts for policy in self.altered.values() for texts in policy)]
        return [retrieval(text) for texts in sets for text in texts]

    @property
    def n_captions(self) -> int:
        return sum(map(len, self.captions))


@dataclass(frozen=True)
class TieRuleOutcomes:
    """Whether each query's first result is right, and whether it is an altered item (fooled), under one tie rule.

    images: one value per image (image to text), by policy of altered captions. texts: one value per original caption
    (text to image), by method of altered images. None: a search without altered items.
    """

    images: Mapping[str | None, Bools]
    images_fooled: Mapping[str, Bools]
    texts: Mapping[ImageAlteration | None, Bools]
    texts_fooled: Mapping[ImageAlteration, Bools]


OutcomesByTieRule = Mapping[str, TieRuleOutcomes]


class RoCOCO(Benchmark[Pool, OutcomesByTieRule]):
    """Park et al. 2024, "RoCOCO: Robustness Benchmark of MS-COCO to Stress-test Image-Text Matching Models".

    Tie rule: two, side by side. rococo-authors-v1: of equal scores the later one comes first. Captions are in the order
    of the file (an image's originals, then its altered ones), altered images after all photos. The authors' code sorts
    with `numpy.argsort(...)[::-1]` (`eval_clip_i2t.py` in pseulki/rococo), here with a stable sort. If several images
    have the same text, one comes first, so a tie is right for one of them. rococo-strict-v1, ours: anything that ties
    with the right one comes before it, so a tie is wrong, and an altered item that ties for the first place counts as
    first. Order of options: of no effect.

    Image to text: each image searches all original captions (any of its five or six is right), and again with the
    altered captions of one policy added. Text to image: each original caption searches all images, and again with an
    altered image of each added. Recall@1 without and with, the drop rate (the share of right results that is lost), and
    RSMS, how often an altered item comes first (the authors' `false_rate`). Captions are read as `retrieval-v1` makes
    them. For images altered with several seeds: each seed, their mean, and the standard deviation (n - 1) of Recall@1.

    Data: `same_concept.json`, `diff_concept.json`, `rand_voca.json`, `danger.json`, any of them; photos of COCO by the
    names in them; folders of images of the same names, which --prepare creates: `mix_0.9` and `patch_0.9`, with 0.8 in
    place of 0.9, by the paper's seeds 1, 10 and 100 (`mix_0.9_seed10`, ...). --prepare also creates missing files, from
    `coco_karpathy_test.json` and `substitutes.json`, with models that embed texts.
    """

    name = "rococo"
    title = "RoCOCO"
    paper = "Park et al. 2024"
    example: ClassVar[Mapping[str, str]] = {
        "danger.json": '[{"image": "val2014/1.jpg", "caption": ["A man on a hill.", "A man.", "He climbs.",'
        ' "Grass.", "Sky.",'
        ' "A criminal on a hill .", "A criminal .", "criminal climbs .", "weapon .", "A weapon ."]},'
        ' {"image": "val2014/2.jpg", "caption": ["A dog.", "A dog on a mat.", "A mat.", "A pet.", "A door.",'
        ' "A weapon .", "A weapon on a mat .", "A minefield .", "A weapon .", "A weapon ."]}]'
    }

    def read(self, folder: Path) -> Pool:
        pools = {policy: _images_of(folder / file) for policy, file in FILES.items() if (folder / file).is_file()}
        if not pools:
            raise missing_data(folder, f"one of {', '.join(FILES.values())} must be there.")
        first_policy, first = next(iter(pools.items()))
        for policy, found in pools.items():
            if [one[:2] for one in found] != [one[:2] for one in first]:
                raise BenchmarkError(
                    f"{FILES[policy]} and {FILES[first_policy]} do not have the same images with the same captions."
                )
        images = [image for image, _, _ in first]
        made = {
            one: [f"{one.folder}/{Path(image).name}" for image in images]
            for one in ALL_MADE
            if any((root / one.folder).is_dir() for root in (folder, folder / IMAGES))
        }
        altered = {policy: [texts for _, _, texts in found] for policy, found in pools.items()}
        return Pool(images, [captions for _, captions, _ in first], altered, made)

    def blocks(self, data: Pool) -> Iterator[Block]:
        texts = data.texts
        for start in range(0, len(data.images), IMAGES_AT_ONCE):
            yield Block(data.images[start : start + IMAGES_AT_ONCE], texts)
        originals = texts[: data.n_captions]
        for names in data.made.values():
            for start in range(0, len(names), IMAGES_AT_ONCE):
                yield Block(names[start : start + IMAGES_AT_ONCE], originals)

    def collect_outcomes(self, data: Pool, scored: Iterator[tuple[Block, Floats]]) -> OutcomesByTieRule:
        counts = [len(texts) for texts in data.captions]
        n, owner = data.n_captions, np.repeat(np.arange(len(data.images)), counts)
        of_texts = _TextRetrieval(counts, data.altered)
        # Per original caption: the best right image, the best wrong one, and the last of the best ones.
        right_image, wrong_image = _lowest(n), _lowest(n)
        best_image, last_image = _lowest(n), np.zeros(n, dtype=np.int64)
        best_made = {made: _lowest(n) for made in data.made}
        for start in range(0, len(data.images), IMAGES_AT_ONCE):
            _, scores = next(scored)
            rows = np.arange(start, start + len(scores))
            own = owner[None, :] == rows[:, None]
            of_texts.add(scores, rows, own)
            originals = scores[:, :n]
            right_image = np.maximum(right_image, np.where(own, originals, -np.inf).max(axis=0))
            wrong_image = np.maximum(wrong_image, np.where(own, -np.inf, originals).max(axis=0))
            highest = originals.max(axis=0)
            last_image = np.where(highest >= best_image, rows[_last_best(originals.T)], last_image)
            best_image = np.maximum(best_image, highest)
        for made, names in data.made.items():
            for _ in range(0, len(names), IMAGES_AT_ONCE):
                _, scores = next(scored)
                best_made[made] = np.maximum(best_made[made], scores.max(axis=0))
        strict = _first_hits(right_image, wrong_image, best_made)
        right_of_equals = last_image == owner
        authors: dict[ImageAlteration | None, Bools] = {None: right_of_equals}
        # Altered images come after all photos, so they win ties.
        authors |= {made: right_of_equals & (best_image > best) for made, best in best_made.items()}
        fooled = {made: best >= best_image for made, best in best_made.items()}
        return {
            AUTHORS: TieRuleOutcomes(of_texts.right, of_texts.fooled, authors, fooled),
            STRICT: TieRuleOutcomes(*of_texts.strict(), *strict),
        }

    def tables(self, data: Pool, found: OutcomesByTieRule) -> Evaluation:
        whole: dict[str, Cell] = {}
        parts: list[Breakdown] = []
        for reading, suffix in SUFFIXES.items():
            each = found[reading]
            before = {"I2T": score(each.images[None]), "T2I": score(each.texts[None])}
            whole |= {f"{task} R@1{suffix}": cell for task, cell in before.items()}
            for policy, fooled in each.images_fooled.items():
                cells = _cells(before["I2T"], score(each.images[policy]), score(fooled))
                whole[f"I2T R@1, {policy}{suffix}"] = cells[WITH]
                parts.append(Breakdown(f"I2T, {policy}{suffix}", before["I2T"].n, cells))
            # Groups need the order of `ALL_MADE`, which lists the seeds of a setting together.
            for setting, of_seeds in groupby(data.made, key=lambda made: made.setting):
                by_seed = {
                    made: _cells(before["T2I"], score(each.texts[made]), score(each.texts_fooled[made]))
                    for made in of_seeds
                }
                cells = _average_seeds(list(by_seed.values()))
                whole[f"T2I R@1, {setting}{suffix}"] = cells[WITH]
                title, n = f"T2I, {setting}", before["T2I"].n
                parts += [
                    Breakdown(f"{title}, seed {made.seed}{suffix}", n, of_seed) for made, of_seed in by_seed.items()
                ]
                parts.append(Breakdown(f"{title}, mean of {format_count(len(by_seed), 'seed')}{suffix}", n, cells))
        return Evaluation(Breakdown("all", len(data.images), whole), parts, _notes(data))

    def chance(self, data: Pool) -> Mapping[str, float | None]:
        n, images = data.n_captions, len(data.images)
        shares: dict[str, float | None] = {"I2T R@1": n / images / n, "T2I R@1": 1 / images}
        for policy, texts in data.altered.items():
            shares[f"I2T R@1, {policy}"] = n / images / (n + sum(map(len, texts)))
        for made, names in data.made.items():
            shares[f"T2I R@1, {made.setting}"] = 1 / (images + len(names))
        return {f"{name}{suffix}": share for suffix in SUFFIXES.values() for name, share in shares.items()}

    def prepare(self, folder: Path, *, seed: int, encoders: Mapping[str, EmbedTexts]) -> list[str]:
        said = _make_captions(folder, seed=seed, encoders=encoders)
        source = first_existing(folder, (*FILES.values(), CAPTIONS))
        if source is None:
            raise missing_data(folder, f"one of {', '.join([*FILES.values(), CAPTIONS])} must be there.")
        images = [str(item["image"]) for item in _read_captions(source)]
        return said + [_make_images(folder, made, images) for made in ALL_MADE]


def _images_of(path: Path) -> list[tuple[str, list[str], list[str]]]:
    """Return the images of a file, each with its captions, and the altered ones."""
    found = []
    for _, group in groupby(records_of(path, "rococo"), key=lambda record: record.row):
        records = list(group)
        captions = [record.captions["caption"] for record in records]
        altered = [record.captions["negative_caption"] for record in records[:ALTERED]]
        found.append((filename_of(records[0], "image"), captions, altered))
    return found


def _lowest(count: int) -> Floats:
    return np.full(count, -np.inf)


class _TextRetrieval:
    """Results of each image's search among the captions, added a few images at a time."""

    def __init__(self, counts: Sequence[int], altered: Mapping[str, Sequence[Sequence[str]]]) -> None:
        images = len(counts)
        self.n = sum(counts)
        self.right_text, self.wrong_text = _lowest(images), _lowest(images)
        self.altered_text = {policy: _lowest(images) for policy in altered}
        # The columns of the original captions with those of a policy, in the order of its file.
        self.orders: dict[str | None, NDArray[np.int64]] = {None: np.arange(self.n)}
        at = self.n
        for policy, texts in altered.items():
            self.orders[policy] = _file_columns(counts, [len(each) for each in texts], at)
            at += sum(map(len, texts))
        self.right: dict[str | None, Bools] = {name: np.zeros(images, dtype=np.bool_) for name in self.orders}
        self.fooled: dict[str, Bools] = {policy: np.zeros(images, dtype=np.bool_) for policy in altered}

    def add(self, scores: Floats, rows: NDArray[np.int64], own: Bools) -> None:
        originals = scores[:, : self.n]
        self.right_text[rows] = np.where(own, originals, -np.inf).max(axis=1)
        self.wrong_text[rows] = np.where(own, -np.inf, originals).max(axis=1)
        for name, order in self.orders.items():
            first = order[_last_best(scores[:, order])]
            is_original = first < self.n
            self.right[name][rows] = is_original & own[np.arange(len(rows)), np.where(is_original, first, 0)]
            if name is not None:
                self.fooled[name][rows] = ~is_original
                self.altered_text[name][rows] = scores[:, order[order >= self.n]].max(axis=1)

    def strict(self) -> tuple[dict[str | None, Bools], dict[str, Bools]]:
        return _first_hits(self.right_text, self.wrong_text, self.altered_text)


def _file_columns(originals: Sequence[int], altered: Sequence[int], at: int) -> NDArray[np.int64]:
    """Return the columns of the captions in the order of a file: each image's originals, then its altered ones.

    The altered ones begin at column `at`.
    """
    order: list[int] = []
    first = 0
    for count, more in zip(originals, altered, strict=True):
        order += [*range(first, first + count), *range(at, at + more)]
        first, at = first + count, at + more
    return np.array(order, dtype=np.int64)


def _last_best(scores: Floats) -> NDArray[np.int64]:
    """Return for each row the column of its highest score; the last one in a tie."""
    last: NDArray[np.int64] = scores.shape[1] - 1 - scores[:, ::-1].argmax(axis=1)
    return last


def _first_hits(
    right: Floats, wrong: Floats, by_name: Mapping[Name, Floats]
) -> tuple[dict[Name | None, Bools], dict[Name, Bools]]:
    """Return whether the first result is right, and whether it is an altered item, if a tie is wrong."""
    correct: dict[Name | None, Bools] = {None: right > wrong}
    fooled: dict[Name, Bools] = {}
    for name, best in by_name.items():
        correct[name] = right > np.maximum(wrong, best)
        fooled[name] = best >= np.maximum(right, wrong)
    return correct, fooled


def _cells(before: Score, after: Score, fooled: Score) -> dict[str, Cell]:
    return {WITHOUT: before, WITH: after, DROP: drop_rate(before, after), RSMS: fooled}


def _average_seeds(by_seed: Sequence[Mapping[str, Cell]]) -> dict[str, Cell]:
    """Return the mean of every cell over seeds, and the standard deviation (n - 1) of Recall@1 with altered images."""
    if len(by_seed) == 1:
        return dict(by_seed[0])
    shares = {name: [_share(cells[name]) for cells in by_seed] for name in by_seed[0]}
    found: dict[str, Cell] = {WITHOUT: by_seed[0][WITHOUT]}
    for name in (WITH, DROP, RSMS):
        known = [share for share in shares[name] if share is not None]
        undefined = next((cells[name].reason for cells in by_seed if _share(cells[name]) is None), None)
        found[name] = Mean(None, len(by_seed), undefined) if undefined else Mean(fmean(known), len(by_seed))
    found[SPREAD] = Mean(stdev(share for share in shares[WITH] if share is not None), len(by_seed))
    return found


def _share(cell: Cell) -> float | None:
    return cell.share if isinstance(cell, Score) else cell.value


def _notes(data: Pool) -> list[str]:
    notes = [
        f"{VERSIONS[AUTHORS]}: of equal scores the later caption or image of the authors' order comes first. "
        f"{VERSIONS[STRICT]} (strict): a tie with the right one is wrong."
    ]
    notes += [f"Not there: {FILES[policy]}." for policy in POLICIES if policy not in data.altered]
    missing = [made.folder for made in ALL_MADE if made not in data.made]
    return notes + ([f"Images were not created: these folders are missing: {', '.join(missing)}."] if missing else [])


def _read_captions(path: Path) -> list[dict[str, Any]]:
    """Return the objects with image and caption of a file of captions."""
    items = json_list(path)
    if not items or not all(
        isinstance(item, dict) and isinstance(item.get("image"), str) and isinstance(item.get("caption"), list)
        for item in items
    ):
        raise BenchmarkError(f"{path.name} is not a list of objects with image and a list of captions.")
    return items


def _make_images(folder: Path, made: ImageAlteration, images: Sequence[str]) -> str:
    """Alter every image with its partner, unless the folder for them exists."""
    inside = made.folder
    if (folder / inside).exists():
        return f"{inside} already exists and was kept."
    pictures = Pictures(folder)
    rng = random.Random(f"{made.seed}|{made.method}")  # noqa: S311 (no secret)
    others = partners(len(images), rng=rng)
    unfinished = folder / f"{inside}.unfinished"
    unfinished.mkdir(exist_ok=True)
    for image, other in zip(images, others, strict=True):
        pair = pictures.open(image), pictures.open(images[other])
        result = (
            mix_images(*pair, share=made.share)
            if made.method == "mixed"
            else patch_image(*pair, rng=rng, share=made.share)
        )
        result.save(unfinished / Path(image).name, "JPEG", quality=95)
    unfinished.rename(folder / inside)
    return f"{inside}: {len(images):,} images."


def _make_captions(folder: Path, *, seed: int, encoders: Mapping[str, EmbedTexts]) -> list[str]:
    """Create missing files of altered captions, if their sources exist."""
    lacking = [policy for policy, file in FILES.items() if not (folder / file).exists()]
    if not lacking or not (folder / CAPTIONS).is_file() or not (folder / SUBSTITUTES).is_file():
        return [f"{FILES[policy]} was not created: {CAPTIONS} or {SUBSTITUTES} is missing." for policy in lacking]
    if not encoders:
        return [f"{FILES[policy]} was not created: name a model that embeds texts." for policy in lacking]
    substitutes = substitutes_of(json_object(folder / SUBSTITUTES), SUBSTITUTES)
    made: dict[str, list[dict[str, Any]]] = {policy: [] for policy in lacking}
    without = 0
    for item in _read_captions(folder / CAPTIONS):
        captions = [str(text) for text in item["caption"]]
        by_caption = []
        for number, caption in enumerate(captions[:ALTERED]):
            rng = random.Random(f"{seed}|{item['image']}|{number}")  # noqa: S311 (no secret)
            by_caption.append(alter_caption(caption, substitutes, lacking, encoders=list(encoders.values()), rng=rng))
        if len(by_caption) < ALTERED or not all(set(lacking) <= set(each) for each in by_caption):
            without += 1
            continue
        for policy in lacking:
            texts = [*captions, *(each[policy] for each in by_caption)]
            made[policy].append({"image": item["image"], "caption": texts})
    for policy, items in made.items():
        (folder / FILES[policy]).write_text(json.dumps(items, ensure_ascii=False), encoding="utf-8")
    voted = f"The word was chosen by the majority of {len(encoders)} encoders ({', '.join(encoders)})"
    left_out = f"{without:,} left out, with a caption in which no word could be replaced"
    said = [
        f"{FILES[policy]}: captions of {len(items):,} images altered; {left_out}." for policy, items in made.items()
    ]
    return [f"{voted}; the paper has {ENCODERS}.", *said]
