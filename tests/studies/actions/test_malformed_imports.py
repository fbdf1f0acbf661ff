"""Files, rows and images that are wrong in one way each, and the sentence each gets; nothing of them is imported."""

import struct
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest
from PIL import Image as Pillow
from pytest_django import Settings

from studies.actions.imports.import_state import ImportRefused
from studies.importing.bivlc_manifest import COLUMNS
from tests.studies.actions.test_importer import assert_nothing_imported
from tests.studies.source_files import (
    import_file,
    json_lines,
    manifest_bytes,
    manifest_row,
    picture_bytes,
    write_images,
)

pytestmark = pytest.mark.django_db


class Bad(NamedTuple):
    name: str
    format: str
    content: bytes
    sentence: str


def in_manifest(name: str, sentence: str, **cells: str) -> Bad:
    return Bad(name, "bivlc-manifest", manifest_bytes(manifest_row(0), manifest_row(1) | cells), sentence)


GOOD = manifest_bytes(manifest_row(0), manifest_row(1))
SET = {"key": "k", "caption": "A cat.", "images": ["0.jpg", "1.jpg"]}
PAIR = {"pair_id": "p", "image": "0.jpg", "negative_image": "1.jpg", "caption": "A cat.", "negative_caption": "A dog."}
RELEASED = {"key": "r", **{name: text for name, text in PAIR.items() if name != "pair_id"}, "type": "", "subtype": ""}
LONG = "x" * 10_001

