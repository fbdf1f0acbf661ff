"""Of every kind, every export of accepted items has a row for each, and everything that counts them counts the same.

Three instances. What the database holds of their questions is set by hand: all about the first are accepted, of those
about the second one is rejected, and nothing is decided about the third.
"""

import json
from io import StringIO
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from django.core.management import call_command
from django.core.management.base import CommandError

from analytics.outcomes import Outcome
from annotation.models import Decision
from annotation.models.outcomes import accepted_items, count_items, instances_with
from results.actions.releases import freeze_release, prepare_release
from results.exporting import FORMATS, get_writer
from results.exporting.dataset_card import About
from results.queries.exports.empty_formats import empty_formats
from results.queries.exports.export_rows import count_rows, exported_rows
from results.queries.reports.report_rows import project_facts
from results.queries.studies.overview import count_categories
from results.queries.studies.pipeline import funnel
from results.reports.sections.funnel import accepted_items_of, kept_items
from studies.actions.projects.datasets import set_dataset
from studies.kinds import get_kind
from studies.models import Study, StudyState
from tests.contracts.stage import NAMES, launched
from tests.factories import NOON, TESTS

OF_INSTANCES = [name for name in FORMATS if get_writer(name).rows == "instances"]
pytestmark = pytest.mark.django_db


@pytest.fixture(params=NAMES)
def study(request: pytest.FixtureRequest) -> Study:
    """A filter of each kind, with what the head of this file says."""
    study = launched(request.param, purpose="filter")
    study.refresh_from_db()
    of_first, of_second = (Decision.objects.filter(study=study, question__instance=pk) for pk in instances(study)[:2])
    for decision in (*of_first, *of_second):
        winner = next(iter(get_kind(decision.question.kind).categories(decision.question.content)), "")
        Decision.objects.filter(pk=decision.pk).update(state="accepted", winner=winner)
    Decision.objects.filter(pk=of_second.order_by("pk")[0].pk).update(state="rejected", winner="")
    set_dataset(project=study.project, studies=[study], by=TESTS, now=NOON)
    return study


def instances(study: Study) -> list[int]:
    return sorted({question.instance_id for question in study.questions.all()})


def expected(study: Study) -> int:
    """Return how many items are accepted: the first instance, or all its parts and those of the second but one."""
    first, second = instances(study)[:2]
    if not study.design.asks_about_parts:
        return 1
    return study.questions.filter(instance__in=[first, second]).count() - 1


def test_everything_counts_the_same_items_and_every_export_has_a_row_for_each(study: Study, tmp_path: Path) -> None:
    n = expected(study)
    assert count_items(study)[Outcome.ACCEPTED] == accepted_items(study).count() == n
    facts = project_facts(study.project)
    assert len(kept_items(facts)) == len(accepted_items_of(facts.studies[0])) == n
    assert funnel([study], count_categories(study.project)).steps[0].cell.counts.accepted == n
    accepted = set(instances_with(Outcome.ACCEPTED, study).values_list("pk", flat=True))
    assert accepted == {instance for instance, _ in kept_items(facts)}
    assert len(list(exported_rows("instances", study))) == count_rows("instances", study) == n
    empty = empty_formats([study])
    read = {format: rows_in(export(study, format, tmp_path / format)) for format in OF_INSTANCES if format not in empty}
    assert read == {format: None if rows is None else n for format, rows in read.items()}
    # A format of pairs holds no item without a pair, and says so.
    assert {*empty} <= {format for format in OF_INSTANCES if get_writer(format).needs}
    for format in empty:
        with pytest.raises(CommandError, match="this format would be empty"):
            export(study, format, tmp_path / format)


def export(study: Study, format: str, folder: Path) -> Path:
    call_command("export", study.project.slug, study=study.slug, format=format, out=folder, stdout=StringIO())
    return next(path for path in folder.iterdir() if path.name != "croissant.json")


def test_a_release_has_a_row_for_each(study: Study) -> None:
    Study.objects.filter(pk=study.pk).update(state=StudyState.CLOSED, closed_at=NOON)
    release, _ = prepare_release(study=study, about=About(release="v1"), by=TESTS, now=NOON)
    freeze_release(release=release, now=NOON)
    assert (release.instances, release.dossier["size"]) == (expected(study), expected(study))


def rows_in(path: Path) -> int | None:
    """Return how many items a file or folder holds, None for what holds questions or pictures of theirs."""
    readers: dict[str, Any] = {".jsonl": lambda: len([*map(json.loads, path.read_text("utf-8").splitlines())])}
    readers |= {".csv": lambda: len(pd.read_csv(path)), ".parquet": lambda: len(pd.read_parquet(path))}
    if path.name.endswith("-hf"):
        return sum(len(pd.read_parquet(shard)) for shard in (path / "data").glob("*.parquet"))
    return readers[path.suffix]() if path.suffix in readers else None
