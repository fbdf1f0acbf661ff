import json
from pathlib import Path
from typing import Any

import pytest

from studies.actions.imports.importer import import_files
from studies.importing import Note, Record, RowProblem, SourceImage, get_importer
from studies.models import InstanceImage, Project
from tests.factories import NOON, TESTS
from tests.studies.real_data import REAL_DATA, needs_real_data
from tests.studies.source_files import NamedBytes, picture_bytes

read = get_importer("rococo")
ORIGINAL = ["A man on a hill.", "A man.", "He climbs.", "Grass.", "Sky."]
ALTERED = ["A criminal on a hill .", "A criminal .", "criminal climbs .", "weapon .", "sky ."]
ITEM = {"image": "val2014/7.jpg", "caption": ORIGINAL + ALTERED}


def items_of(content: Any, name: str = "annotations/danger.json") -> list[Record | Note | RowProblem]:
    data = content if isinstance(content, bytes) else json.dumps(content).encode()
    return list(read(NamedBytes(data, name)))


def test_each_caption_becomes_a_record_with_what_was_made_of_it() -> None:
    assert items_of([ITEM]) == [
        Record(
            row=1,
            key=f"danger/7/{number}",
            captions={"caption": original, "negative_caption": altered},
            images=[
                SourceImage(role="image", filename="val2014/7.jpg"),
                SourceImage(role="mixed", filename="mix_0.9/7.jpg", optional=True),
                SourceImage(role="patched", filename="patch_0.9/7.jpg", optional=True),
            ],
            type="danger",
            # The last altered caption says the same as its original.
            subtype="unchanged" if number == 4 else "altered",
            reference={"coco": "7.jpg"},
        )
        for number, (original, altered) in enumerate(zip(ORIGINAL, ALTERED, strict=True))
    ]


def test_a_sixth_caption_has_none_that_was_made_of_it() -> None:
    *_, fifth, sixth = items_of([ITEM | {"caption": [*ORIGINAL, "A sixth.", *ALTERED]}])
    assert isinstance(fifth, Record)
    assert isinstance(sixth, Record)
    assert fifth.captions == {"caption": "Sky.", "negative_caption": "sky ."}
    assert (sixth.key, sixth.captions, sixth.subtype) == ("danger/7/5", {"caption": "A sixth."}, "unaltered")


@pytest.mark.parametrize("name", ["", "coco.json", "danger.csv", "Danger.json"])
def test_a_file_whose_name_does_not_say_its_policy_is_refused(name: str) -> None:
    (problem,) = items_of([ITEM], name)
    assert str(problem).startswith("The file: Its name ")
    assert str(problem).endswith("same_concept.json, diff_concept.json, rand_voca.json, danger.json.")


MALFORMED: list[tuple[str, Any, str]] = [
    ("no list", {"a": ITEM}, "The file: It is not a JSON list of objects."),
    ("no image", [{"caption": ORIGINAL + ALTERED}], "Record 1, image: No image is named."),
    ("a number for it", [ITEM | {"image": 7}], "Record 1, image: The field must be a text, not a number."),
    ("a way out", [ITEM | {"image": "../7.jpg"}], "Record 1, image: The file name ../7.jpg leads out"),
    ("no captions", [{"image": "7.jpg"}], "Record 1, caption: The field must be a list of texts."),
    ("a number among them", [ITEM | {"caption": [*ORIGINAL, *ALTERED[:4], 5]}], "Record 1, caption: The field must"),
    ("nine", [ITEM | {"caption": ORIGINAL + ALTERED[:4]}], "Record 1, caption: The list has 9 captions; of an image"),
    ("an empty one", [ITEM | {"caption": [*ORIGINAL, *ALTERED[:4], " "]}], "Record 1, negative_caption: The caption"),
]


@pytest.mark.parametrize(("content", "sentence"), [bad[1:] for bad in MALFORMED], ids=[bad[0] for bad in MALFORMED])
def test_what_is_malformed_is_named(content: Any, sentence: str) -> None:
    problems = [item for item in items_of(content) if isinstance(item, RowProblem)]
    assert problems
    assert str(problems[0]).startswith(sentence)


@pytest.mark.django_db
def test_mixed_images_come_along_where_they_are_there(tmp_path: Path) -> None:
    for name, colour in {"val2014/7.jpg": "red", "mix_0.9/7.jpg": "blue"}.items():
        (tmp_path / name).parent.mkdir()
        (tmp_path / name).write_bytes(picture_bytes(colour))
    file = tmp_path / "danger.json"
    file.write_text(json.dumps([ITEM]))
    project = Project.objects.create(slug="rococo", name="RoCOCO")
    rule = "retrieval-v1"
    (summary,) = import_files(
        project=project, files=[file], format="rococo", by=TESTS, now=NOON, images_dir=tmp_path, caption_rule=rule
    )
    assert summary.added == 5
    assert set(InstanceImage.objects.values_list("role", flat=True)) == {"image", "mixed"}
    first = project.instances.get(key="danger/7/0")
    # Nothing but the word tells the altered caption from its original.
    assert first.captions == {"caption": "a man on a hill", "negative_caption": "a criminal on a hill"}


@needs_real_data
@pytest.mark.parametrize(("policy", "unchanged"), [("danger", 4), ("rand_voca", 1)])
def test_the_real_files_have_25000_altered_captions(policy: str, unchanged: int) -> None:
    with (REAL_DATA / f"rococo/{policy}.json").open("rb") as file:
        records = [item for item in read(file) if isinstance(item, Record)]
    # Three of danger's equal their originals but for spaces; in both files one word beyond the thirtieth was replaced.
    subtypes = [record.subtype for record in records]
    assert len({record.key for record in records}) == len(records) == 25010
    assert [subtypes.count(subtype) for subtype in ("altered", "unchanged", "unaltered")] == [
        25000 - unchanged,
        unchanged,
        10,
    ]
