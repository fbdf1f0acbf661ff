"""What lies beside the data of a dataset: its card and its description, with the digest of every file."""

import hashlib
from collections.abc import Iterable, Sequence
from pathlib import Path

from results.exporting import Writer
from results.exporting.card import card
from results.exporting.croissant import DataFile, croissant
from results.exporting.dossier import Dossier

CARD, DESCRIPTION = "README.md", "croissant.json"
# The folder for what annotators and models answered.
ANNOTATIONS = "annotations"


def add_papers(folder: Path, writer: Writer, dossier: Dossier, others: Sequence[Writer] = ()) -> None:
    """Write the card and the description of the dataset in `folder`. `others` made its folder of annotations."""
    data = sorted(folder.glob(writer.data_files or writer.filename))
    files = [_data_file(path, folder, writer) for path in data]
    files += [_data_file(folder / ANNOTATIONS / other.filename, folder, other) for other in others]
    (folder / DESCRIPTION).write_text(croissant(dossier, files), encoding="utf-8", newline="\n")
    text = card(dossier, writer.splits([path.name for path in data]), writer.features, files)
    (folder / CARD).write_text(text, encoding="utf-8", newline="\n")


def describe_files(written: Iterable[Path], writer: Writer, dossier: Dossier) -> str:
    """Return the description of files of one format that lie in one folder."""
    return croissant(dossier, [_data_file(path, path.parent, writer) for path in written])


def _data_file(path: Path, folder: Path, writer: Writer) -> DataFile:
    with path.open("rb") as data:
        digest = hashlib.file_digest(data, "sha256").hexdigest()
    name = path.relative_to(folder).as_posix()
    return DataFile(name, digest, path.stat().st_size, writer.content_type, writer.columns)
