"""The researcher's pages in a real browser: accessible, live, and usable with the keyboard alone."""

import json
import re
from datetime import timedelta
from pathlib import Path

import pytest
from django.contrib.auth.models import User
from django.utils import timezone
from playwright.sync_api import Page, expect
from pytest_django.live_server_helper import LiveServer

from annotation.models import EntryEvent, Response, SessionState
from background import jobs
from background.models import Job, JobState
from background.tasks import run_job
from results.models import Release
from studies.models import Import, Membership, Study
from tests.browser.stage import assert_no_wider_than_the_window, draw_all, hurry, question_number, sign_in
from tests.browser.test_accessibility import assert_accessible
from tests.factories import (
    PASSWORD,
    answer,
    draw_instance,
    make_launched,
    make_person,
    make_project,
    make_study,
    questions,
    sit_down,
)
from workspace.models import Delivery, HubPush, Webhook

STUDY = "/studies/birds/birds-step-3/"


@pytest.fixture
def study(live_server: LiveServer) -> Study:
    """An open study with somebody at work and somebody done, and a draft beside it."""
    project = make_project("birds", members=[make_person("ana")])
    for number in range(1, 5):
        draw_instance(project, number)
    draw_all()
    study = make_launched(make_study(project), size=2, now=timezone.now())
    make_study(project, "draft")
    for person, given in (("one", 2), ("two", 1)):
        session = sit_down(study, person, now=timezone.now() - timedelta(minutes=40))
        asked = [slot.question for slot in session.seat.slots.select_related("question")]
        for question in asked[:given]:
            answer(session, question, "candidate-1", now=timezone.now(), send_ms=4000)
    EntryEvent.objects.create(study=study, what="unfilled", at=timezone.now())
    return study


@pytest.fixture
def signed_in(page: Page, live_server: LiveServer, study: Study) -> Page:
    """The study's page, of somebody who has signed in before."""
    hurry(page)
    sign_in(page, live_server.url, User.objects.get(username="ana")).goto(f"{live_server.url}{STUDY}")
    return page


def sign_in_by_keyboard(page: Page, site: str) -> None:
    """Ask for the study's page and give a name and a password, with the keyboard alone."""
    page.goto(f"{site}{STUDY}")
    page.get_by_label("Name").focus()
    page.keyboard.type("ana")
    page.keyboard.press("Tab")
    page.keyboard.type(PASSWORD)
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="birds-step-3").or_(page.locator(".tabs")).first.wait_for()


def sign_out(page: Page) -> None:
    page.locator(".bar summary").click()
    page.get_by_role("button", name="Sign out", exact=True).click()


def test_every_page_of_the_researcher_is_accessible_and_none_is_wider_than_the_window(
    page: Page, live_server: LiveServer, study: Study
) -> None:
    hurry(page)
    sign_in_by_keyboard(page, live_server.url)
    assert_no_wider_than_the_window(page)
    page.get_by_text("More actions").click()
    assert_accessible(page)
    page.goto(f"{live_server.url}{STUDY}recruit/")
    page.get_by_text("Show codes").click()
    assert_no_wider_than_the_window(page)
    assert_accessible(page)
    for address in (
        "/projects/birds/",
        "/projects/birds/people/",
        "/projects/birds/releases/",
        "/projects/birds/results/",
        "/search/?q=birds",
        f"{STUDY}results/",
        f"{STUDY}exports/",
        "/studies/birds/draft/",
        "/studies/birds/draft/launch/",
        "/projects/birds/new-study/",
        "/projects/birds/new-study/form/?kind=best_of_n",
        "/studies/birds/draft/form/",
        "/studies/birds/draft/design/",
        f"/studies/birds/draft/practice/?pick={study.project.instances.all()[0].pk}",
        "/studies/birds/draft/preview/phone/",
        f"{STUDY}more/?what=answers&number=1",
        f"{STUDY}personal-links/",
        f"{STUDY}close/",
        f"{STUDY}preview/?step=end",
        "/projects/birds/models/",
        "/projects/birds/people-and-models/",
        "/password/",
        "/tokens/",
        "/account/",
    ):
        page.goto(f"{live_server.url}{address}")
        assert_no_wider_than_the_window(page)
        assert_accessible(page)
    sign_out(page)
    page.get_by_role("heading", name="Sign in").wait_for()
    assert_accessible(page)


