"""Makes instances and result files for the tests of predictions."""

import csv
from pathlib import Path
from typing import Any

from studies.models import Instance, Project
from tests.factories import make_instance

COLUMNS = ("caption", "negative_caption", "type", "subtype")
OUTCOMES = ("text_score_i0", "text_score_i1", "image_score_c0", "image_score_c1")


def add_instance(project: Project, number: int, **fields: Any) -> Instance:
    """Make the instance "<number>", with captions as a source has them."""
    captions = {"caption": f"a cat on {number} roofs", "negative_caption": f"a cat under {number} roofs"}
    usual = {"subtype": "rel", "captions": captions, "original_captions": captions, "source_row": number}
    return make_instance(project, str(number), candidates=0, **usual | fields)


def result(number: int, pattern: str = "1111", **cells: str) -> dict[str, str]:
    """Return the row of a result file about the instance "<number>": released captions, four outcomes as digits."""
    described = {
        "caption": f"A cat on {number} roofs.",
        "negative_caption": f"A cat under {number} roofs.",
        "type": "replace",
        "subtype": "rel",
    }
    return described | dict(zip(OUTCOMES, pattern, strict=True)) | cells


def write_results(file: Path, *rows: dict[str, str]) -> Path:
    with file.open("w", encoding="utf-8", newline="") as stream:
        writer = csv.DictWriter(stream, list(rows[0]), quoting=csv.QUOTE_ALL)
        writer.writeheader()
        writer.writerows(rows)
    return file
