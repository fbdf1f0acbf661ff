"""RoCOCO: whether retrieval over COCO survives captions with one wrong word, and images with another one in them."""

import json
import random
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import groupby
from pathlib import Path
from typing import Any, ClassVar

import numpy as np

from analytics.scores import Bools, Floats, drop_rate, score
from predictions.protocols.alterations import altered, mixed, partners, patched, substitutes_of
from predictions.protocols.base import Benchmark, Block, Breakdown, Cell, EmbedTexts, Evaluation
from predictions.protocols.pictures import IMAGES, Pictures
from predictions.protocols.problems import BenchmarkError
from predictions.protocols.reading import filename_of, first_there, json_list, json_object, nothing_there, records_of
from studies.importing.captions import retrieval
from studies.importing.rococo import ALTERED, MADE_OF_IMAGES, POLICIES

FILES = {policy: f"{policy}.json" for policy in POLICIES}
CAPTIONS, SUBSTITUTES = "coco_karpathy_test.json", "substitutes.json"
# Images scored at once against all captions.
IMAGES_AT_ONCE = 50
WITHOUT, WITH, DROP, FOOLED = "R@1 without", "R@1 with", "drop rate", "fooled"


@dataclass(frozen=True)
class Pool:
    """What is searched. captions: the originals of each image. altered: by policy, the altered ones of each image.
    made: by name (mixed, patched), what was made of each image."""

    images: Sequence[str]
    captions: Sequence[Sequence[str]]
    altered: Mapping[str, Sequence[Sequence[str]]]
    made: Mapping[str, Sequence[str]]

    @property
    def texts(self) -> list[str]:
        """All captions as models read them: the originals by image, then the altered ones by policy and image."""
        sets = [*self.captions, *(texts for policy in self.altered.values() for texts in policy)]
        return [retrieval(text) for texts in sets for text in texts]

    @property
    def n_captions(self) -> int:
        return sum(map(len, self.captions))


@dataclass(frozen=True)
class Retrieved:
    """By "" (nothing altered), policy, or what images were made into: whether the first found is right, and whether it
    is an altered one. images: one value per image (image to text). texts: one per original caption (text to image)."""

    images: Mapping[str, Bools]
    images_fooled: Mapping[str, Bools]
    texts: Mapping[str, Bools]
    texts_fooled: Mapping[str, Bools]


