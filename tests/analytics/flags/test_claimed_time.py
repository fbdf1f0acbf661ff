from tests.analytics.flags.made import find, sentence


def test_finds_claims_that_no_clock_explains() -> None:
    # 200 s are claimed, 80 s passed.
    found = find("claimed_time", [{"claimed_seconds": 20.0}] * 10)
    assert found == {"answers": 10, "claimed_seconds": 200.0, "possible_seconds": 80.0}
    assert sentence("claimed_time", found) == (
        "The browser claims 200 s for 10 answers; by the server's clock, at most 80 s were possible."
    )


def test_spares_clocks_that_differ_a_little() -> None:
    # A tenth more, and a few seconds more.
    assert find("claimed_time", [{"claimed_seconds": 8.8}] * 100) is None
    assert find("claimed_time", [{"claimed_seconds": 17.0}]) is None
    assert find("claimed_time", [{"claimed_seconds": None}] * 10) is None
    assert find("claimed_time", [{"claimed_seconds": 900.0, "possible_seconds": None}] * 10) is None
