"""What was imported as ImageCoDe comes out as it was: of a project, of a study, and as a release."""

import csv
import json
from collections import Counter
from io import StringIO
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.models import Annotator, Decision
from results.actions.erasure import forget
from results.queries.studies.events import SENTENCES
from studies.actions.events import What
from studies.actions.imports.importer import import_files
from studies.actions.projects.datasets import set_dataset
from studies.models import Event, Instance, Project, Question, Study
from tests.factories import NOON, TESTS, draw_instance, make_launched, make_project, make_study
from tests.people import digest_of
from tests.removing import REMOVED
from tests.results.describing import find, two_studies, write
from tests.studies.real_data import REAL_DATA, needs_real_data

pytestmark = pytest.mark.django_db

IMAGECODE = REAL_DATA / "imagecode"
TRAIN = {
    "video-storytelling-b_10": {"7": "trailing space ", "0": "T", "3": 'A "quote", …'},
    "open-images-a_2": {"5": "T"},
    "MSR-VTT-c_1": {},
}
# The directory of the static set static-a in what leaves.
NAMED = "static-open-images--static-a"
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


def test_the_published_pairs_come_out_as_they_were_published(tmp_path: Path) -> None:
    train = written(tmp_path, "train_data.json", TRAIN)
    pairs = [
        {"directory": "video-storytelling-b_10", "pos_idx": 7, "neg_idx": 9, "caption": "trailing space "},
        {"directory": "video-storytelling-b_10", "pos_idx": 0, "neg_idx": 2, "caption": "T"},
        {"directory": "video-storytelling-b_10", "pos_idx": 3, "neg_idx": 5, "caption": 'A "quote", …'},
        {"directory": "open-images-a_2", "pos_idx": 5, "neg_idx": 3, "caption": "T"},
    ]
    for number in range(2):
        # Either side, so that a draw cannot have made both.
        pairs[0]["neg_idx"], pairs[2]["neg_idx"], pairs[3]["neg_idx"] = [(5, 1, 7), (9, 5, 3)][number]
        published = tmp_path / f"train_simple_{number}.json"
        published.write_text(json.dumps(pairs, indent=4), encoding="utf-8")
        imported(f"deer-{number}", published, train)
        made = exported(tmp_path / f"out-{number}", f"deer-{number}")
        assert (made / "train_simple.json").read_bytes() == published.read_bytes()


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
    """Launch a study over two described instances, which it accepts; a third, described too, comes after that."""
    project = make_project("deer")
    for number in (1, 2, 3):
        instance = draw_instance(project, number)
        captions = instance.captions | {"description_1": f"Text {number}. "}
        Instance.objects.filter(pk=instance.pk).update(
            captions=captions, split="train", reference={"targets": [number]}
        )
        if number == 2:
            study = make_launched(make_study(project))
    Decision.objects.filter(study=study).update(state="accepted", winner="candidate-0")


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


def released(study: str, folder: Path) -> Path:
    options = {"study": study, "name": "v1", "format": "imagecode", "out": folder, "verbosity": 0, "stdout": StringIO()}
    call_command("release", "sets", **options)
    return folder / f"{study}-v1"


def task_of(text: str) -> str:
    asked = Question.objects.get(source__text=text)
    return f"{asked.instance.key}/response-{asked.source_id}"


@pytest.fixture
def accepted(describing: None) -> Study:
    """Ann's and emil's descriptions of one image are found by ben and cleo; ann's of another by ben and dora."""
    tell, search = two_studies("static-a", "static-b")
    more, search_more = two_studies(name="-more")
    write(tell, "ann", {"static-a one": "By ann.", "static-b one": "Ann's other."})
    write(more, "emil", {"static-a one": "By emil."})
    for person in ("ben", "cleo"):
        find(search_more, person, {"By emil.": 1})
    find(search, "ben", {"By ann.": 1, "Ann's other.": 1})
    find(search, "cleo", {"By ann.": 1})
    find(search, "dora", {"Ann's other.": 1})
    return search


