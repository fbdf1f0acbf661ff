"""Open the images of a benchmark by name: files, parts of files, positions in folders, cells of tables."""

from functools import cache
from pathlib import Path

from PIL import Image

from evaluation.errors import BenchmarkError
from evaluation.parquet_images import Cells
from studies.importing.folders import NoSuchPlace, in_order, parse_place
from studies.importing.parts import parse_part
from studies.importing.pictures import NotAPicture, cut, decode

# ARO's authors put the images into a folder of this name.
IMAGES = "images"
MOST_PIXELS = 50_000_000


class Pictures:
    """The images below the folder of a benchmark, or below `images` in it."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self._places = cache(self._list_files)
        self._cells = Cells(folder)

    def open(self, name: str) -> Image.Image:
        """Return the pixels of an image, upright, 8-bit sRGB. Raises BenchmarkError if it is unavailable."""
        part = parse_part(name)
        try:
            data = self._cells.read(name) or self._bytes(part.file if part else self._file_of(name))
            if part is not None:
                data = cut(data, part.box, max_pixels=MOST_PIXELS)
            return decode(data, max_pixels=MOST_PIXELS)[1]
        except (NotAPicture, NoSuchPlace) as error:
            raise BenchmarkError(f"{name}: {error}") from error

    def _file_of(self, name: str) -> str:
        place = parse_place(name)
        return f"{place.folder}/{self._places(place.folder, place.size)[place.place]}" if place else name

    def _list_files(self, folder: str, size: int) -> list[str]:
        for root in (self.folder, self.folder / IMAGES):
            if (root / folder).is_dir():
                return in_order(folder, [path.name for path in (root / folder).iterdir()], size)
        raise BenchmarkError(f"The folder {folder} is not in {self.folder}.")

    def _bytes(self, file: str) -> bytes:
        for root in (self.folder, self.folder / IMAGES):
            path = (root / file).resolve()
            if path.is_file() and path.is_relative_to(root.resolve()):
                return path.read_bytes()
        raise BenchmarkError(f"The image {file} is not in {self.folder}.")
