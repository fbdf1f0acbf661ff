"""Find captions that are nearly equal to others: a word or a typing error apart, or in another order. Pure."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterator, Sequence
from collections.abc import Set as AbstractSet
from math import ceil
from typing import Any

import numpy as np

from making.texts import comparable, words_of

# Two captions are near if they share this part of the groups of three characters that either has (Jaccard). Measured on
# 1,500 captions of SugarCrepe with one change: an article left out, a plural, a typing error, two words swapped, a word
# added at the end. Of each, 99 to 100 % are near. With one word replaced, 22 % are; `ChangedCaptions` finds those.
# The filter `near_duplicates` compares pairs of words at the same threshold, which finds 0 to 38 % of these changes.
NEAR_AT_LEAST = 0.8
# Captions one word apart count only if at most this share of the captions of their set is so near to one about another
# thing. More follow a template, such as "a red ball left of a blue cube", and then a caption says little of its image.
MOST_ALIKE = 0.05
# As few may be alike by chance.
_FEW = 4
# Captions two words apart count from so many words on. Of captions of other photos, 0.4 % are so near; from 9 words on,
# twice as many (docs/training.md).
TWO_FROM = 10
# Known captions that are compared with all others to see whether they follow a template with two words.
_SAMPLED = 1000
# Two captions are compared if they share as many of their rarest groups. More mean fewer comparisons, and longer lists.
_SHARED = 6
# Rounding errors of a product of a threshold and a count.
_ROUNDING = 1e-6


def trigrams_of(text: str) -> frozenset[str]:
    """Return the groups of three characters in a text, without case and punctuation; a space stands at both ends."""
    spaced = f" {comparable(text)} "
    return frozenset(spaced[start : start + 3] for start in range(len(spaced) - 2))


class NearCaptions:
    """Finds the nearest of some captions.

    Two sets that share enough elements share some of their rarest ones, so that only sets with these are compared
    (Xiao et al. 2008, "Efficient similarity joins for near duplicate detection"). No pair is missed.
    """

    def __init__(self, captions: Sequence[str], *, at_least: float = NEAR_AT_LEAST) -> None:
        self._at_least = at_least
        found = [trigrams_of(caption) for caption in captions]
        counts = Counter(each for one in found for each in one)
        by_rarity = sorted(counts, key=lambda each: (counts[each], each))
        self._number = {each: number for number, each in enumerate(by_rarity)}
        rows = [self._sorted(one) for one in found]
        self._sizes = np.array([len(row) for row in rows], np.float32)
        self._all = self._matrix(rows)
        self._rarest = self._matrix([row[: self._prefix(len(row))] for row in rows]).T.tocsr()

    def nearest(self, captions: Sequence[str]) -> dict[int, tuple[float, int]]:
        """Return place of a caption -> similarity and place of the nearest of the index; only near ones.

        Give about a thousand at once.
        """
        if not len(self._sizes):
            return {}
        found = [trigrams_of(caption) for caption in captions]
        sizes = np.array([len(one) for one in found], np.float32)
        rows = [self._sorted(one) for one in found]
        # What no caption of the index has is rarest of all.
        prefixes = [
            row[: max(0, self._prefix(len(one)) - (len(one) - len(row)))] for row, one in zip(rows, found, strict=True)
        ]
        shared = self._matrix(prefixes) @ self._rarest
        places, others = np.repeat(np.arange(len(rows)), np.diff(shared.indptr)), shared.indices
        smaller = np.minimum(sizes[places], self._sizes[others])
        larger = np.maximum(sizes[places], self._sizes[others])
        least = self._at_least * larger - _ROUNDING
        worth = (shared.data >= np.minimum(_SHARED, np.ceil(least))) & (smaller >= least)
        places, others = places[worth], others[worth]
        both = np.asarray(self._matrix(rows)[places].multiply(self._all[others]).sum(axis=1)).ravel()
        similarity = both / (sizes[places] + self._sizes[others] - both)
        nearest: dict[int, tuple[float, int]] = {}
        for at in np.flatnonzero(similarity >= self._at_least - _ROUNDING).tolist():
            place, one = int(places[at]), (round(float(similarity[at]), 3), int(others[at]))
            if place not in nearest or one[0] > nearest[place][0]:
                nearest[place] = one
        return nearest

    def _sorted(self, elements: Collection[str]) -> list[int]:
        return sorted(self._number[each] for each in elements if each in self._number)

    def _prefix(self, size: int) -> int:
        """Return how many of its rarest elements a set of this size must show to share `_SHARED` with a near one."""
        return min(size, size - ceil(self._at_least * size - _ROUNDING) + _SHARED)

    def _matrix(self, rows: Sequence[Sequence[int]]) -> Any:
        # Imported here, because SciPy's matrices load more than the pages of the site need.
        from scipy.sparse import csr_array

        lengths = [len(row) for row in rows]
        columns = np.fromiter((each for row in rows for each in row), np.int32, sum(lengths))
        ends = np.concatenate([[0], np.cumsum(lengths, dtype=np.int32)])
        return csr_array((np.ones(len(columns), np.float32), columns, ends), shape=(len(rows), len(self._number)))


class ChangedCaptions:
    """Finds captions that have the words of another one but for one, replaced, left out, added or moved, in any order.

    Of captions of `TWO_FROM` words or more, also those with two words replaced.

    captions: each with its `owners`, the things that it is about, and with its set in `sets`. `alike`: how many of them
    are a word from one about other things, in sets where these are too many. The captions of such a set follow a
    template, and none of them is found. `two_alike`: of a sample of the others, those that are two words from one about
    other things, if these are too many; then such are not found; else 0.
    """

    def __init__(self, captions: Sequence[str], owners: Sequence[AbstractSet[int]], sets: Sequence[str]) -> None:
        self._captions = captions
        first: dict[int, int] = {}
        of_several = set[int]()
        for place, caption in enumerate(captions):
            for key in _keys(caption):
                if owners[first.setdefault(key, place)].isdisjoint(owners[place]):
                    of_several.add(key)
        counts = Counter(sets)
        alike = Counter(
            name for name, caption in zip(sets, captions, strict=True) if not of_several.isdisjoint(_keys(caption))
        )
        templates = {name for name in alike if alike[name] > max(_FEW, MOST_ALIKE * counts[name])}
        self.alike = sum(alike[name] for name in templates)
        others = [place for place, name in enumerate(sets) if name not in templates]
        self._places = first
        if templates:
            self._places = {}
            for place in others:
                for key in _keys(captions[place]):
                    self._places.setdefault(key, place)
        self._two = _TwoReplaced(captions, owners, others)
        self.two_alike = self._two.alike

    def nearest(self, captions: Sequence[str]) -> dict[int, tuple[float, int]]:
        """Return place of a caption -> similarity and place of one of the index that has nearly the same words.

        The similarity is that of groups of three characters, as of `NearCaptions`.
        """
        found = {}
        for place, caption in enumerate(captions):
            other = next((self._places[key] for key in _keys(caption) if key in self._places), None)
            if other is None:
                other = self._two.nearest(caption)
            if other is not None:
                one, another = trigrams_of(caption), trigrams_of(self._captions[other])
                found[place] = (round(len(one & another) / len(one | another), 3), other)
        return found


class _TwoReplaced:
    """Finds captions that differ in two words from another one of as many words, at least `TWO_FROM`.

    places: of those that are to be found. `alike`: of a sample, how many are so near to one about other things, if
    these are too many; then none is found. Else 0.
    """

    def __init__(self, captions: Sequence[str], owners: Sequence[AbstractSet[int]], places: Sequence[int]) -> None:
        self._number: dict[str, int] = {}
        rows: dict[int, list[list[int]]] = defaultdict(list)
        by_length: dict[int, list[int]] = defaultdict(list)
        for place in places:
            if len(words := words_of(captions[place])) >= TWO_FROM:
                rows[len(words)].append([self._number.setdefault(word, len(self._number)) for word in words])
                by_length[len(words)].append(place)
        self._rows = {length: np.array(some, np.int32) for length, some in rows.items()}
        self._places = by_length
        sample = places[:: max(1, len(places) // _SAMPLED)]
        alike = sum(
            any(owners[other].isdisjoint(owners[place]) for other in self._near(captions[place])) for place in sample
        )
        self.alike = alike if alike > max(_FEW, MOST_ALIKE * len(sample)) else 0

    def nearest(self, caption: str) -> int | None:
        """Return the place of the first caption that is two words from this one."""
        return None if self.alike else next(iter(self._near(caption)), None)

    def _near(self, caption: str) -> list[int]:
        words = words_of(caption)
        if (rows := self._rows.get(len(words))) is None:
            return []
        differ = (rows != np.array([self._number.get(word, -1) for word in words], np.int32)).sum(axis=1)
        return [self._places[len(words)][row] for row in np.flatnonzero(differ <= 2).tolist()]


def _keys(caption: str) -> Iterator[int]:
    """Yield what two captions have in common that are a word apart, or have the same words in another order."""
    words = words_of(caption)
    yield hash(tuple(words))
    yield hash(("in any order", *sorted(words)))
    for left_out in range(len(words)):
        yield hash((*words[:left_out], *words[left_out + 1 :]))