def test_the_dataset_leaves_with_the_project_and_without_a_dataset_everything_that_was_accepted(
    accepted: Study, tmp_path: Path
) -> None:
    made = exported(tmp_path / "dataset", "sets")
    assert in_order(made / "train_data.json")[0] == (NAMED, [("0", "By ann.")])
    assert not (made / "train_further.json").exists()
    set_dataset(project=accepted.project, studies=[], by=TESTS, now=REMOVED)
    made = exported(tmp_path / "all", "sets")
    assert in_order(made / "train_data.json") == [
        (NAMED, [("0", "By ann.")]),
        ("static-open-images--static-b", [("0", "Ann's other.")]),
    ]
    assert in_order(made / "train_further.json") == [(NAMED, [("0", ["By emil."])])]


def test_what_is_asked_about_each_description_has_a_name_of_its_own(accepted: Study, tmp_path: Path) -> None:
    call_command("export", "sets", study="find", format="responses", out=tmp_path, stdout=StringIO(), stderr=StringIO())
    with (tmp_path / "find-responses.csv").open(encoding="utf-8", newline="") as file:
        tasks = Counter(row["task"] for row in csv.DictReader(file))
    assert tasks == {task_of("By ann."): 2, task_of("Ann's other."): 2}
    # The file of those who wrote says which answer that is.
    call_command("export", "sets", study="tell", format="responses", out=tmp_path, stdout=StringIO(), stderr=StringIO())
    with (tmp_path / "tell-responses.csv").open(encoding="utf-8", newline="") as file:
        written_by_ann = {json.loads(row["answer"])["text"]: row["response"] for row in csv.DictReader(file)}
    assert task_of("By ann.").endswith(f"/{written_by_ann['By ann.']}")


def test_what_somebody_wrote_who_is_forgotten_leaves_frozen_rows_and_what_others_found_of_it_is_undone(
    accepted: Study, tmp_path: Path
) -> None:
    assert in_order(released("find", tmp_path / "before") / "train_data.json")
    ann = Annotator.objects.get(id_digest=digest_of("ann"))
    forget(annotator=ann, project=accepted.project, by=TESTS, now=REMOVED)
    again = released("find", tmp_path / "after")
    assert json.loads((again / "data.json").read_bytes()) == {}
    assert not [file for file in again.rglob("*") if file.is_file() and b"By ann" in file.read_bytes()]
    with (again / "annotations" / "decisions.csv").open(encoding="utf-8", newline="") as file:
        outcomes = {row["task"]: row["outcome"] for row in csv.DictReader(file) if row["study"] == "find"}
    assert set(outcomes.values()) == {"undone"}


def test_a_description_whose_retriever_is_forgotten_is_accepted_no_more(accepted: Study, tmp_path: Path) -> None:
    assert len(in_order(released("find", tmp_path / "before") / "train_data.json")) == 2
    dora = Annotator.objects.get(id_digest=digest_of("dora"))
    forget(annotator=dora, project=accepted.project, by=TESTS, now=REMOVED)
    again = released("find", tmp_path / "after")
    # Dora was one of the two who found ann's other description; the first is found by ben and cleo.
    assert in_order(again / "train_data.json") == [(NAMED, [("0", "By ann.")])]


def test_descriptions_that_were_only_imported_are_reported(tmp_path: Path) -> None:
    imported("deer", written(tmp_path, "train_data.json", TRAIN))
    call_command("report", "deer", format="json", out=tmp_path / "out", stdout=StringIO())
    tables = json.loads((tmp_path / "out" / "report.json").read_text(encoding="utf-8"))["tables"]
    (table,) = [table for table in tables if table["name"] == "described-sets"]
    # Split, type, sets, texts: of the video set three, of the static one "T".
    assert [list(row.values())[:4] for row in table["rows"]] == [
        ["train", "all", 2, 4],
        ["train", "static", 1, 1],
        ["train", "video", 1, 3],
    ]
