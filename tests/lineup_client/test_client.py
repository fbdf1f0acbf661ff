"""How the client asks: again when an answer is lost, with the same key, and never more than it has to."""

import pandas
import pytest

from lineup_client import LineupError, NotReached
from tests.lineup_client.site import FINE, Site, answer, lost


def test_what_makes_something_is_sent_again_with_its_key_until_an_answer_comes() -> None:
    site = Site(lost(), answer({"title": "Bad Gateway"}, 502), answer())
    site.client().project("birds").study("one").launch()
    keys = {request.headers["Idempotency-Key"] for request in site.asked}
    assert (len(site.asked), len(keys)) == (3, 1)
    assert {request.headers["Authorization"] for request in site.asked} == {"Bearer lineup_abc"}
    assert {str(request.url) for request in site.asked} == {
        "https://lineup.example/api/v1/projects/birds/studies/one/launch/"
    }


def test_two_things_to_be_made_have_two_keys_and_reading_needs_none() -> None:
    site = Site(answer(), answer(), lost(), answer())
    project = site.client().project("birds")
    study = project.study("one")
    study.pause(), study.pause()
    assert project.read() == FINE
    keys = [request.headers.get("Idempotency-Key") for request in site.asked]
    assert (len(set(keys[:2])), keys[2:]) == (2, [None, None])


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
