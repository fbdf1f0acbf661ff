"""Assign image sets to splits, keeping sets of one video or with near-duplicate images together."""

import random
import re
from collections.abc import Hashable, Mapping, Sequence
from fractions import Fraction

import numpy as np

from predictions.image_sets.embeddings import Vectors, distances

SPLITS = ("train", "valid", "test")
# Groups of several sets may miss the wanted counts, so several orders are tried. With many single sets the first one
# fits.
TRIES = 300
BLOCK = 256
_SHARE = re.compile(r"\d*\.?\d+")


class BadShares(ValueError):
    """The shares of the splits cannot be used; the message is for people and says what to do."""


def shares_of(text: str) -> dict[str, Fraction]:
    """Return the share of each split, such as "train=.8,valid=.1,test=.1". Raises BadShares."""
    shares: dict[str, Fraction] = {}
    for part in text.split(","):
        name, _, share = (side.strip() for side in part.partition("="))
        if name not in SPLITS:
            raise BadShares(f"--split names {name!r}. The splits are {', '.join(SPLITS)}.")
        if name in shares:
            raise BadShares(f"--split names {name} twice. Name each split once.")
        if not _SHARE.fullmatch(share) or not Fraction(share):
            raise BadShares(f"--split gives {name} the share {share!r}. It must be a number over 0, such as .8.")
        shares[name] = Fraction(share)
    if (total := sum(shares.values())) != 1:
        raise BadShares(f"The shares of --split add up to {float(total):g}. They must add up to 1.")
    return shares


def counts_of(sets: int, shares: Mapping[str, Fraction]) -> dict[str, int]:
    """Return the number of `sets` for each split, by largest remainder (Hamilton), ties in the order of `shares`.

    Example: 7 sets with .8, .1 and .1 are 5.6, .7 and .7: 5, 1 and 1.
    """
    quotas = {name: sets * share for name, share in shares.items()}
    counts = {name: int(quota) for name, quota in quotas.items()}
    by_remainder = sorted(quotas, key=lambda name: counts[name] - quotas[name])
    for name in by_remainder[: sets - sum(counts.values())]:
        counts[name] += 1
    return counts


def groups_of(sources: Sequence[Hashable], vectors: Sequence[Vectors], *, near_below: float) -> list[list[int]]:
    """Return groups of sets, as numbers from 0, that must stay in one split.

    sources: what each set was made from, such as its video. vectors: of each set's images, shape (images, dimensions),
    of length 1. Two sets are in one group if they have the same source, if an image of one is closer than `near_below`
    to an image of the other, or if both are in a group with a third.
    """
    # Imported here, because SciPy's graphs load more than the pages of the site need.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    if not sources:
        return []
    first: dict[Hashable, int] = {}
    links = {(first.setdefault(source, number), number) for number, source in enumerate(sources)}
    rows = np.concatenate(vectors)
    owners = np.repeat(np.arange(len(vectors)), [len(of_set) for of_set in vectors])
    for start in range(0, len(rows), BLOCK):
        row, other = np.nonzero(distances(rows[start : start + BLOCK], rows[start:]) < near_below)
        links |= set(zip(owners[start + row].tolist(), owners[start + other].tolist(), strict=True))
    ends = tuple(zip(*links, strict=True))
    graph = coo_array(([True] * len(links), ends), shape=(len(sources), len(sources)))
    groups: dict[int, list[int]] = {}
    for number, label in enumerate(connected_components(graph, directed=False)[1].tolist()):
        groups.setdefault(label, []).append(number)
    return list(groups.values())


def splits_of(groups: Sequence[Sequence[int]], counts: Mapping[str, int], *, seed: str) -> list[str]:
    """Return the split of each set, by its number from 0: `counts` sets per split, all sets of a group in one split.

    If the groups are too large for the counts, the best of several tries is used. The same groups, counts and seed give
    the same splits.
    """
    dice = random.Random(seed)  # noqa: S311 (splits are public)
    best: list[str] = []
    least: int | None = None
    for _ in range(TRIES):
        found, missed = _try(groups, dict(counts), dice)
        if least is None or missed < least:
            best, least = found, missed
        if not least:
            break
    return best


def _try(groups: Sequence[Sequence[int]], free: dict[str, int], dice: random.Random) -> tuple[list[str], int]:
    """Return a split for each set, and the number of sets that exceed the `free` places of their split."""
    found = [""] * sum(map(len, groups))
    missed = 0
    # Large groups first, while there is room for them; random order among groups of one size.
    for group in sorted(groups, key=lambda group: (-len(group), dice.random())):
        fitting = [name for name, places in free.items() if places >= len(group)]
        weights = [free[name] for name in fitting]
        chosen = dice.choices(fitting, weights)[0] if fitting else max(free, key=lambda name: free[name])
        missed += max(0, len(group) - max(0, free[chosen]))
        free[chosen] -= len(group)
        for number in group:
            found[number] = chosen
    return found, missed
