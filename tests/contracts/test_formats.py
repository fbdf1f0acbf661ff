"""What holds for every format of its registry, old and new: of exports, reports, imports and predictions."""

import io
import itertools
import json
from pathlib import Path
from typing import Any

import pytest
from django.core.files.storage import default_storage
from django.core.management import CommandError, call_command
from django.test import Client

from annotation.models import Session
from evaluation.result_files import ResultsFileError
from predictions.importing import FORMATS as PREDICTIONS
from predictions.importing import Row, get_reader
from results.actions.exports import make_export, request_export, write_export
from results.actions.pseudonyms import name_annotators
from results.actions.releases import RELEASE_FORMATS
from results.exporting import FORMATS as EXPORTS
from results.exporting import get_writer
from results.reports.base import Card, Chart, Column, Point, Report, Series, Table, Undefined
from results.reports.charts import Drawing
from results.reports.formats import FORMATS as REPORTS
from results.reports.formats import get_files
from studies.importing import IMPORTERS, Note, Record, RowProblem, describe_format, format_title, get_importer
from studies.models import Instance, Study
from tests.contracts.stage import PEOPLE, answered, launched
from tests.databases import kept
from tests.factories import NOON, make_model, make_person, make_prediction

every_export = pytest.mark.parametrize("format", EXPORTS)
SORTS = {
    "instances",
    "responses",
    "decisions",
    "checks",
    "ratings",
    "predictions",
    "conditions",
    "descriptions",
    "events",
}
# What no program that reads a report may run, or take for markup.
WICKED = "<script>alert(1)</script> \\input{/etc/passwd} | & % $x$ _ # ~ ^ { } `rm` \u202e"


def make_answered() -> str:
    """Make a study that two people and a model answered, and which accepts; return its name."""
    study = launched("best_of_n")
    # Formats of pairs refuse items without one.
    for instance in Instance.objects.filter(project=study.project):
        instance.captions = {**instance.captions, "negative_caption": "Something else."}
        instance.save(update_fields=["captions"])
    answered(study, say=lambda person, number: "none" if number == 1 else "zqxjkv_candidate-0")
    question = study.questions.order_by("pk")[0]
    make_prediction(make_model(study.project), question.instance, question.kind, question.variant)
    return study.slug


made = kept(make_answered)


@pytest.fixture
def study(made: str) -> Study:
    return Study.objects.get(slug=made)


def everything_in(folder: Path) -> dict[str, bytes]:
    files = sorted(path for path in folder.rglob("*") if path.is_file())
    return {str(path.relative_to(folder)): path.read_bytes() for path in files}


def exported(study: Study, format: str, folder: Path) -> dict[str, bytes]:
    name_annotators(project=study.project)
    write_export(study=study, format=format, folder=folder, report=lambda done, total: None)
    return everything_in(folder)


@every_export
def test_an_export_says_what_it_is(format: str) -> None:
    writer = get_writer(format)
    assert writer.rows in SORTS
    assert writer.title
    assert "/" in writer.content_type
    assert len({column.name for column in writer.columns}) == len(writer.columns)
    assert all(column.description.endswith(".") for column in writer.columns)


@every_export
def test_an_export_holds_something_and_is_the_same_when_made_again(format: str, study: Study, tmp_path: Path) -> None:
    first, again = (exported(study, format, tmp_path / name) for name in ("first", "again"))
    assert first == again
    assert any(first.values())


@every_export
def test_nothing_that_a_provider_knows_people_by_leaves(format: str, study: Study, tmp_path: Path) -> None:
    sessions = Session.objects.all()
    secrets = [*PEOPLE, *(f"sitting-of-{person}" for person in PEOPLE), "study-at-prolific", study.order_secret]
    secrets += [*sessions.values_list("token", flat=True), study.invite_token, study.public_token]
    secrets += list(study.completion_codes.values_list("code", flat=True))
    files = exported(study, format, tmp_path)
    assert [(name, secret) for name, read in files.items() for secret in secrets if secret.encode() in read] == []


@every_export
def test_an_export_is_asked_for_on_the_page_and_made_in_the_background(format: str, study: Study) -> None:
    client, member = Client(), make_person("owner", superuser=True)
    client.force_login(member)
    assert f'value="{format}"' in client.get("/studies/shelves/things/exports/").content.decode()
    export = request_export(study=study, format=format, by=member, now=NOON)
    make_export(export=export, now=lambda: NOON)
    export.refresh_from_db()
    assert export.state == "ready", export.error
    assert default_storage.size(export.file) > 0
    file: Any = client.get(f"/exports/{export.pk}/download/")
    assert file.status_code == 200
    assert len(b"".join(file.streaming_content)) == default_storage.size(export.file)


