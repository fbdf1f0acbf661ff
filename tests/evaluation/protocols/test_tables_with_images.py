from io import BytesIO
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from PIL import Image
from pyarrow import parquet

from evaluation.pictures import Pictures
from evaluation.protocols import BenchmarkError, get_protocol
from tests.evaluation.protocols.written import evaluated, matrices, plain


def image(width: int) -> dict[str, Any]:
    buffer = BytesIO()
    Image.new("RGB", (width, 5), "red").save(buffer, "PNG")
    return {"bytes": buffer.getvalue(), "path": f"{width}.png"}


def write(folder: Path, rows: int = 5, *, name: str = "test-00000-of-00001.parquet", **columns: Any) -> Path:
    """Write a release of which the n-th row has images n + 1 and n + 101 pixels wide, two rows in each group."""
    table = {
        "image": [image(n + 1) for n in range(rows)],
        "caption": [f"A cat {n}." for n in range(rows)],
        "negative_caption": [f"A dog {n}." for n in range(rows)],
        "negative_image": [image(n + 101) for n in range(rows)],
        "type": ["replace"] * rows,
        "subtype": ["obj"] * rows,
    } | columns
    (folder / "data").mkdir(exist_ok=True)
    present = {column: values for column, values in table.items() if values is not None}
    parquet.write_table(pa.table(present), folder / "data" / name, row_group_size=2)
    return folder


def test_the_release_of_the_hub_is_read_with_its_images(tmp_path: Path) -> None:
    protocol, folder = get_protocol("bivlc"), write(tmp_path)
    blocks = list(protocol.blocks(protocol.read(folder)))
    assert blocks[3].images == (
        "data/test-00000-of-00001.parquet#cell=3,image",
        "data/test-00000-of-00001.parquet#cell=3,negative_image",
    )
    assert blocks[3].texts == ("A cat 3.", "A dog 3.")
    pictures = Pictures(folder)
    assert [[pictures.open(name).width for name in block.images] for block in blocks] == [
        [n, n + 100] for n in range(1, 6)
    ]
    came_out = evaluated("bivlc", folder, matrices(*[[[1, 0], [0, 1]]] * 4, [[0, 1], [0, 1]]))
    assert plain(came_out.whole)["Group"] == (4, 5)


def test_several_files_are_one_after_another(tmp_path: Path) -> None:
    for number in (1, 0):
        write(tmp_path, 2, name=f"test-0000{number}-of-00002.parquet", caption=[f"{number}a", f"{number}b"])
    data = get_protocol("bivlc").read(tmp_path)
    assert [one.caption for one in data.described] == ["0a", "0b", "1a", "1b"]


@pytest.mark.parametrize(
    ("columns", "sentence"),
    [
        ({"negative_image": None}, "lacks negative_image; it has image, caption"),
        ({"caption": ["a", None, "c", "d", "e"]}, "Record 2: caption is not a text"),
        (None, "cannot be read as a Parquet file"),
    ],
)
def test_what_is_wrong_with_a_table_is_a_sentence(tmp_path: Path, columns: Any, sentence: str) -> None:
    folder = write(tmp_path, **columns or {})
    if columns is None:
        (folder / "data/test-00000-of-00001.parquet").write_bytes(b"PAR1 no")
    with pytest.raises(BenchmarkError, match=sentence):
        get_protocol("bivlc").read(folder)


@pytest.mark.parametrize(
    "name",
    [
        "data/test-00000-of-00001.parquet#cell=5,image",
        "data/test-00000-of-00001.parquet#cell=0,photo",
        "data/test-00000-of-00001.parquet#cell=0,caption",
        "data/absent.parquet#cell=0,image",
        "../test.parquet#cell=0,image",
    ],
)
def test_an_image_that_is_not_there_is_a_sentence(tmp_path: Path, name: str) -> None:
    with pytest.raises(BenchmarkError, match=r"(There is no image|is not in) "):
        Pictures(write(tmp_path)).open(name)
