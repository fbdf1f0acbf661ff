from io import BytesIO

from studies.importing import Record, RowProblem, get_importer
from tests.studies.source_files import manifest_bytes, manifest_row

read = get_importer("bivlc-manifest")


def test_a_row_becomes_a_record_with_its_photo_and_four_candidates() -> None:
    # With a byte order mark and Windows line ends.
    (record,) = read(BytesIO(b"\xef\xbb\xbf" + manifest_bytes(manifest_row(7)).replace(b"\n", b"\r\n")))
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
