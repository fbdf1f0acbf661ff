"""How the client asks: again when an answer is lost, with the same key, and never more than it has to."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import pandas
import pytest

from lineup_client import Import, Lineup, LineupError, NotReached

FINE = {"slug": "birds"}


class Site:
    """Answers in turn what it was told to, and remembers what it was asked."""

    def __init__(self, *answers: httpx.Response | Exception) -> None:
        self.answers: Iterator[httpx.Response | Exception] = iter(answers)
        self.asked: list[httpx.Request] = []

    def __call__(self, request: httpx.Request) -> httpx.Response:
        request.read()
        self.asked.append(request)
        answer = next(self.answers)
        if isinstance(answer, Exception):
            raise answer
        return answer

    def client(self, tries: int = 3) -> Lineup:
        transport = httpx.MockTransport(self)
        return Lineup("https://lineup.example/", "lineup_abc", tries=tries, wait_seconds=0, transport=transport)


def lost() -> Exception:
    return httpx.ReadError("The line was cut.")


def answer(body: Any = FINE, status: int = 200, **headers: str) -> httpx.Response:
    return httpx.Response(status, json=body, headers={name.replace("_", "-"): value for name, value in headers.items()})


def test_what_makes_something_is_sent_again_with_its_key_until_an_answer_comes() -> None:
    site = Site(lost(), answer({"title": "Bad Gateway"}, 502), answer())
    site.client().project("birds").study("one").launch()
    keys = {request.headers["Idempotency-Key"] for request in site.asked}
    assert (len(site.asked), len(keys)) == (3, 1)
    assert {request.headers["Authorization"] for request in site.asked} == {"Bearer lineup_abc"}
    assert {str(request.url) for request in site.asked} == {
        "https://lineup.example/api/v1/projects/birds/studies/one/launch/"
    }


def test_two_things_to_be_made_have_two_keys() -> None:
    site = Site(answer(), answer())
    study = site.client().project("birds").study("one")
    study.pause(), study.pause()
    assert len({request.headers["Idempotency-Key"] for request in site.asked}) == 2


def test_reading_needs_no_key() -> None:
    site = Site(lost(), answer())
    assert site.client().project("birds").read() == FINE
    assert not any("Idempotency-Key" in request.headers for request in site.asked)


def test_when_no_answer_comes_that_is_said() -> None:
    site = Site(lost(), lost(), lost())
    with pytest.raises(NotReached, match="asked 3 times: The line was cut"):
        site.client().project("birds").read()


def test_a_refusal_is_not_asked_again_and_says_where_what_is_wrong() -> None:
    problem = {
        "type": "urn:lineup:problem:import-refused",
        "detail": "Nothing was imported: 1 problem was found.",
        "errors": [{"record": 2, "field": "key", "reason": "The row has no key."}],
    }
    site = Site(answer(problem, 422))
    with pytest.raises(LineupError) as refused:
        site.client().project("birds").read()
    assert (refused.value.status, refused.value.type) == (422, "import-refused")
    assert (
        str(refused.value) == "Nothing was imported: 1 problem was found.\n  record 2, field key: The row has no key."
    )


def test_who_is_asked_to_wait_waits(monkeypatch: pytest.MonkeyPatch) -> None:
    waited: list[float] = []
    monkeypatch.setattr("lineup_client.client.time.sleep", waited.append)
    site = Site(answer({}, 429, Retry_After="7"), answer())
    site.client().project("birds").read()
    assert 7 in waited


def test_rows_come_page_after_page_and_as_a_table() -> None:
    following = "https://lineup.example/api/v1/projects/birds/studies/one/responses/?cursor=x&limit=1000"
    pages = [
        {"results": [{"label": "a"}, {"label": "b"}], "next": following},
        {"results": [{"label": "c"}], "next": None},
    ]
    site = Site(*map(answer, pages))
    table = site.client().project("birds").study("one").responses().to_pandas()
    assert table.equals(pandas.DataFrame({"label": ["a", "b", "c"]}))
    assert str(site.asked[1].url) == following


def forms(site: Site) -> list[str]:
    return [request.content.decode(errors="replace") for request in site.asked if request.method == "POST"]


def counted(number: int) -> dict[str, int]:
    return {"records": number, "added": number, "already_there": 0}


def test_only_pictures_that_are_missing_are_sent(tmp_path: Path) -> None:
    (tmp_path / "a.png").write_bytes(b"a")
    (tmp_path / "b.png").write_bytes(b"b")
    # SHA-256 of the single letter b.
    of_b = "3e23e8160039594a33894f6564e1b1348bbd7a0088d42c4acb73eeaed59c009d"
    site = Site(answer({"missing": [of_b]}), answer({}, 201), answer(counted(1)))
    rows = [{"key": "1", "caption": "Two vases.", "images": {"image": "a.png", "negative_image": ["b.png"]}}]
    site.client().project("birds").instances.upload(rows, images=tmp_path)
    asked, sent, _ = site.asked
    assert of_b in json.loads(asked.content)["sha256"]
    assert (sent.method, sent.content, str(sent.url).rpartition("images/")[2]) == ("PUT", b"b", f"{of_b}/")
    assert of_b in forms(site)[-1]


def test_rows_are_sent_in_batches_and_counted_together() -> None:
    site = Site(answer(counted(500)), answer(counted(1)))
    rows = [{"key": str(number), "caption": "A vase."} for number in range(501)]
    assert site.client().project("birds").instances.upload(rows) == counted(501)
    assert '"key": "499"' in forms(site)[0]
    assert '"key": "500"' in forms(site)[1]


def test_a_data_frame_is_rows_without_its_gaps() -> None:
    site = Site(answer(counted(2)))
    table = pandas.DataFrame({"key": ["1", "2"], "caption": ["A vase.", "A map."], "type": ["swap", None]})
    site.client().project("birds").instances.upload(table)
    (form,) = forms(site)
    assert '{"key": "1", "caption": "A vase.", "type": "swap"}\n{"key": "2", "caption": "A map."}\n' in form


@pytest.mark.parametrize(
    ("source", "type"),
    [(lambda folder: {"study": "one"}, "application/json"), (lambda folder: "study: one\n", "application/yaml")],
)
def test_a_study_is_made_from_values_or_from_text(tmp_path: Path, source: Callable[[Path], Any], type: str) -> None:
    site = Site(answer({"slug": "one"}, 201))
    assert site.client().project("birds").studies.create(source(tmp_path)).slug == "one"
    assert site.asked[0].headers["Content-Type"] == type


def test_an_export_is_waited_for_and_a_broken_off_download_goes_on(tmp_path: Path) -> None:
    waiting, ready = {"id": 3, "state": "waiting", "error": ""}, {"id": 3, "state": "ready", "error": ""}
    site = Site(answer(waiting, 202), answer(ready), httpx.Response(206, content=b"def"))
    export = site.client().project("birds").study("one").export("csv").wait(look_every_seconds=0)
    (tmp_path / "all.csv.3.part").write_bytes(b"abc")
    assert export.save(tmp_path / "all.csv").read_bytes() == b"abcdef"
    assert site.asked[-1].headers["Range"] == "bytes=3-"
    assert not (tmp_path / "all.csv.3.part").exists()


def test_an_export_that_fails_says_why() -> None:
    failed = {"id": 3, "state": "failed", "error": "The disk is full."}
    site = Site(answer(failed, 202))
    with pytest.raises(LineupError, match="The disk is full"):
        site.client().project("birds").study("one").export("csv").wait()


def test_a_push_to_the_hub_is_waited_for_and_says_why_it_failed() -> None:
    waiting, failed = (
        {"id": 3, "state": "waiting", "error": ""},
        {"id": 3, "state": "failed", "error": "No such token."},
    )
    site = Site(answer(waiting, 202), answer(failed))
    push = site.client().project("birds").push_to_hub("v1", "lab/birds", token="hf_x")
    assert json.loads(site.asked[0].content) == {
        "release": "v1",
        "repository": "lab/birds",
        "token": "hf_x",
        "private": True,
    }
    with pytest.raises(LineupError, match="No such token"):
        push.wait(look_every_seconds=0)
    assert site.asked[1].url.path == "/api/v1/projects/birds/hub-pushes/3/"


def test_a_webhook_is_made_and_its_key_asked_for() -> None:
    site = Site(answer({"id": 7}, 201), answer({"key": "whsec_x"}))
    assert site.client().project("birds").webhooks.make("https://a.example/", ["release.made"]) == (
        {"id": 7},
        "whsec_x",
    )
    assert site.asked[1].url.path == "/api/v1/projects/birds/webhooks/7/key/"
    assert json.loads(site.asked[1].content) == {"hours": 0}


def test_a_file_is_sent_in_pieces_and_goes_on_where_it_broke_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineup_client.project.PIECE", 4)
    (tmp_path / "rows.jsonl").write_bytes(b"abcdefgh")
    misplaced = {"type": "urn:lineup:problem:misplaced", "detail": "4 bytes of this file are here."}
    upload = {"id": "u", "rows": {"rows.jsonl": 4}, "images": {}}
    asked, done = {"id": 3, "state": "waiting", "error": ""}, {"id": 3, "state": "done", "error": ""}
    # The answer to the first piece is lost: sent again, it is not where the file ends.
    pieces_sent = lost(), answer(misplaced, 409), answer(upload), answer({"have": 8})
    site = Site(answer(upload, 201), *pieces_sent, answer(asked, 202), answer(done))
    found = site.client().project("birds").instances.import_later(tmp_path / "rows.jsonl", "jsonl", dry_run=True)
    assert found.wait(look_every_seconds=0).told["state"] == "done"
    pieces = [(dict(each.url.params), each.content) for each in site.asked if each.method == "PUT"]
    first = ({"name": "rows.jsonl", "offset": "0"}, b"abcd")
    assert pieces == [first, first, ({"name": "rows.jsonl", "offset": "4"}, b"efgh")]
    assert json.loads(site.asked[-2].content) == {"upload": "u", "format": "jsonl", "dry_run": True}


def test_an_import_that_fails_says_which_rows_are_bad() -> None:
    failed = {"id": 3, "state": "failed", "error": "Nothing was imported: 1 problem was found."}
    bad = {"file": "rows.jsonl", "record": 2, "field": "key", "reason": "The row has no key."}
    site = Site(answer({"results": [bad], "next": None}))
    with pytest.raises(LineupError, match="record 2, field key: The row has no key"):
        Import(site.client(), "projects/birds/", failed).wait()


def test_a_name_with_any_sign_stays_one_part_of_the_address() -> None:
    site = Site(answer({}, 200))
    site.client().project("birds").change_role("ann/../ben", "viewer")
    assert str(site.asked[0].url).endswith("/projects/birds/members/ann%2F..%2Fben/")
