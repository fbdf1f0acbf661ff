"""What is made in the background is waited for, and says why it failed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from lineup_client import Export, HubPush, Import, LineupError, NotReached, Run
from tests.lineup_client.site import Site, answer, lost


def test_an_export_is_waited_for_and_a_broken_off_download_goes_on(tmp_path: Path) -> None:
    waiting, ready = {"id": 3, "state": "waiting", "error": ""}, {"id": 3, "state": "ready", "error": ""}
    site = Site(answer(waiting, 202), answer(ready), httpx.Response(206, content=b"def"))
    export = site.client().project("birds").study("one").export("csv").wait(look_every_seconds=0)
    (tmp_path / "all.csv.3.part").write_bytes(b"abc")
    assert export.save(tmp_path / "all.csv").read_bytes() == b"abcdef"
    assert site.asked[-1].headers["Range"] == "bytes=3-"
    assert not (tmp_path / "all.csv.3.part").exists()


class Broken(httpx.SyncByteStream):
    """A body that breaks off."""

    def __init__(self, *blocks: bytes) -> None:
        self.blocks = blocks

    def __iter__(self) -> Iterator[bytes]:
        yield from self.blocks
        raise httpx.ReadError("The line was cut.")


def exported(*answers: httpx.Response | Exception) -> tuple[Site, Export]:
    site = Site(*answers)
    return site, Export(site.client(), "projects/birds/", {"id": 3, "state": "ready", "error": ""})


def ranged(content: bytes, first: int, whole: int) -> httpx.Response:
    told = {"Content-Range": f"bytes {first}-{first + len(content) - 1}/{whole}"}
    return httpx.Response(206, content=content, headers=told)


def test_a_download_that_breaks_goes_on_where_it_broke(tmp_path: Path) -> None:
    breaks = httpx.Response(200, headers={"Content-Length": "6"}, stream=Broken(b"ab", b"c"))
    again = httpx.Response(206, headers={"Content-Range": "bytes 3-5/6"}, stream=Broken(b"d"))
    site, export = exported(breaks, lost(), again, answer(status=503), ranged(b"ef", 4, 6))
    assert export.save(tmp_path / "all.csv").read_bytes() == b"abcdef"
    assert [request.headers.get("Range") for request in site.asked] == [
        *(None, "bytes=3-", "bytes=3-", "bytes=4-", "bytes=4-")
    ]
    assert [file.name for file in tmp_path.iterdir()] == ["all.csv"]


def test_a_server_without_ranges_sends_it_from_the_beginning(tmp_path: Path) -> None:
    (tmp_path / "all.csv.3.part").write_bytes(b"abc")
    _, export = exported(httpx.Response(200, content=b"abcdef"))
    assert export.save(tmp_path / "all.csv").read_bytes() == b"abcdef"


def test_a_beginning_that_is_longer_than_the_file_is_thrown_away(tmp_path: Path) -> None:
    (tmp_path / "all.csv.3.part").write_bytes(b"something else")
    _, export = exported(answer({}, 416, Content_Range="bytes */6"), httpx.Response(200, content=b"abcdef"))
    assert export.save(tmp_path / "all.csv").read_bytes() == b"abcdef"
    (tmp_path / "all.csv.3.part").write_bytes(b"abcdef")
    _, export = exported(answer({}, 416, Content_Range="bytes */6"))
    assert export.save(tmp_path / "all.csv").read_bytes() == b"abcdef"


def test_a_file_that_does_not_come_whole_gets_no_name(tmp_path: Path) -> None:
    (tmp_path / "all.csv").write_bytes(b"of last week")
    _, export = exported(*[httpx.Response(200, headers={"Content-Length": "6"}, stream=Broken()) for _ in range(3)])
    with pytest.raises(NotReached, match="did not come whole"):
        export.save(tmp_path / "all.csv")
    assert (tmp_path / "all.csv").read_bytes() == b"of last week"


def test_a_file_that_was_withdrawn_is_refused(tmp_path: Path) -> None:
    _, export = exported(answer({"detail": "Somebody has withdrawn."}, 410))
    with pytest.raises(LineupError, match="Somebody has withdrawn"):
        export.save(tmp_path / "all.csv")
    assert not list(tmp_path.iterdir())


def make(site: Site, kind: str) -> Export | HubPush | Run:
    project = site.client().project("birds")
    if kind == "exports":
        return project.study("one").export("csv")
    if kind == "hub-pushes":
        return project.push_to_hub("v1", "lab/birds", token="hf_x")
    return project.predictions.ask("open_clip:ViT-B-32/openai", study="pick")


@pytest.mark.parametrize(
    ("kind", "asked"),
    [
        ("exports", {"format": "csv"}),
        ("hub-pushes", {"release": "v1", "repository": "lab/birds", "token": "hf_x", "private": True}),
        ("runs", {"model": "open_clip:ViT-B-32/openai", "study": "pick", "kind": "", "variant": ""}),
    ],
)
def test_what_is_waited_for_says_why_it_failed(kind: str, asked: dict[str, Any]) -> None:
    waiting, failed = ({"id": 3, "state": state, "error": "No room."} for state in ("waiting", "failed"))
    site = Site(answer(waiting, 202), answer(failed))
    made = make(site, kind)
    assert json.loads(site.asked[0].content) == asked
    with pytest.raises(LineupError, match="No room"):
        made.wait(look_every_seconds=0)
    assert site.asked[1].url.path == f"/api/v1/projects/birds/{kind}/3/"


def test_a_large_launch_and_a_large_extension_are_waited_for(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("lineup_client.waiting.time.sleep", lambda seconds: None)
    job = {"id": 5, "error": "", "result": None}
    waiting, done = job | {"state": "waiting"}, job | {"state": "done", "result": {"seats": 2}}
    site = Site(
        *(answer(waiting, 202), answer(done), answer({"state": "open", "invite_url": "x"})),
        *(answer(waiting, 202), answer(done)),
        *(answer(waiting, 202), answer(job | {"state": "failed", "error": "It has no contact."})),
    )
    study = site.client().project("birds").study("one")
    assert study.launch()["invite_url"] == "x"
    assert [request.url.path for request in site.asked[:3]] == [
        *("/api/v1/projects/birds/studies/one/launch/", "/api/v1/projects/birds/studies/one/jobs/5/"),
        "/api/v1/projects/birds/studies/one/",
    ]
    assert study.ask_more("answers", 2) == {"seats": 2}
    with pytest.raises(LineupError, match="It has no contact"):
        study.launch()


def test_what_takes_too_long_is_no_longer_waited_for() -> None:
    site = Site(answer({"id": 3, "state": "waiting", "error": ""}, 202))
    with pytest.raises(TimeoutError, match="still waiting"):
        make(site, "exports").wait(seconds=-1)


def test_an_import_that_fails_says_which_rows_are_bad() -> None:
    failed = {"id": 3, "state": "failed", "error": "Nothing was imported: 1 problem was found."}
    bad = {"file": "rows.jsonl", "record": 2, "field": "key", "reason": "The row has no key."}
    site = Site(answer({"results": [bad], "next": None}))
    with pytest.raises(LineupError, match="record 2, field key: The row has no key"):
        Import(site.client(), "projects/birds/", failed).wait()


def test_a_run_is_given_up() -> None:
    loading, cancelled = {"id": 3, "state": "loading", "error": ""}, {"id": 3, "state": "cancelled", "error": ""}
    site = Site(answer(loading, 202), answer(cancelled), answer({"id": 4, "state": "done", "error": ""}, 202))
    predictions = site.client().project("birds").predictions
    run = predictions.ask("text-only:ngrams", kind="rating")
    run.cancel()
    assert site.asked[1].url.path == "/api/v1/projects/birds/runs/3/cancel/"
    with pytest.raises(LineupError, match="It was cancelled"):
        run.wait()
    assert predictions.ask("text-only:ngrams", kind="rating").wait().told["state"] == "done"


def test_a_training_is_followed_its_card_is_read_and_it_is_deleted() -> None:
    waiting, done = {"id": 3, "state": "preparing", "error": ""}, {"id": 3, "state": "done", "error": ""}
    site = Site(answer(waiting, 202), answer(done), answer({"text": "# clip"}), httpx.Response(204))
    trainings = site.client().project("birds").trainings
    training = trainings.start("clip", recipe="negclip", base="open_clip:ViT-B-32/openai", options={"epochs": 2})
    assert json.loads(site.asked[0].content) == {
        **{"name": "clip", "recipe": "negclip", "base": "open_clip:ViT-B-32/openai", "release": ""},
        **{"options": {"epochs": 2}, "seed": 0},
    }
    assert training.wait(look_every_seconds=0).card() == "# clip"
    training.delete()
    assert [(each.method, each.url.path.removeprefix("/api/v1/projects/birds/")) for each in site.asked] == [
        *(("POST", "trainings/"), ("GET", "trainings/3/"), ("GET", "trainings/3/card/"), ("DELETE", "trainings/3/")),
    ]


def test_a_training_is_cancelled_and_resumed() -> None:
    told = [{"id": 3, "state": state, "error": ""} for state in ("preparing", "cancelled", "waiting")]
    site = Site(answer(told[0], 202), answer(told[1]), answer(told[2]))
    training = site.client().project("birds").trainings.start("clip", recipe="negclip", base="open_clip:a/b")
    training.cancel()
    training.resume()
    assert (training.told["state"], site.asked[2].url.path) == ("waiting", "/api/v1/projects/birds/trainings/3/resume/")


def test_a_trained_model_is_pushed_to_the_hub_until_it_is_there() -> None:
    trained, pushed = ({"id": number, "state": state, "error": ""} for number, state in ((3, "done"), (7, "pushed")))
    site = Site(
        answer(trained),
        answer(pushed | {"state": "waiting"}, 202),
        answer(pushed),
        answer({"results": [pushed], "next": None}),
    )
    training = site.client().project("birds").trainings.start("clip", recipe="negclip", base="open_clip:a/b")
    assert training.push_to_hub("lab/clip", token="hf_x", licence="MIT").wait(look_every_seconds=0).told == pushed
    assert json.loads(site.asked[1].content) == {
        **{"repository": "lab/clip", "token": "hf_x", "licence": "MIT", "private": True, "with_weights": True},
    }
    assert list(training.hub_pushes()) == [pushed]
    assert [(each.method, each.url.path.removeprefix("/api/v1/projects/birds/")) for each in site.asked[1:]] == [
        *(("POST", "trainings/3/hub-pushes/"), ("GET", "model-pushes/7/"), ("GET", "trainings/3/hub-pushes/")),
    ]
