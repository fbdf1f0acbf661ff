"""A participant of the local platform takes part in a study of the site, and is paid."""

from collections.abc import Callable
from pathlib import Path

from playwright.sync_api import Page, expect
from pytest_django import Settings
from pytest_django.live_server_helper import LiveServer

from annotation.models import Session, SessionState
from annotation.recruitment.prolific import bodies
from studies.models import CompletionCode, Outcome, Study
from tests.browser.stage import answer, question_number
from tests.prolific import local_platform

IDS = "PROLIFIC_PID={{%PROLIFIC_PID%}}&STUDY_ID={{%STUDY_ID%}}&SESSION_ID={{%SESSION_ID%}}"


def test_a_participant_comes_from_the_local_platform_and_returns_with_the_code(
    page: Page, live_server: LiveServer, open_study: Callable[..., Study], settings: Settings, tmp_path: Path
) -> None:
    study = open_study(instances=2, recruitment={"any_ids": False})
    code = CompletionCode.objects.get(study=study, outcome=Outcome.FINISHED).code
    with local_platform(tmp_path) as local:
        settings.PROLIFIC_COMPLETION_URL = f"{local.double.address}/submissions/complete"
        reviewed = bodies.CompletionCode(code=code, code_type="COMPLETED", actions=(bodies.ManuallyReview(),))
        remote = local.published(
            external_study_url=f"{live_server.url}/take/{study.entry_name}/?{IDS}", completion_codes=(reviewed,)
        )
        page.goto(local.double.address)
        page.get_by_role("button", name="Play a new participant").click()
        page.get_by_role("button", name="Take a place").click()
        page.get_by_role("button", name="Open study").click()
        page.get_by_role("button", name="Start", exact=True).click()
        page.get_by_role("button", name="Start").click()
        for number, key in enumerate(["1", "2"], start=1):
            assert question_number(page) == number
            answer(page, key)
        page.get_by_role("link", name="Go back to Prolific").click()
        expect(page.get_by_text(f"AWAITING REVIEW, code {code}.")).to_be_visible()
        [submission] = local.client.list_submissions(remote)
        session = Session.objects.select_related("annotator").get()
        assert (session.state, session.provider_session_id) == (SessionState.FINISHED, submission.id)
        assert session.annotator.provider_id == submission.participant_id
        local.client.approve_submission(submission.id)
        page.reload()
        expect(page.get_by_text("paid USD 4.00")).to_be_visible()
