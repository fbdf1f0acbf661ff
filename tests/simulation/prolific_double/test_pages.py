"""The pages of the local platform, as a browser uses them."""

from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import httpx
import pytest
from bs4 import BeautifulSoup
from django.core.management import CommandError, call_command

from simulation.prolific_double.server import Double
from simulation.prolific_double.switches import Switch
from tests.prolific import DONE, PERSON, TOKEN, Local, new_study


@pytest.fixture
def browser(local: Local) -> Iterator[httpx.Client]:
    with httpx.Client(base_url=local.double.address, follow_redirects=True) as client:
        yield client


def press(browser: httpx.Client, page: httpx.Response, button: str, **fields: str) -> httpx.Response:
    """Press the first button of this text on a page; `fields` is what is typed first."""
    soup = BeautifulSoup(page.text, "html.parser")
    [pressed, *_] = [one for one in soup.find_all("button") if one.get_text() == button]
    form = pressed.find_parent("form")
    assert form is not None
    values = {str(one["name"]): str(one.get("value", "")) for one in form.find_all("input")}
    if pressed.get("name"):
        values[str(pressed["name"])] = str(pressed["value"])
    headers = {"Referer": str(page.url)}
    return browser.post(str(form["action"]), data={**values, **fields}, headers=headers)


def test_a_participant_is_played_from_the_first_page_to_the_code(local: Local, browser: httpx.Client) -> None:
    link = f"{local.double.address}/nowhere/?PROLIFIC_PID={{{{%PROLIFIC_PID%}}}}&SESSION_ID={{{{%SESSION_ID%}}}}"
    study = local.published(external_study_url=link)
    page = press(browser, browser.get("/"), "Play a new participant")
    page = press(browser, page, "Take a place")
    assert "RESERVED" in page.text
    opened = press(browser, page, "Open study")
    [submission] = local.client.list_submissions(study)
    assert parse_qs(urlsplit(str(opened.url)).query) == {
        "PROLIFIC_PID": [submission.participant_id],
        "SESSION_ID": [submission.id],
    }
    done = browser.get("/submissions/complete", params={"cc": DONE})
    assert done.status_code == 200
    assert f"AWAITING REVIEW, code {DONE}" in done.text
    assert submission.id in browser.get("/").text


@pytest.mark.parametrize(
    ("button", "fields", "status", "code"),
    [
        ("Complete", {"code": "WRONG"}, "AWAITING REVIEW", "WRONG"),
        ("Complete without a code", {}, "AWAITING REVIEW", "NOCODE"),
        ("Return", {}, "RETURNED", None),
    ],
)
def test_a_participant_leaves_in_other_ways(
    local: Local, browser: httpx.Client, button: str, fields: dict[str, str], status: str, code: str | None
) -> None:
    submission = local.opened(local.published())
    press(browser, browser.get(f"/participants/{PERSON}/"), button, **fields)
    detail = local.client.read_submission(submission)
    assert (detail.status, detail.entered_code) == (status, code)


def test_a_browser_that_opened_no_study_completes_nothing(browser: httpx.Client) -> None:
    answer = browser.get("/submissions/complete", params={"cc": DONE})
    assert answer.status_code == 400
    assert "has not opened a study" in answer.text


def test_a_switch_is_turned_on_and_off_on_the_page(local: Local, browser: httpx.Client) -> None:
    first = next(iter(Switch))
    page = press(browser, browser.get("/"), "Turn on")
    assert local.double.platform.switches.is_on(first)
    assert [switch.effect in page.text for switch in (first, Switch.WEBHOOKS_LOST)] == [True, True]
    press(browser, page, "Turn off")
    assert not local.double.platform.switches.is_on(first)
    press(browser, browser.get("/"), "Once")
    assert local.double.platform.switches.left(first) == 1


def test_scripts_turn_switches_as_the_page_does(local: Local, browser: httpx.Client) -> None:
    assert browser.post("/play/switch/", json={"name": "slow", "left": 3}).json() == {}
    assert local.double.platform.switches.left(Switch.SLOW) == 3
    assert browser.post("/play/switch/", json={"name": "quick", "left": 3}).status_code == 400


def test_the_clock_is_put_forward_on_the_page(local: Local, browser: httpx.Client) -> None:
    submission = local.taken(local.published())
    page = press(browser, browser.get("/"), "Put the clock forward", minutes="10")
    assert "20 Nov 2026, 12:10:00 UTC" in page.text
    assert local.status(submission) == "TIMED-OUT"


def test_names_of_studies_are_escaped(local: Local, browser: httpx.Client) -> None:
    local.published(name="<script>alert(1)</script>")
    assert "<script>alert" not in browser.get("/").text