def test_the_search_is_used_by_keyboard_and_is_accessible(
    signed_in: Page, live_server: LiveServer, study: Study
) -> None:
    page = signed_in
    page.goto(f"{live_server.url}{STUDY}")
    page.get_by_role("link", name="Help").focus()
    page.keyboard.press("/")
    field = page.get_by_role("combobox", name="Search")
    expect(field).to_be_focused()
    expect(field).to_have_attribute("aria-expanded", "false")
    page.keyboard.type("pause")
    options = page.get_by_role("listbox", name="Found").get_by_role("option")
    expect(options).to_have_text(["Pause Birds, birds-step-3", "All results for “pause”"])
    expect(page.get_by_role("search").get_by_role("status")).to_have_text("1 result")
    assert_accessible(page)
    page.keyboard.press("ArrowUp")
    expect(options.last).to_have_attribute("aria-selected", "true")
    page.keyboard.press("Escape")
    expect(options).to_have_count(0)
    expect(field).to_be_focused()
    page.keyboard.press("Escape")
    expect(page.get_by_role("link", name="Help")).to_be_focused()
    page.keyboard.press("Control+k")
    page.keyboard.press("ArrowDown")
    expect(field).to_have_attribute("aria-expanded", "true")
    chosen = page.get_by_role("listbox", name="Found").get_by_role("option", selected=True)
    assert field.get_attribute("aria-activedescendant") == chosen.get_attribute("id")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Pause").wait_for()
    assert Study.objects.get(pk=study.pk).state == "open"
    page.keyboard.press("/")
    page.keyboard.type("exports")
    page.keyboard.press("Enter")
    page.get_by_role("heading", name="Results for “exports”").wait_for()


def test_a_webhook_is_made_by_keyboard_and_what_leaves_the_site_is_accessible(
    signed_in: Page, live_server: LiveServer, study: Study
) -> None:
    Membership.objects.update(role="owner")
    now, page = timezone.now(), signed_in
    page.goto(f"{live_server.url}/projects/birds/webhooks/")
    page.get_by_label("URL").focus()
    # Nothing is looked up for an address in numbers.
    page.keyboard.type("https://93.184.215.14/news")
    page.keyboard.press("Enter")
    expect(page.get_by_label("The key")).to_have_value(re.compile("whsec_.{44}"))
    assert_accessible(page)
    webhook = Webhook.objects.get()
    over = {"state": "failed", "attempts": 8, "status": 500, "answer": "oops", "problem": "The answer was 500."}
    Delivery.objects.create(webhook=webhook, topic="release.made", body="{}", made_at=now, due_at=now, **over)
    page.goto(f"{live_server.url}/projects/birds/webhooks/")
    page.get_by_text("Message and answer").click()
    assert_no_wider_than_the_window(page)
    assert_accessible(page)
    release = Release.objects.create(
        project=study.project, study=study, name="v1", made_at=now, file="rows.jsonl", sha256="0"
    )
    asked = {"repository": "lab/birds", "requested_at": now}
    HubPush.objects.create(project=study.project, release=release, **asked)
    HubPush.objects.create(project=study.project, release=release, **asked, error="It failed.", finished_at=now)
    page.goto(f"{live_server.url}/releases/{release.pk}/hub/")
    assert_no_wider_than_the_window(page)
    assert_accessible(page)


def test_what_a_viewer_sees_is_accessible_and_leads_to_nothing_that_refuses(
    signed_in: Page, live_server: LiveServer
) -> None:
    Membership.objects.update(role="viewer")
    page = signed_in
    page.goto(f"{live_server.url}{STUDY}releases/")
    assert_accessible(page)
    page.goto(f"{live_server.url}{STUDY}")
    assert_accessible(page)
    page.get_by_text("More actions").click()
    expect(page.get_by_role("link", name="Preview", exact=True)).to_be_visible()
    expect(page.get_by_role("link", name=re.compile("Pause|Close|Release place"))).to_have_count(0)
    # Of the forms there, only filters are left, which change nothing.
    expect(page.locator("main form[method=post]")).to_have_count(0)
    page.goto(f"{live_server.url}{STUDY}close/")
    expect(page.get_by_role("heading", name="You may not do this here")).to_be_visible()
    assert_accessible(page)
    page.get_by_role("link", name="To the project").press("Enter")
    expect(page.get_by_role("heading", name="Birds", exact=True)).to_be_visible()


