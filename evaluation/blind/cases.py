"""Questions as blind baselines see them, and which of them share texts or images. Pure."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from studies.kinds import Kind, content_hash

Part = Literal["text", "image"]


@dataclass(frozen=True)
class Case:
    """A question as a blind baseline sees it.

    name: the hash of its content. shares: names of everything it may have in common with others (instance, texts,
    images). options: key -> the visible text or image. right: the key of the right option.
    """

    name: str
    shares: frozenset[str]
    options: Mapping[str, str]
    right: str


def visible_options(kind: Kind, content: Mapping[str, Any], part: Part) -> dict[str, str]:
    """Return key of the option -> its text, or its image (SHA-256).

    Without options that show neither (None, Both). Empty for a question about several things at once, and for one with
    fewer than two visible options.
    """
    if kind.groups(content):
        return {}
    options = kind.options(content)
    if part == "text":
        found = {option.key: option.text for option in options if option.text}
    else:
        found = {option.key: option.picture.sha256 for option in options if option.picture}
    return found if len(found) > 1 else {}


def case_of(kind: Kind, content: Mapping[str, Any], right: str, *, instance: int, part: Part) -> Case | None:
    """Return a question about an instance as a case; None if the right option is unknown or not visible.

    It shares every text and image that it shows, including those that the baseline does not see.
    """
    options = visible_options(kind, content, part)
    if right not in options:
        return None
    shown, offered = kind.question_content(content), kind.options(content)
    pictures = [*shown.pictures, *(option.picture for option in offered if option.picture)]
    texts = [*(each.text for each in shown.texts), *(option.text for option in offered if option.text)]
    shares = {f"instance {instance}"}
    shares |= {f"picture {each.sha256}" for each in pictures} | {f"text {text}" for text in texts}
    return Case(content_hash(kind, content), frozenset(shares), options, right)


def merge_cases(cases: Iterable[Case]) -> list[Case]:
    """Return each case once, by name, with everything it shares, in order of appearance."""
    found: dict[str, Case] = {}
    for case in cases:
        first = found.setdefault(case.name, case)
        found[case.name] = Case(case.name, first.shares | case.shares, first.options, first.right)
    return list(found.values())


def digest_of(cases: Iterable[Case]) -> str:
    """Return the SHA-256, in 64 hexadecimal digits, of the questions and their right answers."""
    lines = sorted({f"{case.name}|{case.right}" for case in cases})
    return hashlib.sha256("\n".join(lines).encode("utf-8", errors="surrogatepass")).hexdigest()


def groups_of(cases: Sequence[Case]) -> list[int]:
    """Return the group number of each case: cases that share anything, directly or through others, form a group."""
    # Imported here, because loading SciPy takes longer than all other imports of a page.
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    nodes: dict[str, int] = {}
    links = [
        (place, len(cases) + nodes.setdefault(shared, len(nodes)))
        for place, case in enumerate(cases)
        for shared in case.shares
    ]
    ends = ([start for start, _ in links], [end for _, end in links])
    size = len(cases) + len(nodes)
    _, labels = connected_components(coo_array(([True] * len(links), ends), shape=(size, size)), directed=False)
    numbers: list[int] = labels[: len(cases)].tolist()
    return numbers
