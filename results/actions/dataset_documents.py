"""The documents beside a dataset: its card and its Croissant description, with the digest of every file."""

import hashlib
from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from results.exporting import Writer
from results.exporting.card_text import card_text
from results.exporting.croissant import DataFile, FileDescription, croissant, read_descriptions
from results.exporting.dataset_card import DatasetCard

CARD, DESCRIPTION = "README.md", "croissant.json"
# Content types of files that are not of the writer's own type.
OTHER_TYPES = {
    ".parquet": "application/vnd.apache.parquet",
    ".py": "text/x-python",
    ".txt": "text/plain",
    ".yaml": "application/yaml",
}
# The folder for the answers of annotators and the predictions of models.
ANNOTATIONS = "annotations"
# The folder for the images of data that names them, in a release.
IMAGES = "images"


def add_papers(folder: Path, writer: Writer, card: DatasetCard, others: Sequence[Writer] = ()) -> None:
    """Write the card and the description of the dataset in `folder`.

    others: the writers of the files in its folder of annotations.
    """
    data = sorted(folder.glob(writer.data_files or writer.filename))
    files = [_data_file(path, folder, writer) for path in data]
    named = writer.name_after(folder, card.name)
    # These have no records.
    files += [replace(_data_file(path, folder, writer), columns=()) for path in named]
    files += [_data_file(folder / ANNOTATIONS / other.filename, folder, other) for other in others]
    (folder / DESCRIPTION).write_text(croissant(card, files, images=_images_in(folder)), encoding="utf-8", newline="\n")
    text = card_text(card, writer.splits([path.name for path in data]), writer.features, files)
    (folder / CARD).write_text(text, encoding="utf-8", newline="\n")


def _images_in(folder: Path) -> str:
    """Return the pattern of the image files beside the data, "" if there are none."""
    return f"{IMAGES}/*" if any((folder / IMAGES).glob("*")) else ""


def describe_files(
    folder: Path, *, written: Collection[str], ours: Mapping[str, tuple[Writer, str]], card: DatasetCard
) -> str:
    """Return the Croissant description of all tables in `folder`, each with its own record set.

    ours: file name of a table of this project -> its writer, and what its records are. written: those of them just
    written. Files described earlier that have not changed keep their description: another project may have written
    them.
    """
    before = read_descriptions(_text_of(folder / DESCRIPTION))
    kept = [each for each in before if each.path not in written and _is_unchanged(folder / each.path, each)]
    known = {each.path for each in kept}
    files = [
        _data_file(folder / name, folder, writer, about)
        for name, (writer, about) in sorted(ours.items())
        if name not in known and (folder / name).is_file()
    ]
    return croissant(card, files, kept)


def _text_of(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")
    except (FileNotFoundError, UnicodeDecodeError):
        return ""


def _is_unchanged(path: Path, described: FileDescription) -> bool:
    return path.is_file() and _digest(path) == described.file.get("sha256")


def _data_file(path: Path, folder: Path, writer: Writer, about: str = "") -> DataFile:
    name, content_type = path.relative_to(folder).as_posix(), OTHER_TYPES.get(path.suffix, writer.content_type)
    return DataFile(name, _digest(path), path.stat().st_size, content_type, writer.columns, about)


def _digest(path: Path) -> str:
    with path.open("rb") as data:
        return hashlib.file_digest(data, "sha256").hexdigest()
