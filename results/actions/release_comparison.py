"""What changed between two releases of a project: items added, removed and changed."""

import json
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import takewhile
from typing import Any

from django.core.files.storage import default_storage

from results.actions.releases import check_frozen, check_offered
from results.models import Release

# What can change in an item -> the fields of its stored row that are compared.
ASPECTS: Mapping[str, Sequence[str]] = {
    "captions": ("captions", "original_captions", "caption_rule"),
    "images": ("images",),
    "pair": ("pair",),
    "right answer": ("target",),
    "type": ("type", "subtype"),
    "split": ("split",),
    "decision": ("decision", "winner", "settled", "rule"),
    "answers": ("answers", "votes"),
    "study": ("study",),
}
Category = tuple[str, str, str]


@dataclass(frozen=True)
class ComparedItem:
    """An item of one release or of both; `changed`: the aspects that differ, none if only one release has it."""

    name: str
    key: str
    split: str
    type: str
    changed: Sequence[str] = ()


@dataclass(frozen=True)
class CategoryCounts:
    """Items of one split, type and subtype in both releases."""

    split: str
    type: str
    subtype: str
    before: int
    after: int

    @property
    def difference(self) -> int:
        return self.after - self.before


@dataclass(frozen=True)
class ReleaseComparison:
    """Two releases of a project, and their items. `same`: number of items without a change.

    `rules`: the acceptance rules of the items of each.
    """

    before: Release
    after: Release
    rules: tuple[Sequence[str], Sequence[str]]
    added: Sequence[ComparedItem]
    removed: Sequence[ComparedItem]
    changed: Sequence[ComparedItem]
    same: int
    categories: Sequence[CategoryCounts]

    def rows(self) -> Iterator[Sequence[str]]:
        """Yield a row for each item that is not the same: what happened to it, item, split, type and aspects."""
        for what, items in (("added", self.added), ("removed", self.removed), ("changed", self.changed)):
            for item in items:
                yield (what, item.name, item.split, item.type, ", ".join(item.changed))


def compare_releases(before: Release, after: Release) -> ReleaseComparison:
    """Compare the items of two releases by their names, in the order of `after`, then of `before`.

    Reads both files: about a second for 100,000 items. Raises CannotExport if one is no longer available or not frozen.
    """
    for release in (before, after):
        check_offered(release)
        check_frozen(release)
    rules: tuple[set[str], set[str]] = (set(), set())
    old = {}
    for row in _items(before):
        old[_name(row)] = _ItemHashes.of(row)
        rules[0].add(row["rule"])
    counts_before = Counter(each.category for each in old.values())
    counts_after = Counter[Category]()
    added, changed, same = [], [], 0
    for row in _items(after):
        name, new = _name(row), _ItemHashes.of(row)
        counts_after[new.category] += 1
        rules[1].add(row["rule"])
        known = old.pop(name, None)
        if known is None:
            added.append(new.item(name))
        elif aspects := [aspect for aspect, a, b in zip(ASPECTS, known.hashes, new.hashes, strict=True) if a != b]:
            changed.append(new.item(name, aspects))
        else:
            same += 1
    removed = [each.item(name) for name, each in old.items()]
    categories = [
        CategoryCounts(*category, counts_before[category], counts_after[category])
        for category in sorted(counts_before | counts_after)
    ]
    names = (sorted(rules[0]), sorted(rules[1]))
    return ReleaseComparison(before, after, names, added, removed, changed, same, categories)


@dataclass(frozen=True, slots=True)
class _ItemHashes:
    """What is remembered of an item: hashes stand for its aspects, so that 100,000 items fit into memory."""

    key: str
    category: Category
    hashes: tuple[int, ...]

    @classmethod
    def of(cls, row: Mapping[str, Any]) -> "_ItemHashes":
        hashes = (
            hash(json.dumps([row.get(field) or None for field in fields], sort_keys=True))
            for fields in ASPECTS.values()
        )
        return cls(row["key"], (row["split"], row["type"], row["subtype"]), tuple(hashes))

    def item(self, name: str, changed: Sequence[str] = ()) -> ComparedItem:
        split, type, _ = self.category
        return ComparedItem(name, self.key, split, type, changed)


def _name(row: Mapping[str, Any]) -> str:
    return f"{row['key']}/{row['item']}" if row.get("item") else str(row["key"])


def _items(release: Release) -> Iterator[Mapping[str, Any]]:
    """Yield the stored rows of accepted items, which come before all others."""
    with default_storage.open(release.file) as stored:
        for line in takewhile(lambda line: line.startswith(b'["instances", '), stored):
            yield json.loads(line)[1]
