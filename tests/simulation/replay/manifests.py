"""A manifest and its accepted file in small, written by hand: 60 rows in two categories, 35 of them released."""

import csv
from pathlib import Path

COLUMNS = ("filename", "caption", "negative_caption", "type", "subtype", "index", *(f"hn_img_{n}" for n in range(4)))
# (type, subtype) -> rows, and how many of them are released.
CATEGORIES = {("replace", "obj"): (42, 28), ("swap", "att"): (18, 7)}


def write_manifest(folder: Path) -> Path:
    path = folder / "manifest.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        writer.writerow(COLUMNS)
        for index, (type, subtype, _) in enumerate(_rows()):
            captions = (f"a lamp, number {index}", f"A desk, number {index}")
            # Two rows share each photo, as in the real manifest.
            images = [f"{index}_{index // 2:012d}_{n}.jpg" for n in range(4)]
            writer.writerow([f"{index // 2:012d}.jpg", *captions, type, subtype, index, *images])
    return path


def write_accepted(folder: Path) -> Path:
    path = folder / "accepted.csv"
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file)
        writer.writerow(("index", "accepted", "release_row"))
        released = 0
        for index, (_, _, is_released) in enumerate(_rows()):
            writer.writerow((index, str(is_released).lower(), released if is_released else ""))
            released += is_released
    return path


def write_results(folder: Path) -> Path:
    """Write a model's outcomes on the 35 released instances: all right but the image of each fifth caption."""
    folder.mkdir()
    captions = [(f"A lamp, number {index}.", f"A desk, number {index}.") for index, row in enumerate(_rows()) if row[2]]
    labels = [row[:2] for row in _rows() if row[2]]
    with (folder / "BiVLC_guesser.csv").open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, quoting=csv.QUOTE_ALL)
        names = ("caption", "negative_caption", "type", "subtype", "Ipos_2T", "Ineg_2T", "Tpos_2I", "Tneg_2I")
        writer.writerow(names)
        for row, (caption, label) in enumerate(zip(captions, labels, strict=True)):
            writer.writerow([*caption, *label, True, True, row % 5 != 0, True])
    return folder


def _rows() -> list[tuple[str, str, bool]]:
    return [
        (type, subtype, index < released)
        for (type, subtype), (rows, released) in CATEGORIES.items()
        for index in range(rows)
    ]
