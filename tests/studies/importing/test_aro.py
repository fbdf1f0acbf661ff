import json
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from studies.actions.imports.importer import import_files
from studies.importing import Note, Record, RowProblem, SourceImage, get_importer
from studies.models import InstanceImage, Project
from tests.factories import NOON, TESTS
from tests.studies.real_data import REAL_DATA, needs_real_data
from tests.studies.source_files import NamedBytes

read = get_importer("aro")
REGION = {
    "image_id": "7",
    "image_path": "7.jpg",
    "bbox_x": 160,
    "bbox_y": 120,
    "bbox_w": 320,
    "bbox_h": 240,
    "true_caption": "the horse is eating the grass",
    "false_caption": "the grass is eating the horse",
}
RELATION = REGION | {"relation_name": "eating"}
ATTRIBUTION = REGION | {"attributes": ["brown", "green"]}
OPTIONS = ["A cat naps.", "A cat naps .", "naps cat A .", "cat A naps .", ". A cat naps"]
SHUFFLED = ["nouns_and_adjectives", "other_words", "within_trigrams", "trigrams"]
ORDER = {"image": "val2014/1.jpg", "caption_options": OPTIONS}
TRIPLES = "\ttitle\tfilepath\tneg_caption\tneg_image\n"


def items_of(content: Any, name: str = "visual_genome_relation.json") -> list[Record | Note | RowProblem]:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return list(read(NamedBytes(data, name)))


@pytest.mark.parametrize(
    ("case", "type", "subtype"), [(RELATION, "relation", "eating"), (ATTRIBUTION, "attribution", "brown_green")]
)
def test_a_region_with_a_true_and_a_false_caption_becomes_a_record(case: Any, type: str, subtype: str) -> None:
    assert items_of([case, case]) == [
        Record(
            row=row,
            key=f"{type}/{row - 1}",
            captions={"caption": case["true_caption"], "negative_caption": case["false_caption"]},
            images=[SourceImage(role="image", filename="7.jpg#xywh=160,120,320,240")],
            type=type,
            subtype=subtype,
            reference={"other": {"image_id": "7"}},
        )
        for row in (1, 2)
    ]


def test_a_caption_and_its_other_orders_become_a_record_by_what_was_shuffled() -> None:
    (record,) = items_of([ORDER], "somewhere/coco_order.json")
    assert record == Record(
        row=1,
        key="order/coco/0",
        captions=dict(zip(["caption", *(f"{what}_shuffled" for what in SHUFFLED)], OPTIONS, strict=True)),
        images=[SourceImage(role="image", filename="val2014/1.jpg")],
        type="order",
        # "A cat naps ." is the caption itself but for a space: nobody can say which of the two is right.
        subtype="unchanged",
    )


def test_what_was_not_made_is_left_out_and_an_order_that_differs_is_told_by_its_source() -> None:
    case = {"image": "1.jpg", "caption_options": ["A cat naps.", None, None, "cat A naps .", "naps . A cat"]}
    (record,) = items_of([case], "flickr30k_order.json")
    assert isinstance(record, Record)
    assert set(record.captions) == {"caption", "within_trigrams_shuffled", "trigrams_shuffled"}
    assert (record.key, record.subtype) == ("order/flickr30k/0", "flickr30k")


def test_a_line_of_negclip_s_table_becomes_a_record_with_all_its_wrong_captions() -> None:
    line = "12\tA child on\na yak.\tcoco/1.jpg\t['A yak on a child.', \"It's a yak.\"]\t[1, 2, 3]\n"
    lines = '12\t"A child on\na yak."\tcoco/1.jpg\t"[\'A yak on a child.\', ""It\'s a yak.""]"\t[1, 2, 3]\n'
    assert items_of((TRIPLES + lines).encode()) == [
        Record(
            row=1,
            key="negclip/12",
            captions={
                "caption": "A child on\na yak.",
                "negative_caption": "A yak on a child.",
                "negative_caption_2": "It's a yak.",
            },
            images=[SourceImage(role="image", filename="coco/1.jpg")],
            type="negclip",
            subtype="1 of 3",
        )
    ]
    assert any(isinstance(item, RowProblem) for item in items_of((TRIPLES + line).encode()))


def without(name: str) -> dict[str, Any]:
    return {key: value for key, value in RELATION.items() if key != name}


