"""Find the instance that a row of a result file is about."""

from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

from evaluation.result_files import RowContent
from studies.importing.captions import bivlc_release
from studies.wording import format_count

SHOWN = 60
_Category = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class KnownInstance:
    """An instance of the project; `filename`: that of its original photo, "" if unknown."""

    id: int
    key: str
    caption: str
    negative_caption: str
    type: str
    subtype: str
    caption_rule: str
    filename: str = ""


@dataclass(frozen=True, slots=True)
class RowInstances:
    """Row number -> id of its instance, and a sentence for each row without one or with an ambiguous one."""

    instances: dict[int, int] = field(default_factory=dict)
    unknown: dict[int, str] = field(default_factory=dict)
    unclear: dict[int, str] = field(default_factory=dict)


def join(rows: Sequence[tuple[int, RowContent]], known: Iterable[KnownInstance]) -> RowInstances:
    """Find the instance of every row.

    rows: row number and content. A row with a key is about the instance with that key. Any other row is about an
    instance with the same two captions, type and subtype, and the same photo if both name one. Captions are compared as
    formatted by `bivlc-release-v1`.

    If as many rows as instances agree in all of this (two pairs of SugarCrepe's do), they are matched in order. Any
    other number of rows than of instances is ambiguous.
    """
    by_key: dict[str, KnownInstance] = {}
    by_text: dict[_Category, list[KnownInstance]] = defaultdict(list)
    for instance in known:
        by_key[instance.key] = instance
        by_text[_category(instance)].append(instance)
    joined = RowInstances()
    alike: dict[tuple[_Category, str], list[int]] = defaultdict(list)
    for number, row in rows:
        if row.key in by_key:
            joined.instances[number] = by_key[row.key].id
        elif row.key:
            joined.unknown[number] = f"The project has no instance with the key {_short(row.key)}."
        elif not row.caption:
            joined.unclear[number] = "The row has neither captions nor a key. Add one of them to identify its instance."
        else:
            alike[_category(row), row.filename].append(number)
    for (category, filename), numbers in alike.items():
        fitting = [one for one in by_text.get(category, ()) if not (filename and one.filename not in ("", filename))]
        if len(numbers) == len(fitting):
            joined.instances.update((number, one.id) for number, one in zip(numbers, fitting, strict=True))
        elif fitting:
            joined.unclear.update(dict.fromkeys(numbers, _unclear(numbers, category, fitting)))
        else:
            unknown = f"The project has no such instance: {_words(category)}."
            joined.unknown.update(dict.fromkeys(numbers, unknown))
    return joined


def _category(row: RowContent | KnownInstance) -> _Category:
    return bivlc_release(row.caption), bivlc_release(row.negative_caption), row.type, row.subtype


def _words(category: _Category) -> str:
    caption, negative_caption, type, subtype = category
    return f"{_short(caption)} and {_short(negative_caption)}, type {type or 'none'}, subtype {subtype or 'none'}"


def _unclear(numbers: Sequence[int], category: _Category, fitting: Sequence[KnownInstance]) -> str:
    keys = ", ".join(one.key for one in fitting[:5])
    who = (
        f"The records {', '.join(map(str, numbers[:5]))} are identical and fit" if len(numbers) > 1 else "The row fits"
    )
    count = format_count(len(fitting), "instance")
    return f"{who} {count} ({keys}): {_words(category)}. Add a column `key` with the instance of each row."


def _short(text: str) -> str:
    return repr(text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}...")
