"""The questions that a blind baseline is asked, and which of them hang together. Pure."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Case:
    """A question: a name that says what it shows (the hash of its content), what it has in common with others
    (instance, texts, pictures, by any names), what is seen of each option by its key, and the key of the right one."""

    name: str
    shares: frozenset[str]
    options: Mapping[str, str]
    right: str


def digest_of(cases: Iterable[Case]) -> str:
    """Return the SHA-256, in 64 hexadecimal digits, of what there is to learn from: questions and right answers."""
    lines = sorted({f"{case.name}|{case.right}" for case in cases})
    return hashlib.sha256("\n".join(lines).encode("utf-8", errors="surrogatepass")).hexdigest()


def groups_of(cases: Sequence[Case]) -> list[int]:
    """Return the number of the group of each case, from 0 in order of appearance; those that share anything, be it by
    way of others, are of one group."""
    parent = list(range(len(cases)))

    def root(place: int) -> int:
        while parent[place] != place:
            parent[place] = parent[parent[place]]
            place = parent[place]
        return place

    first: dict[str, int] = {}
    for place, case in enumerate(cases):
        for shared in case.shares:
            parent[root(place)] = root(first.setdefault(shared, place))
    numbers: dict[int, int] = {}
    return [numbers.setdefault(root(place), len(numbers)) for place in range(len(cases))]
