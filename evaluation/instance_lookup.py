"""Which instance a row of a result file is about."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from evaluation.result_files import Described
from studies.importing.captions import bivlc_release
from studies.wording import counted

SHOWN = 60
_Category = tuple[str, str, str, str]


@dataclass(frozen=True, slots=True)
class Known:
    """An instance of the project; `filename` is that of its original photo, "" where it is not known."""

    id: int
    key: str
    caption: str
    negative_caption: str
    type: str
    subtype: str
    caption_rule: str
    filename: str = ""


@dataclass(frozen=True, slots=True)
class Joined:
    """Row number -> id of its instance; and a sentence for each row that joins none, and for each that is unclear."""

    instances: Mapping[int, int]
    unknown: Mapping[int, str]
    unclear: Mapping[int, str]


def join(rows: Sequence[tuple[int, Described]], known: Iterable[Known]) -> Joined:
    """Find the instance of every row.

    rows: row number and what the row says. A row that has a key is about the instance of that key. Any other is about
    an instance with the same two captions, type and subtype, and the same photo where both name one. Captions are
    compared as BiVLC formats them for its release (`bivlc-release-v1`), however either side has them.

    When several rows and as many instances agree in all that (two pairs of SugarCrepe's do), both are taken in order.
    Any other number of rows than of instances is unclear.
    """
    by_key: dict[str, Known] = {}
    by_text: dict[_Category, list[Known]] = defaultdict(list)
    for instance in known:
        by_key[instance.key] = instance
        by_text[_category(instance)].append(instance)
    joining = _Joining()
    alike: dict[tuple[_Category, str], list[int]] = defaultdict(list)
    for number, row in rows:
        if row.key:
            joining.by_key(number, row.key, by_key)
        elif not row.caption:
            joining.unclear[number] = "The row has neither captions nor a key, so it cannot be told what it is about."
        else:
            alike[_category(row), row.filename].append(number)
    for (category, filename), numbers in alike.items():
        fitting = [one for one in by_text.get(category, ()) if not (filename and one.filename not in ("", filename))]
        joining.by_text(numbers, category, fitting)
    return Joined(joining.instances, joining.unknown, joining.unclear)


class _Joining:
    def __init__(self) -> None:
        self.instances: dict[int, int] = {}
        self.unknown: dict[int, str] = {}
        self.unclear: dict[int, str] = {}

    def by_key(self, number: int, key: str, by_key: Mapping[str, Known]) -> None:
        if key in by_key:
            self.instances[number] = by_key[key].id
        else:
            self.unknown[number] = f"The project has no instance with the key {_short(key)}."

    def by_text(self, numbers: Sequence[int], category: _Category, fitting: Sequence[Known]) -> None:
        if len(numbers) == len(fitting):
            self.instances.update((number, one.id) for number, one in zip(numbers, fitting, strict=True))
            return
        for number in numbers:
            if not fitting:
                self.unknown[number] = f"The project has no instance like this: {_words(category)}."
            else:
                self.unclear[number] = _unclear(numbers, category, fitting)


def _category(row: Described | Known) -> _Category:
    return bivlc_release(row.caption), bivlc_release(row.negative_caption), row.type, row.subtype


def _words(category: _Category) -> str:
    caption, negative_caption, type, subtype = category
    return f"{_short(caption)} and {_short(negative_caption)}, type {type or 'none'}, subtype {subtype or 'none'}"


def _unclear(numbers: Sequence[int], category: _Category, fitting: Sequence[Known]) -> str:
    keys = ", ".join(one.key for one in fitting[:5])
    who = f"The records {', '.join(map(str, numbers[:5]))} are alike and fit" if len(numbers) > 1 else "The row fits"
    count = counted(len(fitting), "instance")
    return f"{who} {count} ({keys}): {_words(category)}. Say in a column key which row is about which."


def _short(text: str) -> str:
    return repr(text if len(text) <= SHOWN else f"{text[: SHOWN - 3]}...")