MALFORMED: list[tuple[str, Any, str]] = [
    ("no list", {"0": RELATION}, "The file: It is not a JSON list of objects."),
    ("an empty list", [], "The file: It is not a JSON list of objects."),
    ("a text in it", ["a"], "Record 1: The item is a text, not an object."),
    ("an open list", b"[", "The file: It is not JSON (Expecting value at line 1, character 2)."),
    ("another case", [{"image": "1.jpg"}], "Record 1: The case has neither relation_name, nor attributes, nor capti"),
    ("no image", [without("image_path")], "Record 1, image_path: The field is missing."),
    ("no region", [without("bbox_h")], "Record 1, bbox_h: The field is missing."),
    ("a region of words", [RELATION | {"bbox_x": "1"}], "Record 1, bbox_x: The region must be four whole numbers of p"),
    ("half a pixel", [RELATION | {"bbox_w": 1.5}], "Record 1, bbox_x: The region must be four whole numbers of p"),
    ("beyond the edge", [RELATION | {"bbox_y": -1}], "Record 1, bbox_x: The region must be four whole numbers of p"),
    ("three attributes", [ATTRIBUTION | {"attributes": ["a", "b", "c"]}], "Record 1, attributes: The field must be a"),
    ("a number for a caption", [RELATION | {"true_caption": 3}], "Record 1, true_caption: The field must be a text, n"),
    ("an empty caption", [RELATION | {"false_caption": " "}], "Record 1, negative_caption: The caption is empty."),
    ("four options", [ORDER | {"caption_options": OPTIONS[:4]}], "Record 1, caption_options: The field must be a list"),
    ("no caption", [ORDER | {"caption_options": [None, *OPTIONS[1:]]}], "Record 1, caption_options: The caption"),
    ("a number to choose", [ORDER | {"caption_options": [*OPTIONS[:4], 5]}], "Record 1, caption_options: The field"),
    ("a way out", [ORDER | {"image": "../a.jpg"}], "Record 1, image: The file name ../a.jpg leads out"),
    ("another table", b"a\tb\n1\t2\n", "The file: It lacks the columns title, filepath, neg_caption."),
    ("no python list", (TRIPLES + "0\tA.\ta.jpg\tA yak.\t[]\n").encode(), "Record 1, neg_caption: The field must be"),
    ("a call", (TRIPLES + "0\tA.\ta.jpg\tprint(1)\t[]\n").encode(), "Record 1, neg_caption: The field must be a list"),
    ("no wrong caption", (TRIPLES + "0\tA.\ta.jpg\t[]\t[]\n").encode(), "Record 1, neg_caption: The field must be a"),
]


@pytest.mark.parametrize(("content", "sentence"), [bad[1:] for bad in MALFORMED], ids=[bad[0] for bad in MALFORMED])
def test_what_is_malformed_is_named(content: Any, sentence: str) -> None:
    problem, *_ = items_of(content)
    assert isinstance(problem, RowProblem)
    assert str(problem).startswith(sentence)


@pytest.mark.django_db
def test_two_regions_of_one_photo_become_two_pictures(tmp_path: Path) -> None:
    photo = Image.new("RGB", (600, 400), "red")
    photo.paste("blue", (300, 0, 600, 400))
    photo.save(tmp_path / "7.jpg")
    file = tmp_path / "visual_genome_relation.json"
    cases = [RELATION | {"bbox_x": left, "bbox_y": 0, "bbox_w": 250, "bbox_h": 400} for left in (0, 350)]
    file.write_text(json.dumps(cases))
    project = Project.objects.create(slug="aro", name="ARO")
    for added in (2, 0):
        (summary,) = import_files(project=project, files=[file], format="aro", by=TESTS, now=NOON, images_dir=tmp_path)
        assert summary.added == added
    uses = InstanceImage.objects.select_related("image").order_by("instance__key")
    assert [(use.filename, use.image.width, use.image.height) for use in uses if use.image] == [
        ("7.jpg#xywh=0,0,250,400", 250, 400),
        ("7.jpg#xywh=350,0,250,400", 250, 400),
    ]
    assert uses[0].image_id != uses[1].image_id


@needs_real_data
def test_the_real_table_has_4839_captions_with_one_to_five_wrong_ones() -> None:
    with (REAL_DATA / "aro/valid_neg_clip.tsv").open("rb") as file:
        records = [item for item in read(file) if isinstance(item, Record)]
    assert len({record.key for record in records}) == 4839
    counts = {f"1 of {1 + n}": 0 for n in range(1, 6)}
    for record in records:
        counts[record.subtype] += 1
        assert len(record.captions) == int(record.subtype[-1])
    # Counted with Python's csv and ast alone.
    assert list(counts.values()) == [2891, 1418, 480, 47, 3]
