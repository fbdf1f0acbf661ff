"""Formats that would be empty for given accepted items, such as a format of pairs for items without a pair."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from results.exporting import FORMATS, Writer, get_writer
from results.exporting.rows import AcceptedInstance
from results.queries.instances.accepted_items import CHUNK, instances_of_studies
from studies.models import Study

# A page reads at most this many items, which come in one batch. Where there are more and none fits, making the file
# gives the answer.
READ_AT_MOST = CHUNK


@dataclass(frozen=True)
class FormatOption:
    """A format to choose. `missing`: what no accepted item has, so the file would be empty; "" if it can be chosen."""

    name: str
    title: str
    missing: str = ""


class EmptyFormats:
    """Collects the formats that can hold at least one of the added items."""

    def __init__(self) -> None:
        self._unfilled: dict[str, Writer] = {name: writer for name in FORMATS if (writer := get_writer(name)).needs}
        self._is_empty = True

    def add(self, item: AcceptedInstance) -> None:
        self._is_empty = False
        filled = [name for name, writer in self._unfilled.items() if writer.can_hold(item)]
        for name in filled:
            del self._unfilled[name]

    @property
    def is_settled(self) -> bool:
        """Whether further items change nothing."""
        return not self._unfilled

    def reasons(self) -> dict[str, str]:
        """Return format -> why it would be empty. Without any item all formats are empty, which needs no reason."""
        return {} if self._is_empty else {name: writer.refusal() for name, writer in self._unfilled.items()}


def empty_formats(studies: Sequence[Study]) -> dict[str, str]:
    """Return format -> why it cannot hold any accepted item of `studies`, for formats that are surely empty."""
    found = EmptyFormats()
    for number, item in enumerate(islice(instances_of_studies(studies), READ_AT_MOST + 1)):
        if number == READ_AT_MOST:
            return {}
        found.add(item)
        if found.is_settled:
            break
    return found.reasons()


def format_options(names: Iterable[str], empty: Collection[str] = ()) -> list[FormatOption]:
    """Return the formats called `names` in this order; those of `empty` cannot be chosen."""
    writers = ((name, get_writer(name)) for name in names)
    return [FormatOption(name, writer.title, writer.needs if name in empty else "") for name, writer in writers]
