"""What lies beside the data of a dataset: its card and its description, with the digest of every file."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from results.exporting import Writer
from results.exporting.card_text import card
from results.exporting.croissant import DataFile, Described, croissant, read_described
from results.exporting.dataset_card import Dossier

CARD, DESCRIPTION = "README.md", "croissant.json"
# What a file is that is none of its writer's own sort.
OTHER_TYPES = {
    ".parquet": "application/vnd.apache.parquet",
    ".py": "text/x-python",
    ".txt": "text/plain",
    ".yaml": "application/yaml",
}
# The folder for what annotators and models answered.
ANNOTATIONS = "annotations"


def add_papers(folder: Path, writer: Writer, dossier: Dossier, others: Sequence[Writer] = ()) -> None:
    """Write the card and the description of the dataset in `folder`. `others` made its folder of annotations."""
    data = sorted(folder.glob(writer.data_files or writer.filename))
    files = [_data_file(path, folder, writer) for path in data]
    named = writer.name_after(folder, dossier.name)
    files += [_listed(path, folder, writer) for path in named]
    files += [_data_file(folder / ANNOTATIONS / other.filename, folder, other) for other in others]
    (folder / DESCRIPTION).write_text(croissant(dossier, files), encoding="utf-8", newline="\n")
    text = card(dossier, writer.splits([path.name for path in data]), writer.features, files)
    (folder / CARD).write_text(text, encoding="utf-8", newline="\n")


def describe_files(
    folder: Path, *, written: Collection[str], ours: Mapping[str, tuple[Writer, str]], dossier: Dossier
) -> str:
    """Return the description of all tables in `folder`, each with a record set of its own.

    ours: the name that a table of this project has -> its writer, and what its records are. written: those of them
    that have just been written. What is described there already, and has not changed since, keeps its description:
    another project may have written it.
    """
    before = read_described(_text_of(folder / DESCRIPTION))
    kept = [each for each in before if each.path not in written and _unchanged(folder / each.path, each)]
    known = {each.path for each in kept}
    files = [
        _data_file(folder / name, folder, writer, about)
        for name, (writer, about) in sorted(ours.items())
        if name not in known and (folder / name).is_file()
    ]
    return croissant(dossier, files, kept)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, UnicodeDecodeError):
        return ""


def _unchanged(path: Path, described: Described) -> bool:
    return path.is_file() and _digest(path) == described.file.get("sha256")


def _data_file(path: Path, folder: Path, writer: Writer, about: str = "") -> DataFile:
    name, content_type = path.relative_to(folder).as_posix(), OTHER_TYPES.get(path.suffix, writer.content_type)
    return DataFile(name, _digest(path), path.stat().st_size, content_type, writer.columns, about)


def _listed(path: Path, folder: Path, writer: Writer) -> DataFile:
    """Describe a file beside the data, which holds no records."""
    return replace(_data_file(path, folder, writer), columns=())


def _digest(path: Path) -> str:
    with path.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()