def test_markdown_is_read_as_annotators_read_it_while_it_is_typed(signed_in: Page, live_server: LiveServer) -> None:
    signed_in.goto(f"{live_server.url}/studies/birds/draft/form/")
    signed_in.locator("summary", has_text="Advanced").click()
    signed_in.locator("summary", has_text="Consent").click()
    signed_in.get_by_label("Consent consent", exact=True).fill("You *may* stop. <script>no</script>")
    read = signed_in.get_by_role("region", name="Consent as annotators read it")
    expect(read.locator("em")).to_have_text("may")
    expect(read).to_contain_text("<script>no</script>")


def test_progress_comes_by_itself_and_the_link_for_prolific_is_copied(signed_in: Page, study: Study) -> None:
    answers = signed_in.locator(".number-card").first
    expect(answers).to_contain_text("3 of 4")
    # What somebody types and opens meanwhile stays.
    signed_in.get_by_label("Annotator", exact=True).fill("A-")
    table = signed_in.get_by_role("table", name="Answers over time")
    signed_in.locator("summary", has_text="Table of Answers over time").click()
    expect(table).to_be_visible()
    late = study.sessions.get(state=SessionState.WORKING)
    open_slot = late.seat.slots.get(answered_at=None)
    answer(late, open_slot.question, "none", now=timezone.now())
    expect(answers).to_contain_text("4 of 4")
    expect(signed_in.get_by_label("Annotator", exact=True)).to_have_value("A-")
    expect(table).to_be_visible()
    # The link for Prolific is copied whole.
    signed_in.get_by_role("link", name="Recruit").last.click()
    signed_in.context.grant_permissions(["clipboard-read", "clipboard-write"])
    signed_in.get_by_role("button", name="Copy the study URL").click()
    expect(signed_in.locator("[data-copied]")).to_have_text("Copied.")
    copied = signed_in.evaluate("navigator.clipboard.readText()")
    assert copied.endswith("?PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}")


