from io import BytesIO

from studies.importing import Record, RowProblem, get_importer
from tests.studies.real_data import REAL_DATA, needs_real_data
from tests.studies.source_files import manifest_bytes, manifest_row

read = get_importer("bivlc-manifest")


def test_a_row_becomes_a_record_with_its_photo_and_four_candidates() -> None:
    (record,) = read(BytesIO(manifest_bytes(manifest_row(7))))
    assert isinstance(record, Record)
    assert (record.row, record.key, record.type, record.subtype) == (1, "7", "replace", "obj")
    assert record.captions == {"caption": "A cat on a couch.", "negative_caption": "A dog on a couch."}
    assert record.reference == {"coco": "000000219578.jpg"}
    assert [(image.role, image.filename, image.optional) for image in record.images] == [
        ("image", "000000219578.jpg", True),
        *[("candidate", f"{number}.jpg", False) for number in range(4)],
    ]


def test_records_are_counted_and_lines_are_not() -> None:
    content = manifest_bytes(manifest_row(0, caption="Two\nlines."), manifest_row(1, type="remove"))
    record, problem = read(BytesIO(content))
    assert isinstance(record, Record)
    assert record.captions["caption"] == "Two\nlines."
    assert problem == RowProblem(2, "type", "'remove' is unknown; it must be one of add, replace, swap.")


def test_every_problem_of_a_row_is_named() -> None:
    content = manifest_bytes(manifest_row(0, caption=" ", subtype="colour", hn_img_2=""))
    assert [problem.field for problem in read(BytesIO(content)) if isinstance(problem, RowProblem)] == [
        "caption",
        "hn_img_2",
        "subtype",
    ]


def test_a_byte_order_mark_and_windows_line_ends_are_no_problem() -> None:
    content = b"\xef\xbb\xbf" + manifest_bytes(manifest_row()).replace(b"\n", b"\r\n")
    (record,) = read(BytesIO(content))
    assert isinstance(record, Record)


@needs_real_data
def test_the_real_manifest_has_7512_records_and_no_problem() -> None:
    with (REAL_DATA / "bivlc/BiVLC_negative_imgs.csv").open("rb") as file:
        items = list(read(file))
    assert len(items) == 7512
    assert all(isinstance(item, Record) for item in items)