BAD_FILES = [
    Bad("an empty file", "bivlc-manifest", b"", "The file: It is empty."),
    Bad("an empty file of lines", "jsonl", b"", "The file: It is empty."),
    Bad("blank lines only", "jsonl", b"\n \n", "The file: It is empty."),
    Bad("a header only", "bivlc-manifest", manifest_bytes(), "It has a header but no records."),
    Bad(
        "a missing column",
        "bivlc-manifest",
        manifest_bytes(manifest_row(), columns=tuple(name for name in COLUMNS if name not in {"type", "hn_img_3"})),
        "It lacks the columns type, hn_img_3.",
    ),
    Bad("no CSV at all", "pairs", b"just words", "It lacks the columns pair_id, image,"),
    Bad("a column twice", "bivlc-manifest", GOOD.replace(b'"filename",', b'"filename","type",', 1), "names type more"),
    Bad("Latin-1", "bivlc-manifest", GOOD.replace(b"couch", b"caf\xe9"), f"position {GOOD.index(b'couch') + 3} ("),
    Bad("UTF-16", "jsonl", '{"key": "k"}'.encode("utf-16"), "It is not UTF-8: the byte at position 0 (from 0)"),
    Bad("a row too short", "bivlc-manifest", GOOD + b'"a","b"\n', "Record 3: The row has 2 fields where the header"),
    Bad("an open quote", "bivlc-manifest", GOOD + b'"a', "Record 3: The row cannot be read as CSV"),
    Bad("a stray quote", "bivlc-manifest", GOOD + b'"a"b",1\n', "Look for a stray or missing quote."),
    Bad(
        "CSV as JSON lines",
        "jsonl",
        b"key,caption\na,A cat.\n",
        "It looks like CSV, not JSON lines. Choose a CSV format",
    ),
    Bad(
        "a zip as rows",
        "jsonl",
        b"PK\x03\x04\x14\x00",
        "It is a zip archive or an Excel file, not a text file. Choose the file with the rows, saved as CSV or JSON.",
    ),
    Bad("a JSON list", "jsonl", b"[\n{}\n]", "It is a JSON list. Write one JSON object on each line"),
    Bad("broken JSON", "jsonl", json_lines(SET) + b'{"key": ', "Record 2: The line is not JSON (Expecting value"),
    Bad("a line that is no object", "jsonl", b"3\n", "The line is a number. Write one JSON object on each line."),
    Bad("no key", "jsonl", json_lines({"caption": "A cat."}), "Name it in one of key, id, set_id, pair_id."),
    *(
        Bad(
            f"a line end in the key of {format}",
            format,
            json_lines(row | {field: "a\nb"}),
            "key: Its character 2 (U+000A)",
        )
        for format, row, field in (("jsonl", SET, "key"), ("pairs", PAIR, "pair_id"), ("bivlc", RELEASED, "key"))
    ),
    Bad(
        "a key that leads up", "jsonl", json_lines(SET | {"key": "a/../b"}), "Record 1, key: A part between slashes is"
    ),
    Bad("a dot for a key", "jsonl", json_lines(SET | {"key": "."}), 'Record 1, key: A part between slashes is "."'),
    Bad("a key with a space after it", "jsonl", json_lines(SET | {"key": "k "}), "It begins or ends with a space."),
    Bad("no caption", "jsonl", json_lines({"key": "k"}), "Record 1, caption: The row has no caption."),
    Bad(
        "a right answer beyond the images",
        "jsonl",
        json_lines(SET | {"reference": {"chosen_index": 2}}),
        "2 is not one",
    ),
    Bad("a pair with one image", "pairs", json_lines(PAIR | {"negative_image": None}), "negative_image: The field is"),
    Bad("a long caption", "jsonl", json_lines(SET | {"caption": LONG}), "The text has 10,001 characters; at most"),
    Bad("a long licence", "jsonl", json_lines(SET | {"licence": LONG}), "The text has 10,001 characters; at most"),
    Bad("a long reference", "jsonl", json_lines(SET | {"reference": {"why": LONG}}), "reference: The text has 10,001"),
    Bad("a NUL character", "jsonl", json_lines(SET | {"caption": "A\x00cat."}), "The text has a NUL character"),
    Bad("a key twice", "jsonl", json_lines(SET, SET), "Record 2, key: record 1 of source also has the key k."),
    Bad("a wrong SHA-256", "jsonl", json_lines(SET | {"sha256": [None, "0" * 64]}), f"but the row says {'0' * 64}"),
    Bad("half a SHA-256", "jsonl", json_lines(SET | {"sha256": ["12ab", None]}), "'12ab' is not a SHA-256"),
    in_manifest("an empty caption", "Record 2, negative_caption: The caption is empty.", negative_caption=" \n"),
    in_manifest("an unknown type", "type: 'delete' is unknown; it must be one of add, replace, swap.", type="delete"),
    in_manifest("an unknown subtype", "it must be one of obj, att, rel.", subtype="colour"),
    in_manifest("an index that is no number", "index: '1b' is not a whole number.", index="1b"),
    in_manifest("an index twice", "Record 2, key: record 1 of source also has the key 0", index="0"),
    in_manifest("an image without a name", "Record 2, hn_img_1: The field is empty.", hn_img_1=""),
    in_manifest("a missing image", "Record 2, candidate: The file 9.jpg is not among the images.", hn_img_1="9.jpg"),
    in_manifest("a way up", "The file name ../0.jpg leads out of the image folder.", hn_img_1="../0.jpg"),
    in_manifest("an absolute path", "The file name /etc/hostname is absolute.", hn_img_1="/etc/hostname"),
    in_manifest("a drive", "The file name C:0.jpg is absolute.", hn_img_1="C:0.jpg"),
    in_manifest("a backslash", "has a backslash. Separate folders by /.", hn_img_1="a\\0.jpg"),
    in_manifest("a name too long for the disk", "cannot be read (File name too long).", hn_img_1="a" * 300),
    in_manifest("a name too long for us", "The file name is longer than 500 characters.", hn_img_1="a" * 501),
]


@pytest.mark.parametrize("bad", BAD_FILES, ids=lambda bad: bad.name)
def test_a_bad_file_is_refused_with_a_sentence(bad: Bad, tmp_path: Path) -> None:
    source = tmp_path / "source"
    source.write_bytes(bad.content)
    folder = write_images(tmp_path / "pictures")
    with pytest.raises(ImportRefused) as refused:
        import_file(source, folder, format=bad.format)
    assert bad.sentence in str(refused.value)
    assert_nothing_imported()


def png_without_pixels(width: int, height: int) -> bytes:
    """Return a PNG that claims a size and has almost no pixels."""
    header = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + png_chunk(b"IHDR", header) + png_chunk(b"IDAT", zlib.compress(b"\x00" * 10))


def png_chunk(name: bytes, data: bytes) -> bytes:
    return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))