@pytest.mark.parametrize(
    ("method", "path", "json", "status"),
    [
        ("GET", "/nowhere/", None, 404),
        ("POST", "/play/take/", {}, 400),
        ("POST", "/play/open/", {"submission": "none"}, 404),
        ("POST", "/play/advance/", {"minutes": "soon"}, 400),
        ("POST", "/play/switch/", {"name": "slow", "left": "often"}, 400),
    ],
)
def test_what_cannot_be_done_is_refused(
    browser: httpx.Client, method: str, path: str, json: object, status: int
) -> None:
    assert browser.request(method, path, json=json).status_code == status


@pytest.mark.parametrize("content", [b"{", b"[]", b"3"])
def test_a_body_that_is_no_object_is_refused(browser: httpx.Client, content: bytes) -> None:
    headers = {"Authorization": f"Token {TOKEN}", "Content-Type": "application/json"}
    answer = browser.post("/api/v1/studies/", content=content, headers=headers)
    assert answer.status_code == 400
    assert answer.json()["error"]["detail"].startswith("The request cannot be read")


def test_a_page_past_the_last_is_not_found(local: Local, browser: httpx.Client) -> None:
    headers = {"Authorization": f"Token {TOKEN}"}
    query = {"study": local.published(), "page": "2"}
    assert browser.get("/api/v1/submissions/", params=query, headers=headers).status_code == 404


def test_everything_is_there_again_after_a_restart(local: Local, tmp_path: Path) -> None:
    submission = local.completed(local.published())
    local.play("advance", minutes=5)
    with closing(Double(tmp_path, token=TOKEN, real_now=lambda: local.time)) as again:
        assert again.platform.submission(submission)["status"] == "AWAITING REVIEW"
        assert again.platform.now() == local.double.platform.now()


def test_the_command_refuses_a_switch_that_does_not_exist(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="quick on: name a switch"):
        call_command("prolific_double", "--port", "0", "--folder", tmp_path, "--switch", "quick")


def test_the_command_refuses_what_is_not_a_folder(tmp_path: Path) -> None:
    file = tmp_path / "notes.txt"
    file.touch()
    with pytest.raises(CommandError, match=r"The folder \S+/notes\.txt cannot be used: File exists\."):
        call_command("prolific_double", "--port", "0", "--folder", file)


def test_the_command_refuses_a_port_that_is_in_use(local: Local, tmp_path: Path) -> None:
    port = local.double.address.rpartition(":")[2]
    with pytest.raises(CommandError, match=f"The port {port} cannot be used: Address already in use"):
        call_command("prolific_double", "--port", port, "--folder", tmp_path / "another")


def test_the_command_refuses_a_number_that_no_port_has(tmp_path: Path) -> None:
    with pytest.raises(CommandError, match="--port is 70000"):
        call_command("prolific_double", "--port", "70000", "--folder", tmp_path)


def test_the_command_runs_the_platform_with_its_switches_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    left: list[int] = []

    def run(double: Double) -> None:
        left.extend(double.platform.switches.left(switch) for switch in (Switch.RATE_LIMITED, Switch.WEBHOOKS_LOST))
        raise KeyboardInterrupt

    monkeypatch.setattr(Double, "run", run)
    switches = ["--switch", "rate_limited=3", "--switch", "webhooks_lost"]
    call_command("prolific_double", "--port", "0", "--folder", tmp_path, "--token", "another", *switches)
    assert left == [3, -1]
    assert "Its API accepts the token another." in capsys.readouterr().out


def test_every_switch_is_explained(capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        call_command("prolific_double", "--help")
    said = capsys.readouterr().out
    times, states = said.split("switches that are on or off:")
    for switch in Switch:
        assert f"  {switch.key:<22} {switch.effect}\n" in (states if switch.is_state else times)


def test_a_state_is_not_on_for_a_number_of_times(browser: httpx.Client) -> None:
    wrong = browser.post("/play/switch/", json={"name": "balance_low", "left": "3"})
    assert (wrong.status_code, "balance_low is on or off" in wrong.text) == (400, True)
    assert browser.post("/play/switch/", json={"name": "balance_low", "left": "on"}).status_code == 200


def test_a_researcher_may_publish_and_pause_on_the_pages(local: Local, browser: httpx.Client) -> None:
    study = local.client.create_study(new_study()).id
    for button, status in (("Publish", "ACTIVE"), ("Pause", "PAUSED"), ("Start", "ACTIVE"), ("Stop", "COMPLETED")):
        assert f'value="{button.upper()}">{button}</button>' in browser.get("/").text
        browser.post("/play/study/", data={"study": study, "action": button.upper()})
        assert local.client.read_study(study).status == status
    assert 'action="/play/study/"' not in browser.get("/").text


def test_a_draft_takes_nobody(local: Local) -> None:
    draft = local.client.create_study(new_study()).id
    with pytest.raises(AssertionError, match="no open places"):
        local.taken(draft)
