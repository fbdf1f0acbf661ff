from io import StringIO
from pathlib import Path

import pytest
from django.core.management import CommandError, call_command

from predictions.models import Model, Prediction
from studies.models import Project
from tests.factories import make_project
from tests.predictions.result_files import add_instance, result, write_results

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    project = make_project("birds")
    add_instance(project, 1)
    return project


def test_it_says_what_it_did_and_which_rows_it_left_out(project: Project, tmp_path: Path) -> None:
    file = write_results(tmp_path / "results.csv", result(1), result(5))
    out, err = StringIO(), StringIO()
    arguments = [project.slug, str(file), "--format=bivlc-results", "--model=CLIP", "--model-version=2"]
    call_command("import_predictions", *arguments, "--weights=abc", "--skip-unknown", stdout=out, stderr=err)
    assert out.getvalue() == (
        "results.csv: 2 rows of CLIP 2 (abc): 4 predictions added, 0 already there. 1 row left out.\n"
    )
    assert err.getvalue().startswith("Record 2: The project has no instance like this: 'A cat on 5 roofs.'")
    assert (Prediction.objects.count(), Model.objects.get().version) == (4, "2")


def test_of_many_rows_left_out_the_first_hundred_are_named(project: Project, tmp_path: Path) -> None:
    file = write_results(tmp_path / "results.csv", result(1), *(result(number) for number in range(2, 105)))
    out, err = StringIO(), StringIO()
    arguments = [project.slug, str(file), "--format=bivlc-results", "--model=CLIP", "--skip-unknown"]
    call_command("import_predictions", *arguments, stdout=out, stderr=err)
    assert out.getvalue().endswith("103 rows left out.\n")
    told = err.getvalue().splitlines()
    assert (len(told), told[-1]) == (101, "... and 3 more rows left out.")


def test_what_is_wrong_is_listed_and_nothing_written(project: Project, tmp_path: Path) -> None:
    file = write_results(tmp_path / "results.csv", result(1), result(5))
    with pytest.raises(CommandError) as refused:
        call_command("import_predictions", project.slug, str(file), "--format=bivlc-results", "--model=CLIP")
    assert str(refused.value).startswith("Nothing was imported from results.csv.\nRecord 2: ")
    assert not Prediction.objects.exists()


def test_an_unknown_project_is_a_sentence() -> None:
    with pytest.raises(CommandError, match=r"There is no project called fish\. The projects are: none yet\."):
        call_command("import_predictions", "fish", "x.csv", "--format=scores", "--model=CLIP")
