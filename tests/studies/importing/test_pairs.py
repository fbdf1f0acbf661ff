from io import BytesIO

from studies.importing import Record, RowProblem, SourceImage, get_importer
from tests.studies.source_files import json_lines

read = get_importer("pairs")
PAIR = {
    "pair_id": "p1",
    "image": "a.jpg",
    "negative_image": "b.jpg",
    "caption": "A cat.",
    "negative_caption": "A dog.",
    "type": "replace",
    "subtype": "obj",
    "licence": "MIT",
}
CSV = (
    b"pair_id,image,negative_image,caption,negative_caption,type,subtype,licence\n"
    b"p1,a.jpg,b.jpg,A cat.,A dog.,replace,obj,MIT\n"
)
EXPECTED = Record(
    row=1,
    key="p1",
    captions={"caption": "A cat.", "negative_caption": "A dog."},
    images=[
        SourceImage(role="image", filename="a.jpg", licence="MIT"),
        SourceImage(role="negative_image", filename="b.jpg", licence="MIT"),
    ],
    type="replace",
    subtype="obj",
)


def test_json_lines_and_csv_give_the_same_record() -> None:
    assert list(read(BytesIO(json_lines(PAIR)))) == [EXPECTED]
    assert list(read(BytesIO(CSV))) == [EXPECTED]


def test_fields_beyond_the_known_ones_are_kept_as_other() -> None:
    (record,) = read(BytesIO(json_lines(PAIR | {"release_row": 663, "caption": "A very long cat. " * 50})))
    assert isinstance(record, Record)
    assert record.reference == {"other": {"release_row": 663}}
    # The first line is longer than the look-ahead, and read whole.
    assert len(record.captions["caption"]) == 850


def test_a_missing_field_is_named() -> None:
    fields = {name: value for name, value in PAIR.items() if name != "negative_image"}
    assert list(read(BytesIO(json_lines(fields)))) == [RowProblem(1, "negative_image", "The field is missing.")]
