import json
import traceback
from contextlib import suppress
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from time import sleep

import pytest
import time_machine

from annotation.recruitment.prolific import connection as module
from annotation.recruitment.prolific.client import Client
from annotation.recruitment.prolific.connection import Connection, ProlificError
from simulation.prolific_double.server import WORKSPACE
from simulation.prolific_double.switches import Switch
from tests.prolific import NOON, TOKEN, local_platform, new_study
from tests.receivers import Receiver, Request, answer_with, receiving

ME = "/api/v1/users/me/"


def connected(receiver: Receiver, *, token: str = TOKEN, seconds: float = 5) -> tuple[Connection, list[float]]:
    """Return a connection to a receiver, and what it waits between attempts."""
    waits: list[float] = []
    address = f"http://127.0.0.1:{receiver.port}"
    return Connection(token, address=address, seconds=seconds, sleep=waits.append), waits


def refusal(status: int, body: bytes, method: str = "POST", **headers: str) -> ProlificError:
    """Return what a connection raises when a server answers so."""
    with receiving(answer_with(status, body, **headers)) as receiver:
        connection, _ = connected(receiver)
        with pytest.raises(ProlificError) as raised:
            connection.request(method, ME)
    return raised.value


def test_the_token_is_sent_as_prolific_wants_it() -> None:
    with receiving(answer_with(200, b"{}")) as receiver:
        connected(receiver)[0].request("GET", ME, query={"page": 2})
    [request] = receiver.requests
    assert request.headers["authorization"] == f"Token {TOKEN}"
    assert request.path == f"{ME}?page=2"


def test_each_response_says_how_far_prolifics_clock_is_ahead(tmp_path: Path) -> None:
    with time_machine.travel(NOON, tick=False), local_platform(tmp_path) as local:
        assert local.client.clock_ahead is None
        local.client.read_user()
        assert local.client.clock_ahead == 0
        local.switch(Switch.CLOCK_AHEAD)
        local.client.read_user()
        assert local.client.clock_ahead == 20 * 60


@pytest.mark.parametrize("date", ["", "soon", "Wed, 99 Nov 2026 12:00:00 GMT"])
def test_a_response_without_a_time_says_nothing_of_clocks(date: str) -> None:
    def answer(handler: BaseHTTPRequestHandler, request: Request) -> None:
        handler.send_response_only(200)
        handler.send_header("Date", date)
        handler.send_header("Content-Length", "2")
        handler.end_headers()
        handler.wfile.write(b"{}")

    with receiving(answer) as receiver:
        connection, _ = connected(receiver)
        connection.request("GET", ME)
    assert connection.clock_ahead is None


def test_a_response_has_no_character_that_cannot_be_stored() -> None:
    with receiving(answer_with(200, rb'{"study_code": "A\u0000B"}')) as receiver:
        assert connected(receiver)[0].request("GET", ME).body == {"study_code": "A\N{REPLACEMENT CHARACTER}B"}


@pytest.mark.parametrize("token", ["", "two words", "line\nbreak", "ключ"])
def test_what_cannot_be_a_token_is_refused_before_it_is_sent(token: str) -> None:
    with pytest.raises(ProlificError, match="not a token of Prolific"):
        Connection(token)


def test_a_read_is_repeated_after_the_seconds_that_prolific_names(tmp_path: Path) -> None:
    with local_platform(tmp_path) as local:
        local.switch(Switch.RATE_LIMITED, "4")
        assert local.client.read_user().currency_code == "USD"
        assert local.waits == [1, 1, 1, 1]


@pytest.mark.parametrize("switch", [Switch.AWAY, Switch.REPLY_LOST])
def test_the_waits_of_a_read_double_when_prolific_is_away(tmp_path: Path, switch: Switch) -> None:
    with local_platform(tmp_path) as local:
        local.switch(switch, "4")
        assert local.client.read_user().currency_code == "USD"
    assert len(local.waits) == 4
    # From half of 1, 2, 4 and 8 seconds to all of it.
    assert all(longest / 2 <= wait <= longest for wait, longest in zip(local.waits, (1, 2, 4, 8), strict=True))


