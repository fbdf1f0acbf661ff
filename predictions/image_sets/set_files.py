"""Write image sets in the form that the importer `imagecode` reads; each file completely or not at all."""

import csv
import io
import json
import shutil
import tempfile
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import asdict, dataclass, fields
from pathlib import Path
from typing import Any

import numpy as np
from PIL import Image

SETS, LIST, TABLE, LEFT_OUT = "sets", "sets.jsonl", "sets.csv", "left_out.csv"
# High quality, because the importer derives the smaller sizes for pages from these files.
JPEG_QUALITY = 95


@dataclass(frozen=True)
class ImageSetFacts:
    """A set: its folder name, the distances within it (`set_selection.distance_summary`), its split ("" if none)."""

    directory: str
    kind: str
    images: int
    least_distance: float
    mean_distance: float
    most_distance: float
    embedding: str
    split: str = ""


def write_set(out: Path, directory: str, pictures: Iterable[tuple[Path | Image.Image, int]]) -> None:
    """Write the images of a set into its folder, named by number."""
    folder = out / SETS / directory
    if folder.exists():
        return
    part = Path(tempfile.mkdtemp(dir=out, prefix="part-"))
    for picture, number in pictures:
        if isinstance(picture, Path):
            shutil.copyfile(picture, part / f"img{number}{picture.suffix.lower()}")
        else:
            picture.save(part / f"img{number}.jpg", quality=JPEG_QUALITY)
    part.chmod(0o755)
    part.replace(folder)


def write_lists(out: Path, made: Sequence[ImageSetFacts]) -> None:
    """Write the list of sets for the importer, and the table of distances within each set."""
    lines = []
    for one in made:
        images = sorted((out / SETS / one.directory).iterdir(), key=lambda path: int(path.stem.removeprefix("img")))
        line: dict[str, object] = {"directory": one.directory, "kind": one.kind}
        line |= {"split": one.split} if one.split else {}
        line |= {"images": [f"{one.directory}/{path.name}" for path in images]}
        lines.append(json.dumps(line) + "\n")
    put_text(out / LIST, "".join(lines))
    put_table(out / TABLE, [field.name for field in fields(ImageSetFacts)], [asdict(one).values() for one in made])


def put_arrays(file: Path, arrays: Mapping[str, Any]) -> None:
    """Write arrays by name, as NumPy's npz."""
    with _whole(file) as part:
        np.savez(part, **arrays)


def put_table(file: Path, columns: Sequence[str], rows: Iterable[Iterable[object]]) -> None:
    """Write a CSV file."""
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(columns)
    writer.writerows(rows)
    put_text(file, text.getvalue())


def put_text(file: Path, text: str) -> None:
    """Write a text without changing its line breaks."""
    with _whole(file) as part:
        part.write(text.encode())


@contextmanager
def _whole(file: Path) -> Iterator[Any]:
    """Open a temporary file that replaces `file` at the end of the block."""
    with tempfile.NamedTemporaryFile(dir=file.parent, suffix=".part", delete=False) as part:
        yield part
    Path(part.name).replace(file)
