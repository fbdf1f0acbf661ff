"""Texts by language models: what is asked, what is taken of the answers, and what becomes of the rest."""

import json
import socket
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from decimal import Decimal
from http.server import BaseHTTPRequestHandler
from pathlib import Path
from threading import Event
from typing import Any

import httpcore2
import pytest
from pydantic import ValidationError

from making.errors import CannotMake
from making.makers import MadeText, NothingMade, Request
from making.makers.llm import ATTEMPTS, NEXT_ATTEMPT, Llm, Price, caption_in
from making.tokens import Cost, Tokens
from tests.certificates import with_certificate
from tests.making.chat_model import NAME, TOKENS, ChatModel, Replies, caption_of, chat_model, fails, says, says_caption
from tests.receivers import Answer, answer_with
from tests.receivers import Request as Sent

A_DOG = Request("A dog.", 1, 5)
NOT_JSON = "The language model's answer is not the JSON that it was asked for."
ONCE = Tokens(*TOKENS)


@pytest.fixture(autouse=True)
def pauses(monkeypatch: pytest.MonkeyPatch) -> list[float]:
    """The pauses between attempts, which nobody waits for."""
    found: list[float] = []
    monkeypatch.setattr("making.makers.llm.sleep", found.append)
    return found


@pytest.fixture(autouse=True)
def no_memory(monkeypatch: pytest.MonkeyPatch) -> None:
    """Forget what servers of other tests took: ports are used again."""
    monkeypatch.setattr("making.language_models.chat_server._taken", {})


