"""Fourteen image sets, described and retrieved with rejections: every page and file counts the same accepted items.

Two images of each set are described, 28 items. The first descriptions of six images, one of set-00 to set-05 each, are
not found. Second descriptions are, but for that of set-05, whose third one is not found either. So 27 items in 14
sets are accepted and one is rejected; of 35 descriptions 27 are accepted and 8 rejected.
"""

import csv
import json
import re
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.contrib.auth.models import User
from django.core.management import call_command

from analytics.outcomes import Outcome
from annotation.models import Decision, Response
from annotation.models.outcomes import count_items, instances_with
from studies.actions.projects.datasets import dataset_studies, set_dataset
from studies.models import Project, Question, Study
from tests.databases import kept
from tests.factories import NOON, TESTS, make_person, make_project, store_missing_files
from tests.pages import signed_in
from tests.results.describing import find, launched, make_set, write
from tests.workspace.api.asking import API, script_of

SETS = [f"set-{number:02}" for number in range(14)]
NOT_FOUND_AT_FIRST = SETS[:6]
NEVER_FOUND = "set-05"
ACCEPTED = 27


def text_of(key: str, variant: str, attempt: int) -> str:
    return f"Attempt {attempt} at {variant} of {key}, written at length."


def is_found(key: str, variant: str, attempt: int) -> bool:
    if variant == "target-2" or key not in NOT_FOUND_AT_FIRST:
        return True
    return attempt == 2 and key != NEVER_FOUND


def fill() -> str:
    project = make_project("sets", members=[make_person("researcher")])
    for key in SETS:
        make_set(project, key, split="valid")
    store_missing_files()
    describe = launched(
        project,
        study="describe",
        kind="describe",
        purpose="filter",
        dataset="false",
        rule="described-v1",
        answers=1,
        max_answers=3,
        ask="{targets: 2}",
    )
    retrieve = launched(
        project,
        study="retrieve",
        kind="retrieve",
        purpose="filter",
        rule="retrieved-2-of-3-v1",
        answers=2,
        max_answers=3,
        instances="{from: describe}",
    )
    for attempt, writer in enumerate(["ann", "bea", "cleo"], start=1):
        waiting = [(key, "target-1") for key in NOT_FOUND_AT_FIRST] if attempt == 2 else [(NEVER_FOUND, "target-1")]
        if attempt == 1:
            waiting = [(key, variant) for key in SETS for variant in ("target-1", "target-2")]
        write(describe, writer, {f"{key} {variant}": text_of(key, variant, attempt) for key, variant in waiting})
        places = {
            text_of(key, variant, attempt): place_for(describe, key, variant, found=is_found(key, variant, attempt))
            for key, variant in waiting
        }
        for person in ("dora", "eve"):
            find(retrieve, person, places)
    return project.slug


filled = kept(fill)


@pytest.fixture
def project(filled: str) -> Project:
    return Project.objects.get(slug=filled)


def place_for(describe: Study, key: str, variant: str, *, found: bool) -> int:
    """Return the place of the described image, from 1, or that of another one."""
    place = int(Question.objects.get(study=describe, instance__key=key, variant=variant).content["target"])
    return place + 1 if found else (place + 1) % 10 + 1


def retrieve_of(project: Project) -> Study:
    return project.studies.get(slug="retrieve")


def exported(project: Project, format: str, folder: Path, study: str = "retrieve") -> Path:
    call_command("export", project.slug, study=study, format=format, out=folder)
    (path,) = (each for each in folder.iterdir() if each.name.startswith(study))
    return path


def test_what_was_written_and_found_is_what_this_file_says(project: Project) -> None:
    states = list(Decision.objects.filter(study__slug="retrieve").values_list("state", flat=True))
    assert (states.count("accepted"), states.count("rejected"), len(states)) == (27, 8, 35)
    assert Response.objects.counted_in(project.studies.get(slug="describe")).count() == 35


