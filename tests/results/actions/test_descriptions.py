"""The description beside exported tables: of every table in the folder, and read by it with the catalogue's library."""

import json
from pathlib import Path
from typing import Any

import pytest
from django.core.management import call_command

from annotation.models import Session
from studies.models import Project
from tests.databases import kept
from tests.factories import make_instance, make_launched, make_project, make_study
from tests.results.actions.test_image_exports import store_pictures
from tests.results.actions.test_releases import described, read_records, records
from tests.results.queries.test_report_rows import make_whole_pipeline


def fill() -> str:
    return make_whole_pipeline().slug


filled = kept(fill)


@pytest.fixture
def pipeline(filled: str) -> Project:
    return Project.objects.get(slug=filled)


def export(folder: Path, format: str, project: str = "vases", **options: Any) -> None:
    call_command("export", project, format=format, out=folder, verbosity=0, **options)


def record_sets(folder: Path) -> list[str]:
    content = json.loads((folder / "croissant.json").read_text(encoding="utf-8"))
    return [found["name"] for found in content["recordSet"]]


def counts(folder: Path) -> dict[str, int]:
    """Return how many records the library finds in each record set."""
    dataset = described(folder)
    return {name: len(read_records(dataset, name)) for name in record_sets(folder)}


def test_each_study_and_format_has_a_record_set_of_its_own(pipeline: Project, tmp_path: Path) -> None:
    for format in ("jsonl", "parquet", "responses", "decisions"):
        export(tmp_path, format)
    # Of six candidates step 3 accepted five and step 4 four; two people answered six, five once, and one person eight.
    expected = {"best-vase": (5, 12, 6), "step-4": (4, 5, 5), "baseline": (0, 8, 8)}
    assert counts(tmp_path) == {
        name: n
        for study, (accepted, answers, questions) in expected.items()
        for name, n in {
            f"{study}-instances-jsonl": accepted,
            f"{study}-instances-parquet": accepted,
            f"{study}-responses-csv": answers,
            f"{study}-decisions-csv": questions,
        }.items()
    }
    assert not described(tmp_path).metadata.ctx.issues.errors


def test_the_records_of_a_set_are_those_of_its_study(pipeline: Project, tmp_path: Path) -> None:
    export(tmp_path, "responses")
    for study in ("best-vase", "step-4", "baseline"):
        found = records(tmp_path, f"{study}-responses-csv")
        assert found
        assert {record["study"] for record in found} == {study.encode()}


def test_a_table_that_is_gone_or_was_changed_is_described_as_it_is(pipeline: Project, tmp_path: Path) -> None:
    export(tmp_path, "jsonl")
    export(tmp_path, "csv")
    (tmp_path / "best-vase-instances.csv").unlink()
    changed = tmp_path / "step-4-instances.csv"
    changed.write_text("".join(changed.read_text(encoding="utf-8").splitlines(keepends=True)[:3]), encoding="utf-8")
    export(tmp_path, "jsonl", study="step-4")
    assert counts(tmp_path) == {
        "baseline-instances-csv": 0,
        "baseline-instances-jsonl": 0,
        "best-vase-instances-jsonl": 5,
        "step-4-instances-csv": 2,
        "step-4-instances-jsonl": 4,
    }


def test_exports_of_two_projects_into_one_folder_stay_described(pipeline: Project, tmp_path: Path) -> None:
    maps = make_project("maps")
    make_instance(maps, "map-1")
    make_launched(make_study(maps, "other-step"))
    export(tmp_path, "decisions", study="step-4")
    export(tmp_path, "decisions", project="maps")
    assert counts(tmp_path) == {"other-step-decisions-csv": 1, "step-4-decisions-csv": 5}


@pytest.mark.parametrize("before", ["not JSON", "[]", '{"distribution": [{}], "recordSet": [{}]}'])
def test_a_description_that_is_none_is_written_anew(before: str, pipeline: Project, tmp_path: Path) -> None:
    (tmp_path / "croissant.json").write_text(before, encoding="utf-8")
    export(tmp_path, "jsonl", study="step-4")
    assert record_sets(tmp_path) == ["step-4-instances-jsonl"]


def test_the_same_tables_have_the_same_description(pipeline: Project, tmp_path: Path) -> None:
    export(tmp_path, "jsonl")
    first = (tmp_path / "croissant.json").read_bytes()
    export(tmp_path, "jsonl")
    assert (tmp_path / "croissant.json").read_bytes() == first


def test_the_description_says_when_a_program_answered(pipeline: Project, tmp_path: Path) -> None:
    Session.objects.filter(study__slug="best-vase").update(provider_study_id="simulation-1")
    export(tmp_path, "responses")
    content = json.loads((tmp_path / "croissant.json").read_text(encoding="utf-8"))
    assert "Simulated: 2 of 2 annotators of best-vase." in content["description"]
    assert any("Study best-vase (a filter, which accepts" in line for line in content["rai:dataAnnotationProtocol"])


def test_a_folder_with_images_describes_itself(pipeline: Project, tmp_path: Path) -> None:
    store_pictures()
    export(tmp_path, "hf", study="step-4")
    assert not (tmp_path / "croissant.json").exists()
    assert len(records(tmp_path / "step-4-hf", "instances")) == 4
