"""The papers' model tables (metrics.json), counted from what stands in the database after importing the real files."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from analytics.scores import Outcomes
from predictions.actions.import_predictions import ModelName, Summary, import_predictions
from predictions.errors import PredictionsRefused
from predictions.models import InstanceOutcomes, Model, Prediction
from studies.importing import Record, get_importer
from studies.importing.rows import read_table
from studies.models import Instance, Project
from tests.databases import kept
from tests.factories import NOON, TESTS, make_project
from tests.studies.real_data import REAL_DATA, needs_real_data

pytestmark = [
    needs_real_data,
    pytest.mark.once(
        on="sqlite", because="the real files' numbers are made in Python; on PostgreSQL the whole paper takes them in"
    ),
]
RESULTS = REAL_DATA / "bivlc/results"
MODELS = ("ViT-B-32", "CLIP_COCO")


def fill(project: Project, format: str, *files: Path) -> None:
    """Make the instances of real source files, without the images."""
    for file in files:
        with file.open("rb") as stream:
            records = [item for item in get_importer(format)(stream) if isinstance(item, Record)]
        Instance.objects.bulk_create(
            Instance(
                project=project,
                key=record.key,
                type=record.type,
                subtype=record.subtype,
                captions=dict(record.captions),
                original_captions=dict(record.captions),
                caption_rule="as-is-v1",
                reference=dict(record.reference),
                source_file=file.name,
                source_row=record.row,
            )
            for record in records
        )


def bring_in(project: Project, file: Path, format: str, name: str, **options: Any) -> Summary:
    return import_predictions(
        project=project, file=file, format=format, model=ModelName(name), by=TESTS, now=NOON, **options
    )


def outcomes_of(project: Project, name: str, rule: str) -> Iterator[InstanceOutcomes]:
    return Prediction.objects.about(project).outcomes(model=Model.objects.get(name=name), caption_rule=rule)


def published() -> Any:
    return json.loads((REAL_DATA / "metrics.json").read_text())


def make_bivlc() -> str:
    project = make_project("bivlc")
    fill(project, "bivlc-manifest", REAL_DATA / "bivlc/BiVLC_negative_imgs.csv")
    return project.slug


made = kept(make_bivlc)


@pytest.fixture
def project(made: str) -> Project:
    return Project.objects.get(slug=made)


@pytest.mark.parametrize("name", MODELS)
def test_bivlc_s_table_is_counted_from_the_rows(project: Project, name: str) -> None:
    summary = bring_in(project, RESULTS / f"BiVLC_{name}.csv", "bivlc-results", name)
    assert (summary.rows, summary.added) == (2933, 4 * 2933)
    rows = list(outcomes_of(project, name, "bivlc-release-v1"))
    outcomes = Outcomes(*(np.array([row[index] for row in rows], dtype=np.bool_) for index in range(4, 8)))
    paper = published()["bivlc"][name]
    assert {column: score.count for column, score in outcomes.scores().items()} == {
        column: cell["count"] for column, cell in paper["overall"].items()
    }
    by_category = outcomes.scores_by([row.type for row in rows], [row.subtype for row in rows])
    assert {f"{type}_{subtype}": scores["Group"].count for (type, subtype), scores in by_category.items()} == {
        category: cells["Group"]["count"] for category, cells in paper["by_type_subtype"].items()
    }
    # They are about the accepted instances, in the order of the release.
    with (REAL_DATA / "bivlc/accepted.csv").open("rb") as file:
        accepted = [item[1] for item in read_table(file, ("index", "release_row")) if isinstance(item, tuple)]
    expected = {row["index"]: int(row["release_row"]) + 1 for row in accepted if row["accepted"] == "true"}
    assert dict(Prediction.objects.values_list("instance__key", "source_row")) == expected


@pytest.mark.parametrize("name", MODELS)
def test_sugarcrepe_s_numbers_are_counted_from_the_rows(project: Project, name: str) -> None:
    summary = bring_in(project, RESULTS / f"SUGARCREPE_CORRECT_{name}.csv", "sugarcrepe-results", name)
    assert (summary.rows, summary.added) == (7512, 7512)
    rows = outcomes_of(project, name, "as-is-v1")
    right = Counter(f"{row.type}_{row.subtype}" for row in rows if row.ipos2t)
    assert right == {
        category: cell["correct"] for category, cell in published()["sugarcrepe"][name]["by_subtype"].items()
    }


@pytest.mark.django_db
def test_the_item_that_sugarcrepe_lacks_today_is_named_and_may_be_left_out() -> None:
    project = make_project("sugarcrepe")
    fill(project, "sugarcrepe", *sorted((REAL_DATA / "sugarcrepe").glob("*.json")))
    file = RESULTS / "SUGARCREPE_CORRECT_ViT-B-32.csv"
    with pytest.raises(PredictionsRefused) as refused:
        bring_in(project, file, "sugarcrepe-results", "CLIP")
    (problem,) = refused.value.problems
    assert "'A west 32nd sign under a korea way road sign.'" in problem
    summary = bring_in(project, file, "sugarcrepe-results", "CLIP", skip_unknown=True)
    assert (summary.added, summary.left_out) == (7511, (problem,))
    # The file has "correct" "1" for the item that is missing.
    assert Prediction.objects.filter(is_right=True).count() == published()["sugarcrepe"]["ViT-B-32"]["correct"] - 1


def test_gpt_4v_s_answers_come_file_by_file_into_one_model(project: Project) -> None:
    answers = sorted((REAL_DATA / "sugarcrepe/gpt-4v-negative-first").glob("*.json"))
    added = [bring_in(project, file, "sugarcrepe-answers", "GPT-4V").added for file in answers]
    assert sum(added) == 7512
    assert Model.objects.count() == 1
