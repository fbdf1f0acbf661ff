"""Images of an import, in a folder or in its Parquet files: reads only those named by rows, and nothing outside."""

import os
import stat
from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property, lru_cache, partial
from pathlib import Path

from django.conf import settings

from studies.actions.imports.import_state import NO_FOLDER, ImageSource, UnusableImage
from studies.importing.base import OR_LATER
from studies.importing.folders import NoSuchPlace, Place, in_order, parse_place
from studies.importing.parquet import LARGEST_GROUP, TABLES_KEPT, BadTable, PictureTable, parse_cell
from studies.importing.parts import Part, parse_part
from studies.importing.pictures import LARGEST_FILE, NotAPicture, cut

_ABSENT = "The file {} is not among the images."


def absent_file(reason: str) -> str:
    """Return the name of the file that a problem with an image says is missing, "" for other problems."""
    before, after = _ABSENT.split("{}")
    name, found, _ = reason.removeprefix(before).rpartition(after)
    return name if found and reason.startswith(before) else ""


class ImageFolder:
    """An image folder; each folder in it is listed once, at first use."""

    remedy = f"Add what is missing, {OR_LATER}"

    def __init__(self, path: Path) -> None:
        self._path = path
        self._sets: dict[tuple[str, int], list[str] | UnusableImage] = {}

    def read(self, filename: str) -> bytes | UnusableImage:
        """Return the bytes of the image called `filename` in a row, or why it cannot be used."""
        part = parse_part(filename)
        if part is not None:
            return self._read_part(part)
        place = parse_place(filename)
        if place is None:
            return self._read(filename, filename)
        names = self._set(place)
        if isinstance(names, UnusableImage):
            return names
        if place.place >= len(names):
            return UnusableImage(f"{filename} is outside a set of {place.size} images: positions start at 0.")
        return self._read(f"{place.folder}/{names[place.place]}", filename)

    def _read_part(self, part: Part) -> bytes | UnusableImage:
        data = self._read(part.file, part.file)
        if isinstance(data, UnusableImage):
            return data
        try:
            return cut(data, part.box, max_pixels=settings.IMAGE_MAX_PIXELS)
        except NotAPicture as error:
            return UnusableImage(f"{part.filename}: {error}")

    def _read(self, path_inside: str, filename: str) -> bytes | UnusableImage:
        path = self._inside(path_inside)
        if path is None:
            return UnusableImage(f"The file {filename} is a link out of the image folder. Put the file itself there.")
        try:
            info = path.stat()
            if not stat.S_ISREG(info.st_mode):
                return UnusableImage(f"{filename} is not a file. Name an image file.")
            if info.st_size > LARGEST_FILE:
                return UnusableImage(
                    f"The file {filename} has {info.st_size:,} bytes; at most {LARGEST_FILE:,} are allowed."
                )
            return path.read_bytes()
        except (FileNotFoundError, NotADirectoryError):
            return self._read_below(path_inside, filename)
        except OSError as error:
            return UnusableImage(f"The file {filename} cannot be read ({error.strerror}).")

    def _read_below(self, path_inside: str, filename: str) -> bytes | UnusableImage:
        """Return the only file with these last folders and name: rows often leave out the folder that was zipped."""
        found = files_ending_with(path_inside, self._below.get(path_inside.rpartition("/")[2], ()))
        if not found:
            return UnusableImage(_ABSENT.format(filename), absent=True)
        if len(found) > 1:
            some = " and ".join(found[:2])
            return UnusableImage(
                f"{len(found)} images are called {filename}, such as {some}. Include the folder in the name."
            )
        return self._read(found[0], filename)

    @cached_property
    def _below(self) -> Mapping[str, Sequence[str]]:
        """Name of a file -> its paths in the folders below, links left out."""
        found: defaultdict[str, list[str]] = defaultdict(list)
        for folder, _, names in os.walk(self._path):
            inside = os.path.relpath(folder, self._path)
            for name in names if inside != "." else ():
                if not os.path.islink(os.path.join(folder, name)):
                    found[name].append(f"{inside}/{name}")
        return found

    def _inside(self, name: str) -> Path | None:
        path = Path(os.path.realpath(self._path / name))
        return path if path.is_relative_to(self._path) else None

    def _set(self, place: Place) -> list[str] | UnusableImage:
        key = place.folder, place.size
        if key not in self._sets:
            self._sets[key] = self._list(place)
        return self._sets[key]

    def _list(self, place: Place) -> list[str] | UnusableImage:
        path = self._inside(place.folder)
        if path is None:
            return UnusableImage(
                f"The folder {place.folder} is a link out of the image folder. Put the folder itself there."
            )
        try:
            return in_order(place.folder, os.listdir(path), place.size)
        except FileNotFoundError:
            return UnusableImage(f"The folder {place.folder} is not among the images.", absent=True)
        except OSError as error:
            return UnusableImage(f"The folder {place.folder} cannot be read ({error.strerror}).")
        except NoSuchPlace as error:
            return UnusableImage(str(error), absent=error.absent)


def files_ending_with(name: str, paths: Iterable[str]) -> list[str]:
    """Return the paths that end with `name`, a file with or without folders, sorted. Example: "1.jpg" and "a/1.jpg"."""
    return sorted(path for path in paths if path.endswith(f"/{name}"))


class TableImages:
    """Pictures in the cells of Parquet files, by their names in the rows; other images come from `beside`.

    `largest_group`: most bytes of a row group that are read at once.
    """

    remedy = ImageFolder.remedy

    def __init__(
        self, files: Mapping[str, Path], beside: ImageSource | None, *, largest_group: int = LARGEST_GROUP
    ) -> None:
        self._beside = beside
        self._files = files
        self._table = lru_cache(maxsize=TABLES_KEPT)(partial(PictureTable, largest_group=largest_group))

    def read(self, filename: str) -> bytes | UnusableImage:
        """Return the bytes of the image called `filename` in a row, or why it cannot be used."""
        cell = parse_cell(filename)
        if cell is None or cell.file not in self._files:
            return self._beside.read(filename) if self._beside is not None else NO_FOLDER
        try:
            return self._table(self._files[cell.file]).read(cell)
        except BadTable as error:
            return UnusableImage(str(error))
