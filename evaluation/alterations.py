"""Make RoCOCO's alterations: mixed and patched images, and captions with one word replaced."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import sqrt
from typing import Any

import numpy as np
from PIL import Image

from analytics.scores import Floats
from evaluation.errors import BenchmarkError
from evaluation.protocols.base import EmbedTexts
from evaluation.word_order import tokens_of

# Side in pixels of an altered image, and the share of the first image in it (lambda in table 4).
SIDE, SHARE = 384, 0.9
ENCODERS = 4


def mix_images(image: Image.Image, other: Image.Image, *, share: float = SHARE) -> Image.Image:
    """Blend two images: `share` of the first image's colours and the rest of the second's.

    Both are resized to 384 x 384 pixels. Source: Park et al. 2024 (RoCOCO); `mix_images.py` in pseulki/rococo, where
    `lam` is 0.9.

    Example: white (255) with black (0) is 230 (229.5, rounded to even).
    """
    first, second = _pixels(image), _pixels(other)
    blended = np.rint(share * first + (1 - share) * second)
    return Image.fromarray(blended.astype(np.uint8))


def patch_image(image: Image.Image, other: Image.Image, *, rng: random.Random, share: float = SHARE) -> Image.Image:
    """Replace a rectangle of the first image by the same rectangle of the other; 1 - `share` of the area if it fits.

    Its centre is drawn from all pixels, and the part beyond an edge is cut off. Source: as for `mix_images`, which
    takes the box from CutMix (Yun et al. 2019).

    Example: at 0.9 of 384 x 384 pixels the rectangle is 120 x 120: 121 (384 x sqrt 0.1), halved to 60 on either side.
    """
    first, second = _pixels(image), _pixels(other)
    half = int(SIDE * sqrt(1 - share)) // 2
    left, top = (rng.randrange(SIDE) - half for _ in range(2))
    rows, columns = (slice(max(start, 0), min(start + 2 * half, SIDE)) for start in (top, left))
    first[rows, columns] = second[rows, columns]
    return Image.fromarray(first.astype(np.uint8))


def partners(count: int, *, rng: random.Random) -> list[int]:
    """Return for each of `count` images another image, each used once. Raises BenchmarkError for fewer than two."""
    if count < 2:
        raise BenchmarkError("Mixing needs at least two images; there is only one.")
    order = rng.sample(range(count), count)
    after = dict(zip(order, [*order[1:], order[0]], strict=True))
    return [after[place] for place in range(count)]


def _pixels(image: Image.Image) -> Floats:
    fitted = image.convert("RGB").resize((SIDE, SIDE), Image.Resampling.BICUBIC)
    pixels: Floats = np.asarray(fitted, dtype=np.float64).copy()
    return pixels


@dataclass(frozen=True)
class Substitutes:
    """Replacements of words.

    groups: names of groups of similar nouns -> their words. vocabulary: any words. danger: name of a group -> the word
    that replaces all of it, "" for every other group.
    """

    groups: Mapping[str, Sequence[str]]
    vocabulary: Sequence[str]
    danger: Mapping[str, str]

    def group_of(self, word: str) -> str | None:
        """Return the first group with this word, None if there is none."""
        return next((name for name, words in self.groups.items() if word.lower() in words), None)

    def places_in(self, words: Sequence[str]) -> list[int]:
        """Return the positions of the words of a group."""
        return [place for place, word in enumerate(words) if self.group_of(word) is not None]

    def candidates(self, word: str, policy: str) -> Sequence[str]:
        """Return the words that may replace a word of a group under one of RoCOCO's policies, never the word itself."""
        own = self.group_of(word) or ""
        if policy == "same_concept":
            found = self.groups.get(own, ())
        elif policy == "diff_concept":
            found = [other for name, words in self.groups.items() if name != own for other in words]
        elif policy == "rand_voca":
            found = self.vocabulary
        else:
            found = [self.danger.get(own, self.danger.get("", ""))]
        return [other for other in found if other and other != word.lower()]


