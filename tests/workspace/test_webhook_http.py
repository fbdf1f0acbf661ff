"""What the site sends to addresses that people name, and what it does not reach for them."""

import socket
import threading
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from typing import Any

import pytest
from pytest_django import Settings

from tests.certificates import with_certificate
from tests.receivers import Request, answer_with, receiving
from workspace import webhook_http
from workspace.webhook_http import AddressRefused, Answer, NotReached, check_url, look_up, post


@pytest.mark.parametrize(
    ("url", "reason"),
    [
        ("http://example.org/", "must begin with https://"),
        ("file:///etc/passwd", "must begin with https://"),
        ("gopher://example.org/", "must begin with https://"),
        ("https://", "is not a URL"),
        ("https://example.org:99999/", "is not a URL"),
        ("https://[::1/", "is not a URL"),
        ("https://ann:secret@example.org/", "without a user name"),
        ("https://example.org/#there", "without a user name"),
        ("https://example.org/a b", "without spaces"),
        ("https://example.org/a\r\nHost: other", "without spaces"),
        ("https://exämple.org/", "plain characters"),
        (f"https://example.org/{'a' * 500}", "at most 500"),
    ],
)
def test_what_is_no_address_to_send_to_is_refused(url: str, reason: str) -> None:
    with pytest.raises(AddressRefused, match=reason):
        check_url(url)


def leading_to(monkeypatch: pytest.MonkeyPatch, *answers: str) -> list[str]:
    """Have names lead to these addresses, another one each time; return what was connected to, which all fails."""
    found, connected = iter(answers), list[str]()

    def getaddrinfo(host: str, port: int, **kinds: Any) -> list[Any]:
        return [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (next(found), port))]

    def connect(address: tuple[str, int], timeout: float) -> socket.socket:
        connected.append(address[0])
        raise ConnectionRefusedError

    monkeypatch.setattr(socket, "getaddrinfo", getaddrinfo)
    monkeypatch.setattr(socket, "create_connection", connect)
    return connected


@pytest.mark.parametrize("address", ["127.0.0.1", "10.0.0.5", "169.254.169.254"])
def test_a_name_that_leads_into_a_private_network_is_refused(address: str, monkeypatch: pytest.MonkeyPatch) -> None:
    connected = leading_to(monkeypatch, address)
    with pytest.raises(AddressRefused, match="is in a private network"):
        post("https://example.org/", b"", {})
    assert connected == []


def test_a_name_of_which_one_address_is_private_is_refused_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    entries = [(socket.AF_INET, socket.SOCK_STREAM, 6, "", (each, 443)) for each in ("93.184.215.14", "10.0.0.5")]
    monkeypatch.setattr(socket, "getaddrinfo", lambda *asked, **kinds: entries)
    with pytest.raises(AddressRefused, match="private network"):
        look_up("example.org", 443)


def test_a_name_is_looked_up_once_and_what_was_checked_is_connected_to(monkeypatch: pytest.MonkeyPatch) -> None:
    connected = leading_to(monkeypatch, "93.184.215.14", "127.0.0.1")
    with pytest.raises(NotReached, match=r"example\.org refused the connection"):
        post("https://example.org/", b"", {})
    assert connected == ["93.184.215.14"]


def test_a_number_written_otherwise_is_read_as_the_system_reads_it() -> None:
    # 127.0.0.1 as one number, which the system's look-up takes for an address.
    with pytest.raises(AddressRefused, match="private network"):
        look_up("2130706433", 443)


@pytest.fixture
def to_this_machine(settings: Settings) -> None:
    settings.WEBHOOKS_TO_PRIVATE_ADDRESSES = True


@pytest.mark.usefixtures("to_this_machine")
def test_a_message_arrives_as_it_was_sent() -> None:
    with receiving(answer_with(202, b"thanks")) as receiver:
        assert post(f"{receiver.url}?a=b", "é".encode(), {"webhook-id": "x"}) == Answer(202, "thanks")
    (request,) = receiver.requests
    assert (request.method, request.path, request.body) == ("POST", "/news?a=b", "é".encode())
    assert request.headers["webhook-id"] == "x"
    assert request.headers["host"] == f"127.0.0.1:{receiver.port}"


@pytest.mark.usefixtures("to_this_machine")
def test_no_answer_leads_anywhere_else() -> None:
    with receiving(answer_with(200)) as other, receiving(answer_with(307, Location=other.url)) as receiver:
        assert post(receiver.url, b"", {}).status == 307
    assert other.requests == []


@pytest.mark.usefixtures("to_this_machine")
def test_of_a_long_answer_the_beginning_is_read() -> None:
    with receiving(answer_with(500, b"\xff\0" + b"a" * 10_000_000)) as receiver:
        answer = post(receiver.url, b"", {})
    assert answer == Answer(500, "\ufffd\ufffd" + "a" * 498)


@pytest.mark.usefixtures("to_this_machine")
def test_an_answer_that_drips_is_ended_when_its_time_is_up(monkeypatch: pytest.MonkeyPatch) -> None:
    # Every read succeeds in time; all of them together never end.
    monkeypatch.setattr(webhook_http, "SECONDS", 0.5)
    gone = threading.Event()

    def drip(handler: BaseHTTPRequestHandler, request: Request) -> None:
        try:
            while not gone.wait(0.05):
                handler.wfile.write(b"a")
        except OSError:
            gone.set()

    with receiving(drip) as receiver:
        try:
            with pytest.raises(NotReached, match="did not answer within"):
                post(receiver.url, b"", {})
        finally:
            gone.set()


@pytest.mark.usefixtures("to_this_machine")
def test_what_is_no_http_is_said_to_be_none() -> None:
    def greet(handler: BaseHTTPRequestHandler, request: Request) -> None:
        handler.wfile.write(b"220 mail.example ESMTP\r\n")

    with receiving(greet) as receiver, pytest.raises(NotReached, match="complete HTTP response"):
        post(receiver.url, b"", {})


@pytest.mark.usefixtures("to_this_machine")
@pytest.mark.parametrize(("name", "is_right"), [("receiver.test", True), ("other.test", False)])
def test_a_certificate_must_be_for_the_name_and_not_for_the_address(
    name: str, is_right: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls, real = with_certificate(tmp_path, name), socket.getaddrinfo
    monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
    monkeypatch.setattr(
        socket,
        "getaddrinfo",
        lambda host, *rest, **kinds: real("127.0.0.1" if host == "receiver.test" else host, *rest, **kinds),
    )
    with receiving(answer_with(200), tls) as receiver:
        url = f"https://receiver.test:{receiver.port}/"
        if is_right:
            assert post(url, b"", {}).status == 200
        else:
            with pytest.raises(NotReached, match="certificate"):
                post(url, b"", {})
    assert len(receiver.requests) == is_right
