"""The model card of a training run, on the page of a finished one, and by the command."""

from pathlib import Path

import pytest
import yaml
from django.core.management import CommandError, call_command

from predictions.models import Model
from results.actions.model_cards import write_model_card
from tests.factories import make_instance, make_prediction, make_project
from tests.training.site import WEIGHTS, finish, waiting_run
from training.errors import CannotTrain
from training.leaks import Item, Protected, find_leaks
from training.models import TrainingRun

pytestmark = pytest.mark.django_db


def test_the_card_tells_what_the_run_and_the_report_know(tmp_path: Path) -> None:
    project = make_project()
    run = waiting_run(project)
    with pytest.raises(CannotTrain, match="small-clip is not trained yet"):
        write_model_card(run=run)
    report = find_leaks([Item("a", images=["1" * 64]), Item("b")], Protected([Item("held", images=["1" * 64])]))
    TrainingRun.objects.filter(pk=run.pk).update(leaks={"training": report.to_plain()})
    run.refresh_from_db()
    finish(run)
    # Renamed since: its scores are found by its weights.
    Model.objects.filter(project=project, weights=WEIGHTS).update(name="Ours")
    for number, right in enumerate((True, True, False)):
        make_prediction(Model.objects.get(weights=WEIGHTS), make_instance(project, f"row-{number}"), is_right=right)
    call_command("model_card", "vases", "small-clip", "--licence", "MIT", "--out", str(tmp_path / "README.md"))
    text = (tmp_path / "README.md").read_text(encoding="utf-8")
    metadata = yaml.safe_load(text.split("---\n")[1])
    assert (metadata["license"], metadata["tags"]) == ("mit", ["lineup", "negclip"])
    lines = text.splitlines()
    assert any(line.startswith("| imported captions | accuracy | 3 | 66.67 |") for line in lines)
    assert any(line.startswith("| Validation | 75.00 %, ") for line in lines)
    for line in (
        "| Recipe | NegCLIP, version 1 |",
        "| epochs | 2 | 5 |",
        "| Data | Vases, accepted items |",
        "| same image | 1 |",
        "| Time on the device | 0.03 hours (90 s) |",
    ):
        assert line in lines
    with pytest.raises(CommandError, match="Its trainings: small-clip"):
        call_command("model_card", "vases", "none")