def test_a_read_is_given_up_after_five_attempts(tmp_path: Path) -> None:
    with local_platform(tmp_path) as local:
        local.switch(Switch.RATE_LIMITED, "6")
        with pytest.raises(ProlificError, match="too much to do") as raised:
            local.client.read_user()
        assert (raised.value.status, raised.value.retry_after, raised.value.is_uncertain) == (429, 1, False)
        assert local.double.platform.switches.left(Switch.RATE_LIMITED) == 1


@pytest.mark.parametrize(
    ("switch", "status", "is_uncertain", "says"),
    [
        (Switch.RATE_LIMITED, 429, False, "too much to do"),
        (Switch.AWAY, 503, True, "may have been done or not"),
        (Switch.REPLY_LOST, None, True, "may have been done or not"),
    ],
)
def test_a_write_is_sent_once(
    tmp_path: Path, switch: Switch, status: int | None, is_uncertain: bool, says: str
) -> None:
    with local_platform(tmp_path) as local:
        local.switch(switch, "2")
        with pytest.raises(ProlificError, match=says) as raised:
            local.client.create_study(new_study())
        assert (raised.value.status, raised.value.is_uncertain) == (status, is_uncertain)
        assert local.double.platform.switches.left(switch) == 1
        assert local.waits == []


def test_a_write_whose_reply_was_lost_has_happened(tmp_path: Path) -> None:
    with local_platform(tmp_path) as local:
        local.switch(Switch.REPLY_LOST, "1")
        with pytest.raises(ProlificError):
            local.client.create_study(new_study())
        assert len(local.double.store.list("study")) == 1


def test_a_response_that_takes_too_long_is_not_waited_for(tmp_path: Path) -> None:
    with local_platform(tmp_path, seconds=0.1, slow_seconds=60) as local:
        local.switch(Switch.SLOW)
        with pytest.raises(ProlificError, match="did not answer") as raised:
            local.client.read_balance(WORKSPACE)
        assert len(local.waits) == 4
        assert raised.value.status is None


def test_a_server_that_cannot_be_reached_has_done_nothing() -> None:
    with receiving(answer_with(200)) as receiver:
        pass
    connection, _ = connected(receiver)
    with pytest.raises(ProlificError, match="cannot be reached") as raised:
        connection.request("POST", ME, body={})
    assert not raised.value.is_uncertain


def test_a_redirect_is_not_followed() -> None:
    with receiving(answer_with(200)) as elsewhere:
        error = refusal(302, b"", Location=elsewhere.url)
    assert error.status == 302
    assert elsewhere.requests == []


@pytest.mark.parametrize(
    "body",
    [
        b'{"error": {"status": 400, "title": "Bad request", "detail": "The name is missing."}}',
        b'{"status": 400, "title": "Bad request", "detail": ["The name", "is missing."]}',
        b'{"message": "The name is missing."}',
        b'{"detail": "The name is missing."}',
        b"The name\n  is missing.",
    ],
)
def test_each_shape_of_an_error_is_read(body: bytes) -> None:
    assert str(refusal(400, body)) == "Prolific refuses this (400): The name is missing."


def test_errors_of_fields_name_them() -> None:
    error = refusal(400, b'{"error": {"detail": {"reward": ["Too low."], "name": ["Too long.", "Not unique."]}}}')
    assert error.sentence == "Prolific refuses this (400): reward: Too low. name: Too long. Not unique."
    assert error.body == {"error": {"detail": {"reward": ["Too low."], "name": ["Too long.", "Not unique."]}}}


@pytest.mark.parametrize(
    ("status", "says"),
    [
        (400, r"refuses this \(400\)\.$"),
        (401, "does not accept the token. Create one on Prolific"),
        (403, "does not allow this"),
        (404, "does not have this"),
        (429, "too much to do"),
        (500, r"failed \(500\), so this may have been done or not"),
    ],
)
def test_each_status_has_a_sentence(status: int, says: str) -> None:
    with pytest.raises(ProlificError, match=says):
        raise refusal(status, b"")