@pytest.mark.parametrize("study", ["describe", "retrieve"])
def test_the_database_counts_items(project: Project, study: str) -> None:
    asking = project.studies.get(slug=study)
    assert count_items(asking) == {Outcome.ACCEPTED: ACCEPTED, Outcome.REJECTED: 1}
    assert instances_with(Outcome.ACCEPTED, asking).count() == 14
    assert [each.key for each in instances_with(Outcome.REJECTED, asking)] == [NEVER_FOUND]


@pytest.mark.parametrize("study", ["describe", "retrieve"])
def test_every_export_of_accepted_items_has_a_row_for_each(project: Project, study: str, tmp_path: Path) -> None:
    lines = exported(project, "jsonl", tmp_path / "jsonl", study).read_text().splitlines()
    rows = [json.loads(line) for line in lines]
    assert len(rows) == len({(row["key"], row["item"]) for row in rows}) == ACCEPTED
    with exported(project, "csv", tmp_path / "csv", study).open(newline="") as file:
        assert len(list(csv.DictReader(file))) == ACCEPTED
    assert len(pd.read_parquet(exported(project, "parquet", tmp_path / "parquet", study))) == ACCEPTED
    sets = json.loads((exported(project, "imagecode", tmp_path / "imagecode", study) / "valid_data.json").read_text())
    assert (len(sets), sum(map(len, sets.values()))) == (14, ACCEPTED)


def test_an_item_leaves_with_its_image_and_its_latest_description(project: Project, tmp_path: Path) -> None:
    rows = [json.loads(line) for line in exported(project, "jsonl", tmp_path).read_text().splitlines()]
    place = place_for(project.studies.get(slug="describe"), "set-00", "target-1", found=True)
    (row,) = (row for row in rows if (row["key"], row["item"]) == ("set-00", f"image_{place}"))
    assert row["caption"] == text_of("set-00", "target-1", 2)
    assert row["image"] == f"set-00/{place - 1}.png"
    assert [question["rule"] for question in row["questions"]] == ["retrieved-2-of-3-v1"]
    assert not [row for row in rows if row["caption"] == text_of("set-00", "target-1", 1)]


def test_pages_reports_and_the_api_count_what_is_exported(project: Project, tmp_path: Path) -> None:
    assert [study.slug for study in dataset_studies(project)] == ["retrieve"]
    call_command("report", project.slug, format="json", out=tmp_path)
    report = json.loads((tmp_path / "report.json").read_text())
    tables = {table["name"]: table for table in report["tables"]}
    assert whole(tables["dataset"])["Items"] == ACCEPTED
    funnel = [row for row in tables["funnel"]["rows"] if (row["Study"], row["Type"]) == ("retrieve", "all")]
    asked = ("Instances asked", "Items asked", "Accepted", "Rejected")
    assert [[row[name] for name in asked] for row in funnel] == [[14, 28, ACCEPTED, 1]]
    client = signed_in(User.objects.get())
    page = " ".join(re.sub(r"<[^>]+>", " ", client.get("/projects/sets/").content.decode()).split())
    assert "28 items asked" in page
    assert "27 items accepted" in page
    monitor = " ".join(re.sub(r"<[^>]+>", " ", client.get("/studies/sets/retrieve/").content.decode()).split())
    assert "Accepted items 27" in monitor
    told = script_of(User.objects.get()).get(f"{API}projects/sets/studies/retrieve/progress/").json()
    assert told["items"] == {"accepted": ACCEPTED, "rejected": 1}


def test_a_release_and_its_card_count_items(project: Project, tmp_path: Path) -> None:
    call_command("release", "sets", study="retrieve", name="v1", format="jsonl", out=tmp_path)
    (release,) = project.releases.all()
    assert (release.instances, release.dossier["size"]) == (ACCEPTED, ACCEPTED)
    card = (tmp_path / "retrieve-v1" / "README.md").read_text()
    assert "27 items of the project" in card
    assert "n<1K" in card


