"""What PostgreSQL's planner believes after many rows came in one transaction."""

from pathlib import Path

import psycopg
import pytest
from django.db import DatabaseError, connection, models, transaction

from annotation.models import Decision, Seat, Slot
from predictions.actions.import_predictions import ModelName, import_predictions
from predictions.models import Prediction
from studies.actions.table_statistics import refresh_statistics
from studies.models import Image, Instance, InstanceImage, Question, SurveyQuestion
from tests.factories import NOON, TESTS, launch_study, make_project
from tests.predictions.result_files import add_instance, result, write_results
from tests.studies.source_files import import_file, manifest_bytes, manifest_row, write_images
from tests.workers import database_url

pytestmark = pytest.mark.django_db(transaction=True)
ROWS = 2_000


@pytest.fixture(autouse=True)
def _postgresql_only() -> None:
    if connection.vendor != "postgresql":
        pytest.skip("SQLite's planner goes by indexes, not by the number of rows.")


def believed(model: type[models.Model]) -> int:
    """Return how many rows the planner expects in the table of `model`."""
    with connection.cursor() as cursor:
        cursor.execute(f"EXPLAIN (FORMAT JSON) SELECT * FROM {model._meta.db_table}")  # noqa: S608 (a table's name)
        ([plan],) = cursor.fetchone()
    return int(plan["Plan"]["Plan Rows"])


def bring_in_many_images() -> None:
    Image.objects.bulk_create(
        Image(sha256=f"{number:064x}", width=1, height=1, format="PNG", byte_size=1) for number in range(ROWS)
    )


def vacuum_images() -> None:
    """Vacuum as the server itself does at some moment, in a session of its own."""
    with psycopg.connect(database_url(), autocommit=True) as other:
        other.execute("VACUUM studies_image")


def test_a_vacuum_in_the_middle_of_a_long_transaction_is_put_right() -> None:
    with transaction.atomic():
        bring_in_many_images()
        vacuum_images()
        # The trap: a table that grows and grows, and is planned for as if it held nothing.
        assert believed(Image) == 1
        refresh_statistics(Image)
    assert believed(Image) == ROWS


def test_statistics_that_cannot_be_refreshed_undo_nothing(
    monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    def refuse() -> None:
        raise DatabaseError("no")

    with transaction.atomic():
        bring_in_many_images()
        refresh_statistics(Image)
        monkeypatch.setattr(connection, "cursor", refuse)
    monkeypatch.undo()
    assert Image.objects.count() == ROWS
    assert "The statistics of studies_image could not be refreshed." in caplog.text


def test_a_table_that_is_empty_is_not_written_down_as_empty() -> None:
    # What is never counted is planned for with ten pages, so that the first rows are found by their key.
    refresh_statistics(Image)
    assert believed(Image) > 1


def test_an_import_leaves_the_numbers_of_its_rows(tmp_path: Path) -> None:
    file = tmp_path / "manifest.csv"
    file.write_bytes(manifest_bytes(manifest_row(0), manifest_row(1), manifest_row(2)))
    import_file(file, write_images(tmp_path / "pictures"))
    assert [believed(model) for model in (Instance, InstanceImage, Image)] == [3, 12, 4]


def test_a_launch_leaves_the_numbers_of_its_rows() -> None:
    launch_study(instances=7, answers=2, surveys={"size": 7})
    believes = {model: believed(model) for model in (Question, SurveyQuestion, Decision, Slot, Seat)}
    assert believes == {Question: 7, SurveyQuestion: 7, Decision: 7, Slot: 14, Seat: 2}


def test_predictions_leave_the_number_of_their_rows(tmp_path: Path) -> None:
    project = make_project()
    add_instance(project, 1)
    file = write_results(tmp_path / "BiVLC_CLIP.csv", result(1, "1011"))
    import_predictions(project=project, file=file, format="bivlc-results", model=ModelName("CLIP"), by=TESTS, now=NOON)
    assert believed(Prediction) == 4
