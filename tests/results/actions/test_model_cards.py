"""The model card of a training run, on the page of a finished one, and by the command."""

from pathlib import Path

import pytest
import yaml
from django.core.management import CommandError, call_command

from background.models import Job
from predictions.models import Model
from results.actions import cached_statistics
from results.actions.model_cards import compute_model_card, write_model_card
from results.views.cached_statistics import results_for
from tests.factories import NOON, make_instance, make_member, make_prediction, make_project
from tests.jobs import run_now
from tests.pages import signed_in, words_of
from tests.training.site import BASE_WEIGHTS, WEIGHTS, finish, waiting_run
from training.errors import CannotTrain
from training.leaks import Item, Protected, find_leaks
from training.models import TrainingRun

pytestmark = pytest.mark.django_db


def test_the_card_tells_what_the_run_and_the_report_know(tmp_path: Path) -> None:
    project = make_project()
    run = waiting_run(project)
    with pytest.raises(CannotTrain, match="small-clip is not trained yet"):
        compute_model_card(run=run, now=NOON)
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
        f"| Weights of the base model | `{BASE_WEIGHTS}` |",
        "| same image | 1 |",
        "| Time on the device | 0.03 hours (90 s) |",
    ):
        assert line in lines
    with pytest.raises(CommandError, match="Its trainings: small-clip"):
        call_command("model_card", "vases", "none")


def test_in_a_large_project_a_card_has_the_stored_scores_and_waits_for_the_first(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(cached_statistics, "MADE_AT_ONCE", -1)
    jobs: list[Job] = []
    monkeypatch.setattr("results.views.cached_statistics.send", jobs.append)
    project = make_project()
    run = waiting_run(project)
    finish(run)
    run.refresh_from_db()
    make_prediction(Model.objects.get(weights=WEIGHTS), make_instance(project, "row"), is_right=True)
    browser = signed_in(make_member(project, "viewer"))
    page = browser.get(f"/training/{run.pk}/card/")
    assert "the numbers are computed in the background" in words_of(page)
    assert "Download" not in words_of(page)
    assert browser.get(f"/training/{run.pk}/card/README.md")["Location"] == f"/training/{run.pk}/card/"
    with pytest.raises(CannotTrain, match="The model card is not ready: the scores of this project are computed"):
        write_model_card(run=run, results=results_for(project))
    for job in jobs:
        run_now(job, now=NOON)
    # Nothing is computed in a request from here on.
    monkeypatch.setattr(cached_statistics, "report_of", None)
    assert "Numbers as of" in words_of(browser.get(f"/training/{run.pk}/card/"))
    file = browser.get(f"/training/{run.pk}/card/README.md").content.decode()
    assert "| imported captions | accuracy | 1 | 100.00 |" in file
    # What is pushed to the Hub has the same scores.
    assert compute_model_card(run=run, now=NOON) == file
