"""What is sent of rows and pictures, and how."""

import json
from pathlib import Path

import pandas
import pytest

from tests.lineup_client.site import Site, answer, lost


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


def test_a_file_is_sent_in_pieces_and_goes_on_where_it_broke_off(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("lineup_client.instances.PIECE", 4)
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