@pytest.mark.parametrize("status", [400, 500])
def test_a_status_that_repeating_does_not_change_is_not_repeated(status: int) -> None:
    with receiving(answer_with(status)) as receiver:
        connection, waits = connected(receiver)
        with pytest.raises(ProlificError):
            connection.request("GET", ME)
    assert len(receiver.requests) == 1
    assert waits == []


@pytest.mark.parametrize(
    ("header", "seconds"),
    [("7", 7), ("", 0), ("soon", 0), ("-3", 0), ("3600", 30), ("Wed, 21 Oct 2015 07:28:00 GMT", 0), ("9" * 400, 30)],
)
def test_the_header_retry_after_is_read_with_care(header: str, seconds: float) -> None:
    assert refusal(429, b"", **{"Retry-After": header}).retry_after == seconds


def test_the_token_stays_out_of_errors() -> None:
    """A server that repeats the token in what it says, in a body and in the text of a failure."""
    error = refusal(400, f'{{"detail": "Bad header: Token {TOKEN}"}}'.encode())
    assert error.sentence == "Prolific refuses this (400): Bad header: Token [token]"
    assert TOKEN not in repr((error, error.body, error.args))
    assert TOKEN not in "".join(traceback.format_exception(error))


def test_the_token_stays_out_of_the_text_of_a_connection() -> None:
    with receiving(answer_with(200)) as receiver:
        assert TOKEN not in repr(connected(receiver)[0])


def test_a_response_that_breaks_off_is_none() -> None:
    def break_off(handler: BaseHTTPRequestHandler, request: Request) -> None:
        handler.send_response(200)
        handler.send_header("Content-Length", "100")
        handler.end_headers()
        handler.wfile.write(b'{"id":')

    with receiving(break_off) as receiver:
        connection, _ = connected(receiver)
        with pytest.raises(ProlificError, match="may have been done or not"):
            connection.request("POST", ME)


def test_the_token_stays_out_of_the_error_about_a_success_that_cannot_be_read() -> None:
    with receiving(answer_with(200, f'{{"token": "{TOKEN}"}}'.encode())) as receiver:
        client = Client(connected(receiver)[0])
        with pytest.raises(ProlificError, match="a form that this version does not know") as raised:
            client.read_user()
    assert raised.value.body == {"token": "[token]"}


def never_end(handler: BaseHTTPRequestHandler, request: Request) -> None:
    handler.send_response(200)
    handler.end_headers()
    with suppress(OSError):
        while True:
            handler.wfile.write(b" ")
            sleep(0.01)


def test_a_response_that_trickles_in_is_not_waited_for() -> None:
    """Each byte comes in time, so only the time for all of them ends it."""
    with receiving(never_end) as receiver:
        connection, _ = connected(receiver)
        with connection.within(0.2), pytest.raises(ProlificError, match="did not answer, so this may have been done"):
            connection.request("POST", ME)


def test_a_response_without_end_is_not_read(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "LARGEST_BODY", 3)
    with receiving(never_end) as receiver:
        connection, waits = connected(receiver)
        with pytest.raises(ProlificError, match="Prolific did not answer"):
            connection.request("GET", ME)
    assert len(waits) == 4


def test_a_list_without_end_is_not_read() -> None:
    """Each page names another one that was not read yet."""

    def answer(handler: BaseHTTPRequestHandler, request: Request) -> None:
        following = {"next": {"href": f"/api/v1/workspaces/?page={len(receiver.requests)}"}}
        answer_with(200, json.dumps({"results": [], "_links": following}).encode())(handler, request)

    with receiving(answer) as receiver:
        connection, _ = connected(receiver)
        client = Client(connection)
        with client.within(0.3), pytest.raises(ProlificError, match="Try again later"):
            client.list_workspaces()
