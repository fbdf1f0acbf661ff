"""What was imported as ImageCoDe comes out as it was: of a project, of a study, and as a release."""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from results.queries.events import SENTENCES
from studies.actions.events import What
from studies.actions.importing import import_files
from studies.models import Event, Instance, Project
from tests.factories import NOON, TESTS, draw_instance, make_launched, make_project, make_study
from tests.studies.real_data import REAL_DATA, needs_real_data

pytestmark = pytest.mark.django_db

IMAGECODE = REAL_DATA / "imagecode"
TRAIN = {
    "video-storytelling-b_10": {"7": "trailing space ", "0": "T", "3": 'A "quote", …'},
    "open-images-a_2": {"5": "T"},
    "MSR-VTT-c_1": {},
}
TEST = {"YouCook-z": ["The same text.", "Another.", "The same text."], "open-images-y": ["One."]}


def written(folder: Path, name: str, content: Any) -> Path:
    file = folder / name
    file.write_text(json.dumps(content), encoding="utf-8")
    return file


def imported(slug: str, *files: Path) -> Project:
    project = Project.objects.create(slug=slug, name=slug)
    import_files(project=project, files=files, format="imagecode", by=TESTS, now=NOON, images_later=True)
    return project


def exported(folder: Path, project: str, **options: Any) -> Path:
    call_command("export", project, format="imagecode", out=folder, stdout=StringIO(), stderr=StringIO(), **options)
    (made,) = folder.iterdir()
    return made


def in_order(file: Path) -> Any:
    """Return JSON with objects as lists of their entries, so that their order counts."""
    return json.loads(file.read_text(encoding="utf-8"), object_pairs_hook=list)


def test_a_project_that_has_launched_nothing_gives_its_descriptions_back(tmp_path: Path) -> None:
    train, test = written(tmp_path, "train_data.json", TRAIN), written(tmp_path, "test_data_unlabeled.json", TEST)
    authors = written(tmp_path, "annotator_split_train.json", {"open-images-a_2": {"5": "train_worker"}})
    imported("deer", train, authors, test)
    made = exported(tmp_path / "out", "deer")
    assert made.name == "deer-imagecode"
    # A set without descriptions has nothing to say in a file of them.
    assert in_order(made / "train_data.json") == [entry for entry in in_order(train) if entry[1]]
    assert in_order(made / "test_data_unlabeled.json") == in_order(test)
    assert in_order(made / "annotator_split_train.json") == in_order(authors)
    assert sorted(path.name for path in made.iterdir()) == [
        *("README.md", "annotator_split_train.json", "croissant.json", "test_data_unlabeled.json"),
        *("train_data.json", "train_simple.json"),
    ]
    event = Event.objects.get(what="export written")
    assert (event.study, event.details) == (None, {"format": "imagecode", "rows": 8})


def test_events_tell_what_companions_brought_and_what_left(tmp_path: Path) -> None:
    train = written(tmp_path, "train_data.json", TRAIN)
    authors = written(tmp_path, "authors.json", {"open-images-a_2": {"5": "train_worker"}})
    project = imported("deer", train, authors)
    exported(tmp_path / "out", "deer")
    told = [SENTENCES[What(event.what)]("", event.details) for event in Event.objects.filter(project=project)]
    assert set(told) == {
        "imported 3 instances from train_data.json, notes on 1 description from authors.json",
        "exported the whole project as imagecode, 4 rows",
    }


def test_descriptions_leave_as_the_caption_rule_made_them(tmp_path: Path) -> None:
    project = Project.objects.create(slug="deer", name="Deer")
    file = written(tmp_path, "train_data.json", {"open-images-a": {"4": " a deer  rests"}})
    import_files(
        project=project,
        files=[file],
        format="imagecode",
        by=TESTS,
        now=NOON,
        images_later=True,
        caption_rule="keep-case-v1",
    )
    made = exported(tmp_path / "out", "deer")
    assert in_order(made / "train_data.json") == [("open-images-a", [("4", "A deer rests.")])]


def study_about_two_sets() -> None:
    """Launch a study over two described instances; a third, described too, comes after that."""
    project = make_project("deer")
    for number in (1, 2, 3):
        instance = draw_instance(project, number)
        captions = instance.captions | {"description_1": f"Text {number}. "}
        Instance.objects.filter(pk=instance.pk).update(
            captions=captions, split="train", reference={"targets": [number]}
        )
        if number == 2:
            make_launched(make_study(project))


def test_a_study_gives_out_only_what_it_asks_about_and_so_does_its_release(tmp_path: Path) -> None:
    study_about_two_sets()
    slug = Project.objects.get().studies.get().slug
    made = exported(tmp_path / "out", "deer", study=slug)
    assert [entry[1] for entry in in_order(made / "train_data.json")] == [[("1", "Text 1. ")], [("2", "Text 2. ")]]
    release = tmp_path / "releases"
    call_command(
        "release", "deer", study=slug, name="v1", format="imagecode", out=release, verbosity=0, stdout=StringIO()
    )
    assert in_order(release / f"{slug}-v1" / "train_data.json") == in_order(made / "train_data.json")
    # What is frozen stays, whatever becomes of the project.
    Instance.objects.update(captions={})
    again = tmp_path / "again"
    call_command(
        "release", "deer", study=slug, name="v1", format="imagecode", out=again, verbosity=0, stdout=StringIO()
    )
    frozen = (release / f"{slug}-v1" / "train_data.json").read_bytes()
    assert (again / f"{slug}-v1" / "train_data.json").read_bytes() == frozen


@needs_real_data
def test_the_real_validation_split_comes_out_as_it_went_in(tmp_path: Path) -> None:
    names = ("valid_data.json", "annotator_split_valid.json", "manual_annotation_valid.yaml")
    imported("imagecode", *(IMAGECODE / name for name in names))
    made = exported(tmp_path / "out", "imagecode")
    assert (made / "valid_data.json").read_bytes() == (IMAGECODE / "valid_data.json").read_bytes()
    assert in_order(made / "annotator_split_valid.json") == in_order(IMAGECODE / "annotator_split_valid.json")
    assert len(json.loads((made / "valid_simple.json").read_bytes())) == 2302
