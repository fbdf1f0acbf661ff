"""The pages of training in every state: accessible, no wider than the window, and worked by keyboard alone."""

from dataclasses import replace

import pytest
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from studies.models import Project
from tests.browser.stage import assert_no_wider_than_the_window, set_window, sign_in
from tests.browser.test_accessibility import assert_accessible
from tests.factories import make_person
from tests.jobs import run_now
from tests.training.site import PLAN, accept_vases, finish, progress, waiting_run
from training.actions.orders import note_progress, note_trained
from training.actions.runs import cancel_run, request_run
from training.leaks import Leak, LeakReport
from training.messages import Report, to_plain
from training.models import TrainingRun

LIST = "/projects/vases/training/"
DISK_FULL = "The disk of the worker is full. Make room in its LINEUP_TRAINED, and resume: the last checkpoint is kept."
LEAKS = LeakReport(
    examples=1204,
    leaking=2,
    counts={"same image": 1, "near image": 0, "same caption": 1, "near caption": 0, "same source": 0},
    pairs=[
        Leak("same image", "vase-17", "release v1: vase-3", "9" * 64),
        Leak("same caption", "vase-90", "vase-4", ""),
    ],
    protected=312,
    protected_images=298,
    images_not_compared=1,
    captions_too_short=4,
    captions_too_common=0,
)


@pytest.fixture
def signed_in(page: Page, live_server: LiveServer, monkeypatch: pytest.MonkeyPatch) -> Page:
    """A page of a researcher whose project has one accepted item. Charts are drawn at once."""
    monkeypatch.setattr("results.views.charts.send", run_now)
    monkeypatch.setattr("workspace.views.projects.training.send", lambda job: None)
    ana = make_person("ana")
    accept_vases(ana)
    return sign_in(page, live_server.url, ana)


def make_runs(project: Project) -> dict[str, TrainingRun]:
    """Return a run in every state, by the name of the state."""
    now = timezone.now()
    wanted = replace(PLAN, name="clip-preparing")
    runs = {"preparing": request_run(project=project, wanted=wanted, by="test", now=now)[0]}
    for state in ("waiting", "training", "cancelled", "failed", "done"):
        runs[state] = waiting_run(project, name=f"clip-{state}", hour_price="2.50", currency="USD")
        TrainingRun.objects.filter(pk=runs[state].pk).update(leaks={"training": LEAKS.to_plain()})
    for state in ("training", "cancelled", "failed", "done"):
        TrainingRun.objects.filter(pk=runs[state].pk).update(attempt=1)
        follow(runs[state])
    cancel_run(run=runs["cancelled"], by="test", now=now)
    note_trained(run_id=runs["failed"].pk, attempt=1, answer={"error": DISK_FULL}, now=now)
    finish(runs["done"])
    return runs


def follow(run: TrainingRun) -> None:
    """Let a worker report steps of a run, with a score every third time."""
    best = None
    for number in range(1, 31):
        step, score = 50 * number, 0.4 + 0.01 * number
        best = score if number % 3 == 0 else best
        losses = {"loss": 2.5 / number, "contrastive": 1.5 / number, "negatives": 1.0 / number}
        told = progress(
            step,
            steps=2400,
            losses=losses,
            best=best,
            score=best,
            seconds_left=2400.0 - step,
            peak_memory=17_640_000_000,
        )
        note_progress(run_id=run.pk, attempt=1, report=to_plain(Report(told, step * 1.5)), now=timezone.now())
    run.refresh_from_db()


def test_every_state_is_accessible_and_no_wider_than_the_window(signed_in: Page, live_server: LiveServer) -> None:
    page, project = signed_in, Project.objects.get()
    page.goto(f"{live_server.url}{LIST}")
    expect(page.get_by_text("No model has been trained here yet.")).to_be_visible()
    assert_no_wider_than_the_window(page)
    runs = make_runs(project)
    done, failed = runs["done"].pk, runs["failed"].pk
    more = (
        f"/training/{done}/card/",
        f"/training/{done}/hub/",
        f"/training/{done}/delete/",
        f"/training/{failed}/delete/",
    )
    for address in (LIST, *(f"/training/{run.pk}/" for run in runs.values()), *more):
        page.goto(f"{live_server.url}{address}")
        page.locator("main details").evaluate_all("all => all.forEach((each) => (each.open = true))")
        assert_no_wider_than_the_window(page)
        assert_accessible(page)
    set_window(page, 1366, 768)
    page.goto(f"{live_server.url}{LIST}")
    too_wide = "all => all.filter((each) => each.scrollWidth > each.clientWidth).map((each) => each.ariaLabel)"
    assert page.locator(".scroll").evaluate_all(too_wide) == []


def test_curves_that_a_worker_draws_appear_on_the_page(signed_in: Page, live_server: LiveServer) -> None:
    page, run = signed_in, make_runs(Project.objects.get())["training"]
    page.goto(f"{live_server.url}/training/{run.pk}/")
    # 2,250 s so far and 900 s left at 2.50 USD an hour; 17.64e9 bytes are 16.4 GiB.
    expect(page.locator(".how-far")).to_contain_text("step 1,500 of 2,400, about 15 minutes left")
    expect(page.locator(".how-far")).to_contain_text("peak memory 16.4 GB, estimated cost 2.19 USD")
    expect(page.get_by_role("article").filter(has_text="Training loss").locator("svg").first).to_be_visible()
    expect(
        page.get_by_role("article").filter(has_text="Score on the validation set").locator("svg").first
    ).to_be_visible()


def test_a_training_is_requested_and_cancelled_by_keyboard(signed_in: Page, live_server: LiveServer) -> None:
    page = signed_in
    page.goto(f"{live_server.url}{LIST}")
    page.get_by_label("Recipe").focus()
    page.keyboard.type("RoCOCO")
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="RoCOCO")).to_be_visible()
    page.get_by_label("Name of the trained model").focus()
    page.keyboard.type("my-clip")
    for label in ("Base model", "Data"):
        page.keyboard.press("Tab")
        expect(page.get_by_label(label)).to_be_focused()
    page.keyboard.press("Tab")
    # The options are closed: Tab passes them by.
    expect(page.get_by_text("Options of RoCOCO")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.type("2.50")
    page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="my-clip")).to_be_visible()
    page.get_by_role("button", name="Cancel").focus()
    page.keyboard.press("Enter")
    expect(page.get_by_text("The training was cancelled.")).to_be_visible()
    run = TrainingRun.objects.get()
    assert (run.recipe, run.state, str(run.hour_price)) == ("rococo", "cancelled", "2.50")