def test_a_dataset_of_two_studies_leaves_in_one_release_with_its_splits(project: Project, tmp_path: Path) -> None:
    """The sets of the split train have a pipeline of their own, of which one description is found."""
    make_set(project, "train-00", split="train")
    train = {"kind": "describe", "purpose": "filter", "dataset": "false", "rule": "described-v1", "answers": 1}
    selected = "{split: [train]}"
    describe = launched(project, study="describe-train", ask="{targets: 1}", instances=selected, **train)
    retrieve = launched(
        project,
        study="retrieve-train",
        kind="retrieve",
        purpose="filter",
        dataset="true",
        rule="retrieved-1-of-1-v1",
        answers=1,
        instances="{from: describe-train}",
    )
    # The others were declared for all sets, so that the new study would take their place.
    set_dataset(project=project, studies=[retrieve_of(project), retrieve], by=TESTS, now=NOON)
    text = text_of("train-00", "target-1", 1)
    write(describe, "fay", {"train-00 target-1": text})
    find(retrieve, "gus", {text: place_for(describe, "train-00", "target-1", found=True)})
    call_command("release", "sets", name="v1", format="imagecode", out=tmp_path)
    folder = tmp_path / "sets-v1"
    sizes = {
        split: sum(map(len, json.loads((folder / f"{split}_data.json").read_text()).values()))
        for split in ("train", "valid")
    }
    assert sizes == {"train": 1, "valid": ACCEPTED}
    release = project.releases.get()
    assert [study.slug for study in release.studies()] == ["retrieve", "retrieve-train"]
    assert (release.instances, release.dossier["size"]) == (ACCEPTED + 1, ACCEPTED + 1)
    assert "that people accepted in the studies retrieve and retrieve-train" in (folder / "README.md").read_text()
    # It stays what it is when one of its studies leaves the dataset.
    set_dataset(project=project, studies=[retrieve], by=TESTS, now=NOON)
    call_command("release", "sets", name="v1", format="imagecode", out=tmp_path / "again")
    for name in ("train_data.json", "valid_data.json"):
        assert (tmp_path / "again" / "sets-v1" / name).read_bytes() == (folder / name).read_bytes()


def test_an_item_that_two_studies_accepted_is_in_the_dataset_once(project: Project, tmp_path: Path) -> None:
    again = launched(
        project,
        study="again",
        kind="retrieve",
        purpose="filter",
        dataset="false",
        rule="retrieved-1-of-1-v1",
        answers=1,
        instances="{from: describe, keys: [set-13]}",
    )
    describe = project.studies.get(slug="describe")
    for variant in ("target-1", "target-2"):
        find(
            again, f"hal-{variant}", {text_of("set-13", variant, 1): place_for(describe, "set-13", variant, found=True)}
        )
    assert count_items(again) == {Outcome.ACCEPTED: 2}
    set_dataset(project=project, studies=[retrieve_of(project), again], by=TESTS, now=NOON)
    call_command("release", "sets", name="v1", format="jsonl", out=tmp_path)
    rows = [json.loads(line) for line in (tmp_path / "sets-v1" / "instances.jsonl").read_text().splitlines()]
    assert len(rows) == len({(row["key"], row["item"]) for row in rows}) == ACCEPTED
    assert {row["study"] for row in rows} == {"retrieve"}


def test_the_explorer_lists_the_sets_of_accepted_and_of_rejected_items(project: Project) -> None:
    client = signed_in(User.objects.get())
    for state, keys in (("accepted", set(SETS)), ("rejected", {NEVER_FOUND})):
        found = client.get(f"/projects/sets/instances/?study=retrieve&state={state}")
        page = found.content.decode()
        assert {key for key in SETS if f">{key}<" in page} == keys
        # A set with an accepted and a rejected item counts under both.
        counts = {value.text: value.count for value in found.context["facets"][0].values}
        assert (counts["Accepted"], counts["Rejected"]) == (len(SETS), 1)


def whole(table: dict[str, Any]) -> dict[str, Any]:
    rows: list[dict[str, Any]] = table["rows"]
    (row,) = (row for row in rows if (row["Type"], row["Subtype"]) == ("all", "all"))
    return row