class RoCOCO(Benchmark[Pool, Retrieved]):
    """Park et al. 2024, "RoCOCO: Robustness Benchmark of MS-COCO to Stress-test Image-Text Matching Models".

    Tie rule: whatever ties with the right one comes before it, so that a tie is wrong, and an altered item that ties
    for the first place has fooled the model. The authors' code sorts with `numpy.argsort(...)[::-1]`, which puts the
    later of two equals first, and altered items come later (`eval_clip_i2t.py` in pseulki/rococo). Order of options: of
    no effect.

    Image to text: each image searches all original captions (any of its five or six is right), and again with the
    altered captions of one policy among them. Text to image: each original caption searches all images, and again with
    one that was made of each among them. Recall@1 without and with, the drop rate (what is lost of what was found), and
    how often an altered item comes first (false Recall@1). Captions are read as `retrieval-v1` makes them.

    Data: `same_concept.json`, `diff_concept.json`, `rand_voca.json`, `danger.json`, those that are there; photos of
    COCO by the names in them; `mix_0.9` and `patch_0.9`, folders of images of the same names, which --prepare makes
    (the paper averages over three seeds; this is one). Where the files are not there, --prepare makes them too, of
    `coco_karpathy_test.json` and `substitutes.json`, with a model that embeds texts.
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
            raise nothing_there(folder, f"one of {', '.join(FILES.values())} must be there.")
        first_policy, first = next(iter(pools.items()))
        for policy, images in pools.items():
            if [(one.image, one.captions) for one in images] != [(one.image, one.captions) for one in first]:
                raise BenchmarkError(
                    [f"{FILES[policy]} and {FILES[first_policy]} do not have the same images with the same captions."]
                )
        made = {
            name: [f"{inside}/{Path(one.image).name}" for one in first]
            for name, inside in MADE_OF_IMAGES.items()
            if any((root / inside).is_dir() for root in (folder, folder / IMAGES))
        }
        altered = {policy: [one.altered for one in images] for policy, images in pools.items()}
        return Pool([one.image for one in first], [one.captions for one in first], altered, made)

    def blocks(self, data: Pool) -> Iterator[Block]:
        texts = data.texts
        for start in range(0, len(data.images), IMAGES_AT_ONCE):
            yield Block(data.images[start : start + IMAGES_AT_ONCE], texts)
        originals = texts[: data.n_captions]
        for names in data.made.values():
            for start in range(0, len(names), IMAGES_AT_ONCE):
                yield Block(names[start : start + IMAGES_AT_ONCE], originals)

    def found(self, data: Pool, scored: Iterator[tuple[Block, Floats]]) -> Retrieved:
        n = data.n_captions
        owner = np.repeat(np.arange(len(data.images)), [len(texts) for texts in data.captions])
        # Of each image and of each original caption: the best right one, the best wrong one, the best altered ones.
        right_text, wrong_text = _lowest(len(data.images)), _lowest(len(data.images))
        altered_text = {policy: _lowest(len(data.images)) for policy in data.altered}
        right_image, wrong_image = _lowest(n), _lowest(n)
        altered_image = {name: _lowest(n) for name in data.made}
        for start in range(0, len(data.images), IMAGES_AT_ONCE):
            _, scores = next(scored)
            rows = np.arange(start, start + len(scores))
            own = owner[None, :] == rows[:, None]
            originals = scores[:, :n]
            right_text[rows] = np.where(own, originals, -np.inf).max(axis=1)
            wrong_text[rows] = np.where(own, -np.inf, originals).max(axis=1)
            right_image = np.maximum(right_image, np.where(own, originals, -np.inf).max(axis=0))
            wrong_image = np.maximum(wrong_image, np.where(own, -np.inf, originals).max(axis=0))
            at = n
            for policy, texts in data.altered.items():
                width = sum(map(len, texts))
                altered_text[policy][rows] = scores[:, at : at + width].max(axis=1)
                at += width
        for name, names in data.made.items():
            for _ in range(0, len(names), IMAGES_AT_ONCE):
                _, scores = next(scored)
                altered_image[name] = np.maximum(altered_image[name], scores.max(axis=0))
        return Retrieved(
            *_first_found(right_text, wrong_text, altered_text), *_first_found(right_image, wrong_image, altered_image)
        )

    def tables(self, data: Pool, found: Retrieved) -> Evaluation:
        whole: dict[str, Cell] = {}
        parts: list[Breakdown] = []
        for task, right, fooled in (
            ("I2T", found.images, found.images_fooled),
            ("T2I", found.texts, found.texts_fooled),
        ):
            before = score(right[""])
            whole[f"{task} R@1"] = before
            for name, correct in right.items():
                if not name:
                    continue
                after = score(correct)
                whole[f"{task} R@1, {name}"] = after
                cells: dict[str, Cell] = {WITHOUT: before, WITH: after}
                cells |= {DROP: drop_rate(before, after), FOOLED: score(fooled[name])}
                parts.append(Breakdown(f"{task}, {name}", before.n, cells))
        notes = [f"Not there: {FILES[policy]}." for policy in POLICIES if policy not in data.altered]
        notes += [
            f"{name.capitalize()} images are not made: there is no folder {folder}."
            for name, folder in MADE_OF_IMAGES.items()
            if name not in data.made
        ]
        return Evaluation(Breakdown("all", len(data.images), whole), parts, notes)

    def chance(self, data: Pool) -> Mapping[str, float | None]:
        n, images = data.n_captions, len(data.images)
        shares: dict[str, float | None] = {"I2T R@1": n / images / n, "T2I R@1": 1 / images}
        for policy, texts in data.altered.items():
            shares[f"I2T R@1, {policy}"] = n / images / (n + sum(map(len, texts)))
        for name, names in data.made.items():
            shares[f"T2I R@1, {name}"] = 1 / (images + len(names))
        return shares

    def prepare(self, folder: Path, *, seed: int, embed: EmbedTexts | None) -> list[str]:
        said = _make_captions(folder, seed=seed, embed=embed)
        source = first_there(folder, (*FILES.values(), CAPTIONS))
        if source is None:
            raise nothing_there(folder, f"one of {', '.join([*FILES.values(), CAPTIONS])} must be there.")
        images = [str(item["image"]) for item in _captioned(source)]
        return said + [_make_images(folder, name, images, seed) for name in MADE_OF_IMAGES]


@dataclass(frozen=True)
class _Captioned:
    image: str
    captions: Sequence[str]
    altered: Sequence[str]


def _images_of(path: Path) -> list[_Captioned]:
    """Return the images of a file, each with its captions, original and altered."""
    found = []
    for _, group in groupby(records_of(path, "rococo"), key=lambda record: record.row):
        records = list(group)
        found.append(
            _Captioned(
                filename_of(records[0], "image"),
                [record.captions["caption"] for record in records],
                [record.captions["negative_caption"] for record in records[:ALTERED]],
            )
        )
    return found


def _lowest(count: int) -> Floats:
    return np.full(count, -np.inf)


def _first_found(
    right: Floats, wrong: Floats, by_name: Mapping[str, Floats]
) -> tuple[dict[str, Bools], dict[str, Bools]]:
    """Return whether the first found is right, and whether it is an altered one, without and with altered ones."""
    correct: dict[str, Bools] = {"": right > wrong}
    fooled: dict[str, Bools] = {}
    for name, best in by_name.items():
        correct[name] = right > np.maximum(wrong, best)
        fooled[name] = best >= np.maximum(right, wrong)
    return correct, fooled


def _captioned(path: Path) -> list[dict[str, Any]]:
    """Return the objects with image and caption of a file of captions."""
    items = json_list(path)
    if not items or not all(
        isinstance(item, dict) and isinstance(item.get("image"), str) and isinstance(item.get("caption"), list)
        for item in items
    ):
        raise BenchmarkError([f"{path.name} is not a list of objects with image and a list of captions."])
    return items


def _make_images(folder: Path, name: str, images: Sequence[str], seed: int) -> str:
    """Make one of every image and its partner, where the folder for them is not there yet."""
    inside = MADE_OF_IMAGES[name]
    if (folder / inside).exists():
        return f"{inside} is there already, and stays."
    pictures = Pictures(folder)
    rng = random.Random(f"{seed}|{name}")  # noqa: S311 (no secret)
    others = partners(len(images), rng=rng)
    unfinished = folder / f"{inside}.unfinished"
    unfinished.mkdir(exist_ok=True)
    for image, other in zip(images, others, strict=True):
        pair = pictures.open(image), pictures.open(images[other])
        made = mixed(*pair) if name == "mixed" else patched(*pair, rng=rng)
        made.save(unfinished / Path(image).name, "JPEG", quality=95)
    unfinished.rename(folder / inside)
    return f"{inside}: {len(images):,} images."


def _make_captions(folder: Path, *, seed: int, embed: EmbedTexts | None) -> list[str]:
    """Make the files of altered captions that are not there, where all that it takes is."""
    lacking = [policy for policy, file in FILES.items() if not (folder / file).exists()]
    if not lacking or not (folder / CAPTIONS).is_file() or not (folder / SUBSTITUTES).is_file():
        return [f"{FILES[policy]} is not made: there is no {CAPTIONS} with {SUBSTITUTES}." for policy in lacking]
    if embed is None:
        return [f"{FILES[policy]} is not made: no model that embeds texts was named." for policy in lacking]
    substitutes = substitutes_of(json_object(folder / SUBSTITUTES), SUBSTITUTES)
    made: dict[str, list[dict[str, Any]]] = {policy: [] for policy in lacking}
    without = 0
    for item in _captioned(folder / CAPTIONS):
        captions = [str(text) for text in item["caption"]]
        by_caption = []
        for number, caption in enumerate(captions[:ALTERED]):
            rng = random.Random(f"{seed}|{item['image']}|{number}")  # noqa: S311 (no secret)
            by_caption.append(altered(caption, substitutes, lacking, embed=embed, rng=rng))
        if len(by_caption) < ALTERED or not all(set(lacking) <= set(each) for each in by_caption):
            without += 1
            continue
        for policy in lacking:
            texts = [*captions, *(each[policy] for each in by_caption)]
            made[policy].append({"image": item["image"], "caption": texts})
    for policy, items in made.items():
        (folder / FILES[policy]).write_text(json.dumps(items, ensure_ascii=False), encoding="utf-8")
    return [
        f"{FILES[policy]}: captions of {len(items):,} images altered; {without:,} left out, with a caption in which no "
        "word could be replaced."
        for policy, items in made.items()
    ]
