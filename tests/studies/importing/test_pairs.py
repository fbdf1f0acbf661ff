from io import BytesIO

from studies.importing import Record, RowProblem, SourceImage, get_importer
from tests.studies.real_data import REAL_DATA, needs_real_data
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
    (record,) = read(BytesIO(json_lines(PAIR | {"release_row": 663})))
    assert isinstance(record, Record)
    assert record.reference == {"other": {"release_row": 663}}


def test_a_missing_field_is_named() -> None:
    fields = {name: value for name, value in PAIR.items() if name != "negative_image"}
    assert list(read(BytesIO(json_lines(fields)))) == [RowProblem(1, "negative_image", "The field is missing.")]


def test_a_first_line_longer_than_the_look_ahead_is_read_whole() -> None:
    (record,) = read(BytesIO(json_lines(PAIR | {"caption": "A very long cat. " * 50})))
    assert isinstance(record, Record)
    assert len(record.captions["caption"]) == 850


@needs_real_data
def test_the_twelve_real_pairs_have_no_problem() -> None:
    with (REAL_DATA / "images/pairs.jsonl").open("rb") as file:
        items = list(read(file))
    assert [item.key for item in items if isinstance(item, Record)][:2] == ["bivlc_3015", "bivlc_7150"]
    assert len(items) == 12