@pytest.fixture(autouse=True)
def no_settings(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("LINEUP_LLM_ADDRESS", "LINEUP_LLM_API_KEY"):
        monkeypatch.delenv(name, raising=False)
        monkeypatch.delenv(f"{name}_FILE", raising=False)


Made = tuple[Any, ChatModel]


@pytest.fixture
def make(monkeypatch: pytest.MonkeyPatch) -> Callable[..., Made]:
    """Return a function that lets a stand-in answer requests, and returns what was made and what it was asked."""

    def make(replies: Replies, *requests: Request, **options: Any) -> Made:
        with chat_model(replies) as model:
            monkeypatch.setenv("LINEUP_LLM_ADDRESS", model.address)
            told = {"template": "replace-object", "address": model.address} | options
            return Llm(**told).load(NAME).make(requests or [A_DOG]), model

    return make


def cats(asked: Any, number: int) -> Answer:
    return says_caption(caption_of(asked).replace("dog", "cat"))


def test_a_template_is_filled_in_and_its_answer_becomes_a_text(make: Callable[..., Made]) -> None:
    results, model = make(cats, Request("A dog\n sleeps.", 1, 5), temperature=0.5, max_tokens=99)
    (asked,) = model.asked
    (prompt,) = model.prompts
    assert (asked["model"], asked["temperature"], asked["seed"], asked["max_tokens"]) == (NAME, 0.5, 5, 99)
    assert "Caption: A dog sleeps.\n" in prompt
    # A worked example, as JSON.
    assert '{"change": "owl -> crow", "caption": "a crow perched on a fence post at dusk"}' in prompt
    form = asked["response_format"]["json_schema"]
    assert (form["strict"], form["schema"]["required"]) == (True, ["change", "caption"])
    assert results == [[MadeText("A cat sleeps.", prompt, ONCE)]]


def test_each_candidate_has_its_own_seed_and_the_same_requests_have_the_same_prompts_and_seeds(
    make: Callable[..., Made],
) -> None:
    def by_seed(asked: Any, number: int) -> Answer:
        return says_caption(f"{caption_of(asked)} Seed {asked['seed']}.")

    requests = Request("A dog.", 2, 5), Request("A bird.", 1, 2**32 - 1)
    results, model = make(by_seed, *requests)
    assert [[made.text for made in result] for result in results] == [
        ["A dog. Seed 5.", "A dog. Seed 6."],
        [f"A bird. Seed {2**31 - 1}."],
    ]
    alone, again = make(by_seed, requests[1])
    assert alone == [results[1]]
    assert again.asked[0] in model.asked


def test_without_temperature_a_text_is_asked_for_once(make: Callable[..., Made]) -> None:
    results, model = make(cats, Request("A dog.", 3, 5), temperature=0)
    assert [made.text for made in results[0]] == ["A cat."]
    assert len(model.asked) == 1
    (nothing,), model = make(lambda asked, number: says("Sure!"), Request("A dog.", 3, 5), temperature=0)
    assert (nothing.reason, len(model.asked)) == (NOT_JSON, 1)


@pytest.mark.parametrize(
    ("answer", "reason"),
    [
        (says("Sure! Here is a caption: A cat."), NOT_JSON),
        (says('["A cat."]'), NOT_JSON),
        (says('{"caption": 7}'), NOT_JSON),
        (says('{"caption": "A cat'), NOT_JSON),
        (says('{"caption": "A \\u0000 cat"}'), NOT_JSON),
        (says('{"caption": "A \\ud800 cat"}'), NOT_JSON),
        (says("[" * 100_000), NOT_JSON),
        (says(""), "The language model gave an empty answer."),
        (says(None), "The language model gave an empty answer."),
        (says("A cat and a cat and", "length"), "The language model did not come to an end within `max_tokens`."),
        (says(None, refusal="I cannot."), "The language model declined to answer."),
        (says("", "content_filter"), "The language model declined to answer."),
        (says_caption("a DOG"), "The language model repeated the text."),
    ],
)
def test_an_answer_that_cannot_be_used_is_asked_for_again_and_then_nothing_is_made(
    answer: Answer, reason: str, make: Callable[..., Made]
) -> None:
    def replies(asked: Any, number: int) -> Answer:
        return answer if caption_of(asked) == "A dog." else says_caption("A fish.")

    (nothing, rest), model = make(replies, A_DOG, Request("A bird.", 1, 6))
    assert nothing == NothingMade(reason, nothing.prompt, nothing.answer, Tokens(3 * TOKENS[0], 3 * TOKENS[1]))
    assert "Caption: A dog.\n" in nothing.prompt
    assert [asked["seed"] for asked in model.asked if caption_of(asked) == "A dog."] == [
        5,
        5 + NEXT_ATTEMPT,
        5 + 2 * NEXT_ATTEMPT,
    ]
    assert [made.text for made in rest] == ["A fish."]


def test_another_attempt_may_succeed_and_its_tokens_count_with_those_of_the_first(make: Callable[..., Made]) -> None:
    (made,), model = make(lambda asked, number: says("No.") if number == 1 else cats(asked, number))
    assert made == [MadeText("A cat.", model.prompts[0], ONCE + ONCE)]
    assert len(model.asked) == 2


def test_a_text_without_such_a_change_is_not_asked_for_again(make: Callable[..., Made]) -> None:
    (nothing,), model = make(lambda asked, number: says_caption(""))
    reason = "The language model found no such change in the text."
    assert nothing == NothingMade(reason, model.prompts[0], '{"change": "", "caption": ""}', ONCE)
    assert len(model.asked) == 1


def test_the_beginning_of_an_answer_that_cannot_be_used_is_told(make: Callable[..., Made]) -> None:
    (nothing,), _ = make(lambda asked, number: says(f"Sure!\0\ud800 {'and ' * 1000}"))
    assert nothing.answer.startswith("Sure!\ufffd\ufffd and and")
    assert len(nothing.answer) == 1000


def test_a_text_that_comes_twice_is_made_once(make: Callable[..., Made]) -> None:
    (made,), model = make(cats, Request("A dog.", 2, 5))
    assert [one.text for one in made] == ["A cat."]
    assert len(model.asked) == 1 + ATTEMPTS
    # All that was spent on this request.
    assert made[0].tokens == Tokens(4 * TOKENS[0], 4 * TOKENS[1])


@pytest.mark.parametrize("length", [1_001, 5_000])
def test_a_long_text_is_refused_without_asking_and_the_rest_goes_on(length: int, make: Callable[..., Made]) -> None:
    (nothing, rest), model = make(cats, Request("a" * length, 1, 1), A_DOG)
    assert nothing == NothingMade("The text is longer than 1,000 characters, the limit in `max_characters`.")
    assert [made.text for made in rest] == ["A cat."]
    assert len(model.asked) == 1


def test_a_text_that_is_too_long_for_the_model_is_refused_and_the_rest_goes_on(make: Callable[..., Made]) -> None:
    def replies(asked: Any, number: int) -> Answer:
        if len(caption_of(asked)) > 2_000:
            return fails(400, "This model's maximum context length is 2048 tokens. You asked for 2200.")
        return cats(asked, number)

    (nothing, rest), model = make(replies, Request("a" * 5_000, 1, 1), A_DOG, max_characters=10_000)
    assert nothing == NothingMade("The text is too long for the language model.", nothing.prompt)
    assert [made.text for made in rest] == ["A cat."]
    assert len(model.asked) == 2


def test_nothing_is_made_of_an_empty_text(make: Callable[..., Made]) -> None:
    results, model = make(cats, Request(" \n", 1, 1))
    assert (results, model.asked) == ([NothingMade("The text is empty.")], [])


def test_a_busy_server_is_asked_again_when_it_says(make: Callable[..., Made], pauses: list[float]) -> None:
    def busy(asked: Any, number: int) -> Answer:
        return fails(429, "Slow down.", **{"Retry-After": "7"}) if number < 6 else cats(asked, number)

    (made,), model = make(busy)
    assert (made[0].text, len(model.asked)) == ("A cat.", 6)
    assert pauses == pytest.approx([7] * 5)


def test_a_server_that_stays_busy_loses_no_text(make: Callable[..., Made], monkeypatch: pytest.MonkeyPatch) -> None:
    def busy(asked: Any, number: int) -> Answer:
        return cats(asked, number) if "dog" in caption_of(asked) else fails(503)

    monkeypatch.setattr("making.makers.llm.MOST_SECONDS", 0.2)
    with pytest.raises(CannotMake, match=r"127\.0\.0\.1 was too busy to answer \(503\)\. Continue the pipeline when"):
        make(busy, A_DOG, Request("A bird.", 1, 6))


def test_a_text_that_a_server_fails_at_is_given_up_after_some_attempts(
    make: Callable[..., Made], pauses: list[float]
) -> None:
    def replies(asked: Any, number: int) -> Answer:
        return cats(asked, number) if "dog" in caption_of(asked) else fails(500)

    (made, nothing), model = make(replies, A_DOG, Request("A bird.", 1, 6))
    assert (made[0].text, nothing.reason) == ("A cat.", "127.0.0.1 failed (500).")
    assert len(model.asked) == 1 + ATTEMPTS
    assert pauses == [1, 4, 10]


@pytest.mark.parametrize("status", [500, 502])
def test_a_server_that_fails_at_every_text_stops_the_pipeline(status: int, make: Callable[..., Made]) -> None:
    with pytest.raises(CannotMake, match=rf"127\.0\.0\.1 .*\({status}\)\. Continue the pipeline"):
        make(lambda asked, number: fails(status), A_DOG, Request("A bird.", 1, 6))


def test_a_connection_that_breaks_is_made_again(make: Callable[..., Made]) -> None:
    def broken(handler: BaseHTTPRequestHandler, sent: Sent) -> None:
        handler.connection.shutdown(socket.SHUT_RDWR)

    (made,), model = make(lambda asked, number: broken if number < 3 else cats(asked, number))
    assert (made[0].text, len(model.asked)) == ("A cat.", 3)
    (nothing,), _ = make(lambda asked, number: broken)
    assert nothing.reason == "127.0.0.1 did not send a complete answer."


@pytest.mark.parametrize("where", ["head", "body"])
def test_an_answer_that_comes_byte_by_byte_ends_at_the_time_limit(
    where: str, make: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("making.makers.llm.ATTEMPTS", 1)

    hung_up = Event()

    def slow(handler: BaseHTTPRequestHandler, sent: Sent) -> None:
        try:
            handler.wfile.write(b"HTTP/1.1 200 OK\r\n" + (b"X: " if where == "head" else b"\r\n"))
            for _ in range(1_000):
                handler.wfile.write(b"x")
                handler.wfile.flush()
                time.sleep(0.02)
        except OSError:
            hung_up.set()

    (nothing,), _ = make(lambda asked, number: slow, seconds=1)
    assert nothing.reason == "127.0.0.1 did not answer within 1 seconds."
    # Not after all of it: the connection is closed while the rest is on its way.
    assert hung_up.wait(30)


def test_an_endless_answer_is_not_read_to_its_end(make: Callable[..., Made]) -> None:
    def endless(handler: BaseHTTPRequestHandler, sent: Sent) -> None:
        handler.wfile.write(b"HTTP/1.1 200 OK\r\n\r\n")
        try:
            while True:
                handler.wfile.write(b"x" * 100_000)
        except OSError:
            pass

    (nothing,), _ = make(lambda asked, number: endless)
    assert nothing.reason == "127.0.0.1 did not send a complete answer."


def test_what_is_no_chat_completion_is_named(make: Callable[..., Made]) -> None:
    for body in (b"<html>", b"{}", b'{"choices": []}', b'{"choices": [{"message": {"content": 7}}]}'):
        (nothing,), _ = make(lambda asked, number, body=body: answer_with(200, body))
        assert nothing.reason == "127.0.0.1 did not answer like a language model."


def test_a_server_that_cannot_keep_to_a_schema_is_asked_without_one(make: Callable[..., Made]) -> None:
    def old(asked: Any, number: int) -> Answer:
        return fails(400, "response_format is not supported") if "response_format" in asked else cats(asked, number)

    results, model = make(old, A_DOG, Request("A dog runs.", 1, 6))
    assert [made.text for (made,) in results] == ["A cat.", "A cat runs."]
    assert 3 <= len(model.asked) <= 4


def test_a_newer_server_is_told_the_limit_by_its_newer_name(make: Callable[..., Made]) -> None:
    def newer(asked: Any, number: int) -> Answer:
        if "max_tokens" in asked:
            return fails(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        return cats(asked, number)

    (made,), model = make(newer)
    assert made[0].text == "A cat."
    assert "response_format" in model.asked[1]
    assert model.asked[1]["max_completion_tokens"] == 200


@pytest.mark.parametrize("says_which", [True, False])
def test_what_a_server_does_not_know_is_left_out_field_by_field_and_it_is_not_told_again(
    says_which: bool, make: Callable[..., Made], monkeypatch: pytest.MonkeyPatch
) -> None:
    def plain(asked: Any, number: int) -> Answer:
        # As a server of its own kind would, beginning with what it reads last.
        unknown = [name for name in ("seed", "max_tokens", "response_format") if name in asked]
        if not unknown:
            return cats(asked, number)
        detail = [{"loc": ["body", unknown[0]], "msg": "Extra inputs are not permitted"}] if says_which else "Bad."
        return answer_with(422, json.dumps({"detail": detail}).encode())

    with chat_model(plain) as model:
        monkeypatch.setenv("LINEUP_LLM_ADDRESS", model.address)
        llm = Llm(template="replace-object", address=model.address)
        for _ in range(2):
            assert llm.load(NAME).make([A_DOG]) == [[MadeText("A cat.", model.prompts[0], ONCE)]]
    left_out = [{"seed", "max_tokens", "response_format"} - asked.keys() for asked in model.asked]
    # Three fields are left out, and the second request has none of them from the first.
    assert [len(names) for names in left_out] == [0, 1, 2, 3, 3]
    assert left_out[1] == ({"seed"} if says_which else {"response_format"})


def test_a_server_without_any_limit_of_length_is_asked_without_one(make: Callable[..., Made]) -> None:
    def neither(asked: Any, number: int) -> Answer:
        if "max_tokens" in asked:
            return fails(400, "Unsupported parameter: 'max_tokens'. Use 'max_completion_tokens' instead.")
        if "max_completion_tokens" in asked:
            return fails(400, "Unsupported parameter: 'max_completion_tokens'.")
        return cats(asked, number)

    (made,), model = make(neither)
    assert (made[0].text, len(model.asked)) == ("A cat.", 3)


def test_a_refused_request_is_told_in_the_words_of_the_server(make: Callable[..., Made]) -> None:
    (nothing,), model = make(lambda asked, number: fails(400, "temperature must\nbe 1\0"))
    assert nothing.reason == "127.0.0.1 refused the request (400). It says: temperature must be 1\ufffd"
    # With all fields, and without one after another.
    assert len(model.asked) == 4


def test_a_server_that_cannot_be_connected_to_loses_no_text(monkeypatch: pytest.MonkeyPatch) -> None:
    def drop(*where: Any) -> None:
        raise httpcore2.ConnectTimeout

    monkeypatch.setattr(httpcore2.SyncBackend, "connect_tcp", drop)
    with pytest.raises(CannotMake, match=r"93\.184\.215\.14 cannot be reached\. Continue the pipeline"):
        Llm(template="replace-object", address="https://93.184.215.14/v1").load(NAME).make([A_DOG])


@pytest.mark.parametrize("counted", [-1, 2**40, 1.5, "many", None, True])
def test_tokens_that_cannot_be_are_not_counted(counted: Any, make: Callable[..., Made]) -> None:
    message = {"content": '{"change": "dog -> cat", "caption": "A cat."}'}
    body = {"choices": [{"message": message}], "usage": {"prompt_tokens": counted, "completion_tokens": 7}}
    (made,), _ = make(lambda asked, number: answer_with(200, json.dumps(body).encode()))
    assert [(one.text, one.tokens) for one in made] == [("A cat.", Tokens(0, 7))]


@pytest.mark.parametrize(
    ("status", "sentence"),
    [
        (401, r"127\.0\.0\.1 refuses the worker \(401\)\. Ask the worker's administrator to set LINEUP_LLM_API_KEY"),
        (404, r"127\.0\.0\.1 has no model tiny at this address \(404\)\. Check `make` and `address`\."),
    ],
)
def test_what_no_text_would_change_stops_the_pipeline(status: int, sentence: str, make: Callable[..., Made]) -> None:
    with pytest.raises(CannotMake, match=sentence):
        make(lambda asked, number: fails(status))


def test_a_server_that_is_not_there_stops_the_pipeline(monkeypatch: pytest.MonkeyPatch) -> None:
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{free.getsockname()[1]}/v1"
    monkeypatch.setenv("LINEUP_LLM_ADDRESS", address)
    with pytest.raises(CannotMake, match=r"127\.0\.0\.1 cannot be reached\. Continue the pipeline"):
        Llm(template="replace-object", address=address).load(NAME).make([A_DOG])


def test_a_certificate_that_is_not_trusted_stops_the_pipeline_with_what_to_do(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    with public_model(cats, tmp_path, monkeypatch) as model:
        monkeypatch.delenv("SSL_CERT_FILE")
        with pytest.raises(CannotMake) as refused:
            Llm(template="replace-object", address=model.address).load(NAME).make([A_DOG])
        assert str(refused.value) == (
            "model.test has a certificate that this worker does not trust (self-signed certificate). Renew the "
            "server's certificate, or set SSL_CERT_FILE where the worker runs to a file with the certificate of its "
            "issuer."
        )
        # Of another name.
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "certificate.pem"))
        monkeypatch.setenv("LINEUP_LLM_ADDRESS", address := model.address.replace("model.test", "localhost"))
        with pytest.raises(CannotMake, match=r"localhost has a certificate that .* \(Hostname mismatch, "):
            Llm(template="replace-object", address=address).load(NAME).make([A_DOG])


def test_a_host_that_is_looked_up_endlessly_ends_at_the_time_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    is_over = Event()

    def look_up(*_: Any, **__: Any) -> Any:
        is_over.wait(60)
        raise OSError("No name server.")

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr("making.makers.llm.ATTEMPTS", 1)
    with pytest.raises(CannotMake, match=r"model\.test cannot be reached\. Continue the pipeline"):
        Llm(template="replace-object", address="https://model.test/v1", seconds=1).load(NAME).make([A_DOG])
    assert not is_over.is_set()
    is_over.set()


def test_the_key_goes_to_the_address_of_the_worker_and_nowhere_else(
    make: Callable[..., Made], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("LINEUP_LLM_API_KEY", "sk-secret")
    results, model = make(cats)
    assert model.keys == ["Bearer sk-secret"]
    assert "sk-secret" not in repr(results)
    with public_model(cats, tmp_path, monkeypatch) as other:
        (made,) = Llm(template="replace-object", address=other.address).load(NAME).make([A_DOG])
        assert not isinstance(made, NothingMade)
        assert other.keys == [None]
        file = tmp_path / "key"
        file.write_text("sk-other\n", encoding="utf-8")
        monkeypatch.delenv("LINEUP_LLM_API_KEY")
        monkeypatch.setenv("LINEUP_LLM_API_KEY_FILE", str(file))
        # However the address is written.
        monkeypatch.setenv("LINEUP_LLM_ADDRESS", other.address.replace("model.test", "Model.Test") + "/")
        Llm(template="replace-object", address=other.address).load(NAME).make([A_DOG])
        assert other.keys == [None, "Bearer sk-other"]


@contextmanager
def public_model(replies: Replies, folder: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[ChatModel]:
    """Run a server as if it were in the open network, with a certificate."""
    real, there = socket.getaddrinfo, "93.184.215.14"
    tls = with_certificate(folder, "model.test")
    monkeypatch.setenv("SSL_CERT_FILE", str(folder / "certificate.pem"))
    connect = httpcore2.SyncBackend.connect_tcp

    def look_up(host: str, *rest: Any, **kinds: Any) -> Any:
        return real(there if host == "model.test" else host, *rest, **kinds)

    def connect_here(self: httpcore2.SyncBackend, host: str, *rest: Any) -> httpcore2.NetworkStream:
        return connect(self, "127.0.0.1" if host == there else host, *rest)

    monkeypatch.setattr(socket, "getaddrinfo", look_up)
    monkeypatch.setattr(httpcore2.SyncBackend, "connect_tcp", connect_here)
    with chat_model(replies, tls) as model:
        yield model


@pytest.mark.parametrize(
    ("address", "sentence"),
    [
        ("http://example.org/v1", "must begin with https://"),
        ("https://127.0.0.1:8443/v1", "is in a private network, or is the worker itself"),
        ("https://169.254.169.254/v1", "is in a private network, or is the worker itself"),
        ("https://[::1]/v1", "is in a private network, or is the worker itself"),
        ("https://localhost/v1", "is in a private network, or is the worker itself"),
    ],
)
def test_nothing_is_sent_to_a_private_address_that_the_worker_does_not_name(address: str, sentence: str) -> None:
    with pytest.raises(CannotMake, match=sentence):
        Llm(template="replace-object", address=address).load(NAME).make([A_DOG])


@pytest.mark.parametrize(
    ("options", "sentence"),
    [
        ({"template": "replace-objet"}, "`replace-objet` is no template. Did you mean `replace-object`?"),
        ({"template": "Write\nsomething."}, "`template` has no {{ caption }}."),
        ({"template": "A\n{{ caption }}\n{{ colour }}"}, "Line 3 of `template` has the unknown field `colour`."),
        ({"template": "{{ caption }} {{ }}"}, "Line 1 of `template` has the unknown field ``."),
        ({"address": "example.org/v1"}, "This is not an address."),
        ({"address": "ftp://example.org"}, "The address must begin with https://"),
        ({"address": "https://user:secret@example.org/v1"}, "Write the address without a user name"),
        ({"address": "https://example.org/v1?key=secret"}, "Write the address without a user name"),
    ],
)
def test_a_wrong_option_is_refused_with_a_sentence(options: dict[str, Any], sentence: str) -> None:
    with pytest.raises(ValidationError) as refused:
        Llm(**{"template": "replace-object"} | options)
    assert sentence in str(refused.value)


def test_a_template_of_ones_own_is_used_as_it_is_written(make: Callable[..., Made]) -> None:
    _, model = make(cats, template='Turn {"a": 1} around:\n{{caption}} \\1 {{ caption }}\n')
    assert model.prompts[0].startswith('Turn {"a": 1} around:\nA dog. \\1 A dog.\n\nAnswer only with JSON')


def test_tokens_have_a_price() -> None:
    price = Price(currency="USD", input=0.15, output=0.6)
    # A million read for 15 cents, half a million written for 30.
    assert price.of(Tokens(1_000_000, 500_000)) == Cost(Decimal("0.45"), "USD")
    assert Llm(template="replace-object").cost_of(Tokens(1, 1)) is None
    assert Llm(template="replace-object", price=price).cost_of(Tokens(2_000_000, 0)) == Cost(Decimal("0.3"), "USD")


@pytest.mark.parametrize(
    ("answer", "expected"),
    [
        ('{"change": "a -> b", "caption": " A\\n cat. "}', "A cat."),
        ('```json\n{"caption": "A cat."}\n```', "A cat."),
        ('<think>Which one?\n{"caption": "no"}</think>\n\n{"caption": "A cat."}', "A cat."),
        ('{"caption": ""}', ""),
        ('{"caption": null}', None),
        ('{"caption": "A cat."} That is it.', None),
        ("A cat.", None),
    ],
)
def test_the_caption_is_read_from_the_json(answer: str, expected: str | None) -> None:
    assert caption_in(answer) == expected


def test_it_says_which_template_it_used(make: Callable[..., Made], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("LINEUP_LLM_ADDRESS", "http://127.0.0.1:1/v1")
    names = ["replace-object", "swap-object", "{{ caption }}"]
    loaded = [Llm(template=name, address="http://127.0.0.1:1/v1").load("a" * 200) for name in names]
    versions = {maker.identity.version for maker in loaded}
    assert len(versions) == 3
    assert all(maker.identity.weights == "" and len(maker.identity.name) == 100 for maker in loaded)
    assert json.dumps([*versions]).count("OpenAI-compatible server") == 3