def link(target: str) -> Callable[[Path], None]:
    return lambda file: file.symlink_to(target)


def content(data: bytes) -> Callable[[Path], object]:
    return lambda file: file.write_bytes(data)


def frames(format: str) -> Callable[[Path], None]:
    def write(file: Path) -> None:
        first, *rest = (Pillow.new("RGB", (8, 8), colour) for colour in ("red", "green", "blue"))
        first.save(file, format, save_all=True, append_images=rest)

    return write


JPEG = picture_bytes("navy", size=(300, 200))
PNG = picture_bytes("navy", size=(300, 200), format="PNG")
WEBP = picture_bytes("navy", size=(300, 200), format="WEBP")
DAMAGED = "bad.jpg: The image is cut short or damaged."
SEVERAL = "bad.jpg: The image is animated or has several pages."
NO_IMAGE = "bad.jpg: The file cannot be read as an image"

BAD_IMAGES: list[tuple[str, Callable[[Path], object], str]] = [
    ("an empty file", content(b""), "bad.jpg: The file is empty."),
    ("a text", content(b"This is no image."), NO_IMAGE),
    ("an SVG", content(b"<svg xmlns='http://www.w3.org/2000/svg'/>"), NO_IMAGE),
    ("half a JPEG", content(JPEG[: len(JPEG) // 2]), DAMAGED),
    ("half a PNG", content(PNG[: len(PNG) // 2]), DAMAGED),
    ("half a WebP", content(WEBP[: len(WEBP) // 2]), "bad.jpg: The "),
    ("a header without pixels", content(png_without_pixels(300, 200)), DAMAGED),
    ("a decompression bomb", content(png_without_pixels(60_000, 60_000)), "60,000 x 60,000 pixels, more than the 50,"),
    ("a picture without width", content(png_without_pixels(0, 10)), "bad.jpg: The "),
    ("an animated GIF", frames("GIF"), SEVERAL),
    ("an animated WebP", frames("WEBP"), SEVERAL),
    ("an animated PNG", frames("PNG"), SEVERAL),
    ("a TIFF of several pages", frames("TIFF"), SEVERAL),
    ("a folder", Path.mkdir, "bad.jpg is not a file. Name an image file."),
    ("a link out of the folder", link("/etc/hostname"), "bad.jpg is a link out of the image folder."),
    ("a link to nothing", link("nothing.jpg"), "The file bad.jpg is not among the images."),
    ("a link to itself", link("bad.jpg"), "The file bad.jpg "),
]


@pytest.mark.parametrize(("name", "make", "sentence"), BAD_IMAGES, ids=[name for name, _, _ in BAD_IMAGES])
def test_a_bad_image_is_refused_with_a_sentence(
    name: str, make: Callable[[Path], object], sentence: str, tmp_path: Path
) -> None:
    source = tmp_path / "source.csv"
    source.write_bytes(manifest_bytes(manifest_row(0), manifest_row(1, hn_img_2="bad.jpg")))
    folder = write_images(tmp_path / "pictures")
    make(folder / "bad.jpg")
    with pytest.raises(ImportRefused) as refused:
        import_file(source, folder)
    assert str(refused.value).startswith("Record 2, candidate: ")
    assert sentence in str(refused.value)
    assert_nothing_imported()


@pytest.mark.parametrize(
    ("damage", "pixels", "sentence"),
    [(JPEG[:100], 50_000_000, r"2\.jpg: The "), (None, 1_199, "40 x 30 pixels, more than the 1,199")],
    ids=["a bad image cannot wait", "the limit of pixels is a setting"],
)
def test_a_bad_image_is_refused_even_where_images_may_come_later(
    tmp_path: Path, settings: Settings, damage: bytes | None, pixels: int, sentence: str
) -> None:
    settings.IMAGE_MAX_PIXELS = pixels
    source = tmp_path / "source.csv"
    source.write_bytes(manifest_bytes(manifest_row(0)))
    folder = write_images(tmp_path / "pictures")
    if damage:
        (folder / "2.jpg").write_bytes(damage)
    with pytest.raises(ImportRefused, match=sentence):
        import_file(source, folder, images_later=True)
    assert_nothing_imported()