def test_an_export_is_asked_for_watched_and_downloaded(
    signed_in: Page, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    sent: list[int] = []
    monkeypatch.setattr(run_job, "apply_async", lambda args, kwargs, **options: sent.append(*args))
    signed_in.get_by_role("link", name="Exports", exact=True).click()
    signed_in.get_by_role("button", name="Export", exact=True).click()
    expect(signed_in.get_by_text("Waiting for the worker")).to_be_visible()
    run_job.apply(args=(sent[0],), throw=True)
    with signed_in.expect_download() as download:
        signed_in.get_by_role("link", name="Download birds-step-3 as jsonl").click()
    assert download.value.suggested_filename == "birds-step-3-instances.jsonl"
    lines = Path(download.value.path()).read_text(encoding="utf-8").splitlines()
    accepted = [question.instance.key for question in questions(study) if question.decision.state == "accepted"]
    assert len(accepted) == 3
    assert sorted(json.loads(line)["key"] for line in lines) == sorted(accepted)


def test_an_export_that_is_being_made_is_cancelled(
    signed_in: Page, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_job, "apply_async", lambda args, kwargs, **options: None)
    signed_in.get_by_role("link", name="Exports", exact=True).click()
    signed_in.get_by_role("button", name="Export", exact=True).click()
    now, export = timezone.now(), Job.objects.filter(kind="results.export")
    export.update(state=JobState.RUNNING, attempts=1, started_at=now, beat_at=now, done=3, total=7)
    expect(signed_in.get_by_text("3 of 7 rows")).to_be_visible()
    button = signed_in.get_by_role("button", name=re.compile("^Cancel the export of .* as jsonl$"))
    button.focus()
    export.update(done=4)
    expect(signed_in.get_by_text("4 of 7 rows")).to_be_visible()
    expect(button).to_be_focused()
    signed_in.keyboard.press("Enter")
    expect(signed_in.get_by_text("Cancelling")).to_be_visible()
    jobs.mark_cancelled(job=export.get(), now=timezone.now())
    expect(signed_in.get_by_text("It was cancelled.")).to_be_visible()


def test_a_study_is_closed_after_saying_what_that_means(signed_in: Page, study: Study) -> None:
    signed_in.get_by_text("More actions").click()
    signed_in.get_by_role("link", name="Close study").click()
    expect(signed_in.get_by_text("A closed study cannot be opened again.")).to_be_visible()
    signed_in.get_by_role("button", name="Close study").click()
    expect(signed_in.get_by_text("The study is closed.")).to_be_visible()
    study.refresh_from_db()
    assert study.state == "closed"


def test_a_preview_is_gone_through_with_the_keyboard_and_stores_nothing(signed_in: Page, study: Study) -> None:
    page, before = signed_in, Response.objects.count()
    page.get_by_text("More actions").click()
    page.get_by_role("link", name="Preview", exact=True).click()
    page.get_by_role("button", name="I agree", exact=True).press("Enter")
    page.get_by_role("button", name="Start").press("Enter")
    for number in (1, 2, 3):
        expect(page.locator("[data-stage] [data-heading]")).to_have_text(re.compile(rf"Question {number} of 3"))
        assert question_number(page) == number
        page.keyboard.press("2")
        page.keyboard.press("Enter")
    expect(page.get_by_role("heading", name="That was the preview")).to_be_visible()
    assert Response.objects.count() == before


def test_a_job_goes_on_as_a_bar_on_other_pages_and_ends_in_a_notice(
    signed_in: Page, live_server: LiveServer, study: Study, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(run_job, "apply_async", lambda args, kwargs, **options: None)
    page = signed_in
    page.get_by_role("link", name="Exports", exact=True).click()
    page.get_by_role("button", name="Export", exact=True).click()
    expect(page.get_by_text("Waiting for the worker")).to_have_count(1)
    now, export = timezone.now(), Job.objects.filter(kind="results.export")
    export.update(state=JobState.RUNNING, attempts=1, started_at=now, beat_at=now, done=3, total=7)
    page.goto(f"{live_server.url}/projects/birds/instances/")
    running = page.get_by_role("region", name="Running now")
    expect(running).to_contain_text("3 of 7 rows")
    assert_accessible(page)
    assert_no_wider_than_the_window(page)
    export.update(state=JobState.DONE, finished_at=timezone.now())
    expect(page.locator("#job-notices")).to_have_text(re.compile(r"Export of .* \(Accepted items, JSONL\) is done\."))
    expect(running).to_have_count(0)


def test_notices_of_ended_jobs_fold_are_dismissed_and_come_once(
    signed_in: Page, live_server: LiveServer, study: Study
) -> None:
    page, ana = signed_in, User.objects.get(username="ana")
    page.wait_for_load_state("networkidle")
    tomorrow = timezone.now() + timedelta(days=1)
    ended = {"state": JobState.DONE, "asked_at": timezone.now(), "finished_at": tomorrow, "requested_by": ana}
    for number in range(4):
        job = Job.objects.create(kind="studies.import", unit="rows", **ended)
        Import.objects.create(
            project=study.project,
            requested_by=ana,
            requested_at=timezone.now(),
            files=[{"path": f"/a/{number}.csv"}],
            format="csv",
            job=job,
            by_name="ana",
        )
    notices = page.locator("#job-notices [data-notice]:visible")
    page.goto(f"{live_server.url}/tokens/")
    expect(notices).to_have_count(2)
    assert_accessible(page)
    # By keyboard: whoever dismisses one goes on at the next.
    page.get_by_role("button", name="and 2 more").focus()
    page.keyboard.press("Enter")
    expect(notices).to_have_count(4)
    for left in (3, 2, 1):
        expect(notices.first.get_by_role("button", name="Dismiss")).to_be_focused()
        page.keyboard.press("Enter")
        expect(notices).to_have_count(left)
    page.keyboard.press("Enter")
    expect(notices).to_have_count(0)
    expect(page.locator("#main")).to_be_focused()
    # The server would tell them again, as to a browser that missed the answer; they end in the future here.
    with page.expect_response("**/jobs/"):
        page.reload()
    expect(page.locator("#jobs:not([hx-get])")).to_be_attached()
    expect(notices).to_have_count(0)