def substitutes_of(said: Mapping[str, Any], file: str) -> Substitutes:
    """Read groups, vocabulary and danger from a JSON object. Raises BenchmarkError."""
    groups, vocabulary, danger = (said.get(name) for name in ("groups", "vocabulary", "danger"))
    if (
        not isinstance(groups, dict)
        or not all(_are_texts(words) for words in groups.values())
        or not _are_texts(vocabulary)
        or not isinstance(danger, dict)
        or not _are_texts(list(danger.values()))
    ):
        raise BenchmarkError(
            f"{file} needs groups (name: words), vocabulary (words) and danger (name of a group, or empty: word)."
        )
    return Substitutes(groups, vocabulary or [], danger)


def _are_texts(value: Any) -> bool:
    return isinstance(value, list) and all(isinstance(text, str) for text in value)


def influences(words: Sequence[str], embed: EmbedTexts) -> Floats:
    """Return how much each word influences the embedding of a caption, from 0 (none) to 2.

    The influence is 1 - cosine of the embeddings with and without the word. embed: texts -> texts x dimensions. Raises
    BenchmarkError if an embedding has the length 0. Source: Park et al. 2024 (RoCOCO), equation 1, "embedding
    influence".

    Example: with embeddings (1, 0) of the caption and (0, 1) without its second word, that word's influence is 1.
    """
    texts = [" ".join(words)]
    texts += [" ".join([*words[:place], *words[place + 1 :]]) for place in range(len(words))]
    vectors = np.asarray(embed(texts), dtype=np.float64)
    lengths = np.linalg.norm(vectors, axis=1)
    if not (lengths > 0).all():
        raise BenchmarkError(f"The embedding of {texts[0]!r}, or of it without one of its words, has length 0.")
    influence: Floats = 1 - vectors[1:] @ vectors[0] / (lengths[1:] * lengths[0])
    return influence


def alter_caption(
    caption: str,
    substitutes: Substitutes,
    policies: Sequence[str],
    *,
    encoders: Sequence[EmbedTexts],
    rng: random.Random,
) -> dict[str, str]:
    """Return the caption with one word replaced, by policy; empty if none of its words is in a group.

    Each encoder votes for the noun with the least influence on its embedding, so that the caption is wrong and its
    embedding nearly the same. The noun with most votes is replaced, the same under all policies. Ties go to the
    smallest sum of influences, then to the first noun. The paper has the majority of four encoders. The least influence
    is our reading of the released files, which replace general words most often (man, people, top, person).
    """
    words = tokens_of(caption)
    nouns = substitutes.places_in(words)
    if not nouns:
        return {}
    place = elect_noun(words, nouns, encoders)
    made: dict[str, str] = {}
    for policy in policies:
        candidates = substitutes.candidates(words[place], policy)
        if candidates:
            made[policy] = replace_word(words, words[place], rng.choice(candidates))
    return made


def replace_word(words: Sequence[str], word: str, other: str) -> str:
    """Return the tokens of a caption, separated by spaces, with `other` in place of `word` wherever it is a token.

    Source: the files that RoCOCO's authors published. There the letters of the word are replaced inside other words as
    well, here they are not: "wocriminal" was a woman.

    Example: "side" in "side by side" becomes "minefield by minefield".
    """
    return " ".join(other if token == word else token for token in words)


def elect_noun(words: Sequence[str], nouns: Sequence[int], encoders: Sequence[EmbedTexts]) -> int:
    """Return the position of the noun that most encoders vote for, as `alter_caption` says. Raises BenchmarkError."""
    by_encoder = [influences(words, embed) for embed in encoders]
    votes = [min(nouns, key=lambda place: (influence[place], place)) for influence in by_encoder]
    total = np.sum(by_encoder, axis=0)
    return min(nouns, key=lambda place: (-votes.count(place), total[place], place))
