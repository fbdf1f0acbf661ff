"""Formats and columns that would be empty for given accepted items, such as a format of pairs for items without one."""

from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass
from itertools import islice

from results.exporting import FORMATS, Writer, get_writer
from results.exporting.rows import CAPTION_COLUMNS, IMAGE_COLUMNS, AcceptedInstance
from results.queries.instances.accepted_items import CHUNK, instances_of_studies
from studies.kinds import is_foil_name
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


class EmptyColumns:
    """Collects the columns of a pair that no added item fills although it has a role that might."""

    def __init__(self) -> None:
        self._unfilled: dict[str, set[str]] = {column: set() for column in (*CAPTION_COLUMNS, *IMAGE_COLUMNS)}

    def add(self, item: AcceptedInstance) -> None:
        held = item.pair_roles
        for column in [column for column in self._unfilled if column in held]:
            del self._unfilled[column]
        # Images of a role with several are to choose from.
        several = {image.role for image in item.images if image.position}
        images = {image.role for image in item.images} - several
        for column, unused in self._unfilled.items():
            roles = item.captions.keys() if column in CAPTION_COLUMNS else images
            is_foil = column.startswith("negative_")
            unused |= {role for role in roles if is_foil_name(role) == is_foil and role not in held.values()}

    @property
    def is_settled(self) -> bool:
        """Whether further items change nothing."""
        return not self._unfilled

    def unused_roles(self) -> dict[str, list[str]]:
        """Return column -> the roles without a column that might fill it, for empty columns with such roles."""
        return {column: sorted(roles) for column, roles in self._unfilled.items() if roles}


def empty_formats(studies: Sequence[Study]) -> dict[str, str]:
    """Return format -> why it cannot hold any accepted item of `studies`, for formats that are surely empty."""
    found = EmptyFormats()
    return found.reasons() if _read_items(studies, found) else {}


def empty_formats_and_columns(studies: Sequence[Study]) -> tuple[dict[str, str], dict[str, list[str]]]:
    """Return `empty_formats`, and column of a pair -> roles that might fill it, for columns that are surely empty."""
    formats, columns = EmptyFormats(), EmptyColumns()
    if not _read_items(studies, formats, columns):
        return {}, {}
    return formats.reasons(), columns.unused_roles()


def _read_items(studies: Sequence[Study], *found: EmptyFormats | EmptyColumns) -> bool:
    """Add the accepted items of `studies` to `found` until it is settled; return whether all needed ones were read."""
    most = READ_AT_MOST + 1
    # Behind a pool, a reader that stops early has read everything.
    for number, item in enumerate(islice(instances_of_studies(studies, at_most=most), most)):
        if number == READ_AT_MOST:
            return False
        for each in found:
            each.add(item)
        if all(each.is_settled for each in found):
            break
    return True


def format_options(names: Iterable[str], empty: Collection[str] = ()) -> list[FormatOption]:
    """Return the formats called `names` in this order; those of `empty` cannot be chosen."""
    writers = ((name, get_writer(name)) for name in names)
    return [FormatOption(name, writer.title, writer.needs if name in empty else "") for name, writer in writers]
