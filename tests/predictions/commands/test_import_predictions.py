from collections.abc import Sequence
from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from predictions.models import Model, Prediction
from tests.factories import make_project
from tests.predictions.result_files import add_instance, result, write_results

pytestmark = pytest.mark.django_db


def import_rows(folder: Path, *numbers: int, options: Sequence[str] = ()) -> tuple[str, list[str]]:
    """Import rows about instances, of which the project has the first; return what is said of it, and of each row."""
    add_instance(make_project("birds"), 1)
    file, out, err = write_results(folder / "results.csv", *map(result, numbers)), StringIO(), StringIO()
    arguments = ["birds", str(file), "--format=bivlc-results", "--model=CLIP", *options]
    call_command("import_predictions", *arguments, stdout=out, stderr=err)
    return out.getvalue(), err.getvalue().splitlines()


def test_it_says_what_it_did_and_which_rows_it_left_out(tmp_path: Path) -> None:
    said, left_out = import_rows(tmp_path, 1, 5, options=["--model-version=2", "--weights=abc", "--skip-unknown"])
    assert said == "results.csv: 2 rows of CLIP 2 (abc): 4 predictions added, 0 already there. 1 row left out.\n"
    assert left_out[0].startswith("Record 2: The project has no such instance: 'A cat on 5 roofs.'")
    assert (Prediction.objects.count(), Model.objects.get().version) == (4, "2")


def test_of_many_rows_left_out_the_first_hundred_are_named(tmp_path: Path) -> None:
    said, left_out = import_rows(tmp_path, *range(1, 105), options=["--skip-unknown"])
    assert said.endswith("103 rows left out.\n")
    assert (len(left_out), left_out[-1]) == (101, "... and 3 more rows left out.")


def test_what_is_wrong_is_listed_and_nothing_written(tmp_path: Path) -> None:
    with pytest.raises(CommandError) as refused:
        import_rows(tmp_path, 1, 5)
    assert str(refused.value).startswith("Nothing was imported from results.csv.\nRecord 2: ")
    assert not Prediction.objects.exists()