@pytest.mark.parametrize("format", [name for name in EXPORTS if get_writer(name).rows in {"instances", "descriptions"}])
def test_what_holds_instances_or_their_descriptions_can_be_released_and_made_again(
    format: str, study: Study, tmp_path: Path
) -> None:
    assert format in RELEASE_FORMATS
    for name in ("first", "again"):
        out = tmp_path / name
        call_command("release", "shelves", study="things", name="v1", format=format, out=out, verbosity=0)
    assert everything_in(tmp_path / "first") == everything_in(tmp_path / "again")
    described = json.loads((tmp_path / "first" / "things-v1" / "croissant.json").read_text(encoding="utf-8"))
    beside = {"responses", "decisions", "predictions", "conditions", "events"}
    own = {"instances"} if get_writer(format).columns else set()
    # Of predictions there may be the same table in the form of the data.
    likewise = {name for name in EXPORTS if name.startswith("predictions-")}
    assert beside | own <= {each["name"] for each in described["recordSet"]} <= beside | own | likewise
    assert not [person for person in PEOPLE for read in everything_in(tmp_path).values() if person.encode() in read]


def test_an_export_that_does_not_exist_is_refused_with_those_that_do(study: Study, tmp_path: Path) -> None:
    with pytest.raises(CommandError, match=", ".join(repr(name) for name in EXPORTS)):
        call_command("export", "shelves", "--format", "xml", "--out", str(tmp_path))


def small_report() -> Report:
    columns = [Column("What"), Column("n", "count"), Column("Share", "share")]
    table = Table("sizes", WICKED, columns, [(WICKED, 3, 0.5), ("b", 0, Undefined("Nobody answered."))], [WICKED])
    chart = Chart("sizes", WICKED, WICKED, "bars", "share", "Share", [Series("", [Point(WICKED, 0.5)])])
    return Report("Report of things", [Card("sizes", "cost", WICKED, WICKED, [table], chart, WICKED)])


@pytest.mark.parametrize("format", REPORTS)
def test_a_report_is_written_whole_the_same_again_and_runs_nothing(format: str) -> None:
    drawings = {"sizes": Drawing({}, "<svg/>", b"", b"%PDF")}
    files = get_files(format)(small_report(), drawings)
    assert files == get_files(format)(small_report(), drawings)
    name, text = next(iter(files.items()))
    assert name == f"report.{format}"
    assert b"Nobody answered." in text
    read_by_browsers = [written for name, written in files.items() if name.endswith((".html", ".svg", ".md"))]
    assert not [written for written in read_by_browsers if b"<script>" in written]


@pytest.mark.parametrize("name", IMPORTERS)
def test_an_importer_gives_records_or_problems_whatever_it_reads(name: str) -> None:
    contents = [b"", b"\0\xff\xfe", b"[", b"{}", b'{"a": 1}\n', b"a,b\n1,2\n", b'[{"a": {}}]', "é".encode("utf-16")]
    for content in contents:
        found = list(get_importer(name)(io.BytesIO(content)))
        assert found
        assert all(isinstance(each, Record | Note | RowProblem) for each in found)
        problems = [each for each in found if isinstance(each, RowProblem)]
        assert all(problem.reason.endswith(".") for problem in problems)


@pytest.mark.parametrize("name", IMPORTERS)
def test_an_importer_says_in_a_sentence_which_files_it_reads(name: str) -> None:
    assert describe_format(name).endswith(".")
    assert format_title(name).endswith(f" ({name})")


@pytest.mark.parametrize("name", IMPORTERS)
def test_an_importer_reads_no_further_than_it_is_asked(name: str) -> None:
    assert len(list(itertools.islice(get_importer(name)(io.BytesIO(b"nonsense\n" * 1000)), 1))) == 1


@pytest.mark.parametrize("name", PREDICTIONS)
def test_a_reader_of_predictions_gives_rows_or_sentences(name: str, tmp_path: Path) -> None:
    contents: list[Any] = [None, [], {}, [{}], {"0": {}}, [{"key": 1}], "text", 3]
    path = tmp_path / "answers.json"
    for content in [b"", b"\xff\0", b"[", *(json.dumps(content).encode() for content in contents)]:
        path.write_bytes(content)
        said, rows = "", []
        try:
            rows = get_reader(name)(path)
        except ResultsFileError as error:
            said = str(error).rstrip()
        assert said.endswith(".") or said == ""
        assert all(isinstance(row, Row) and row.answers for row in rows)
