import json
from pathlib import Path

import pytest
import time_machine
from django.core.management import call_command
from django.core.management.base import CommandError

from annotation.models import Annotator
from results.reports.formats import FORMATS
from tests.factories import NOON, make_project
from tests.results.queries.test_report_rows import make_whole_pipeline

pytestmark = pytest.mark.django_db


def test_the_report_is_printed_as_markdown(capsys: pytest.CaptureFixture[str]) -> None:
    make_whole_pipeline()
    call_command("report", "vases")
    assert "# Report of Vases" in capsys.readouterr().out


@pytest.mark.parametrize("format", FORMATS)
def test_every_format_is_written_twice_the_same_and_names_nobody(format: str, tmp_path: Path) -> None:
    make_whole_pipeline()
    written = []
    for name in ("one", "two"):
        with time_machine.travel(NOON, tick=False):
            call_command("report", "vases", "--format", format, "--out", str(tmp_path / name))
        written.append({path.name: path.read_bytes() for path in (tmp_path / name).iterdir()})
    # The library that writes PDF numbers the fonts in it in any order.
    assert all(content == written[1][file] for file, content in written[0].items() if not file.endswith(".pdf"))
    assert [len(content) for content in written[0].values()] == [len(content) for content in written[1].values()]
    assert f"report.{format}" in written[0]
    people = [each.provider_id for each in Annotator.objects.all()]
    assert len(people) == 4
    assert not [
        who
        for who in people
        for text in written[0].values()
        if f'"{who}"'.encode() in text or f" {who} ".encode() in text
    ]


def test_json_is_read_by_programs(tmp_path: Path) -> None:
    make_whole_pipeline()
    call_command("report", "vases", "--format", "json", "--out", str(tmp_path))
    tables = json.loads((tmp_path / "report.json").read_text(encoding="utf-8"))["tables"]
    assert {"funnel", "pairs", "scores", "cost"} <= {table["name"] for table in tables}


def test_a_project_without_a_launched_study_gets_a_sentence() -> None:
    make_project()
    with pytest.raises(CommandError, match="no study of vases has been launched, no model has answered"):
        call_command("report", "vases")


def test_an_unknown_project_gets_a_sentence() -> None:
    make_project()
    with pytest.raises(CommandError, match=r"There is no project called vase\. The projects are: vases\."):
        call_command("report", "vase")
