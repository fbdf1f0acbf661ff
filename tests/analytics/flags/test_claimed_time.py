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


def test_spares_a_clock_that_jumps() -> None:
    # Three answers claim an hour more. The other 17 claim 8 s each, as long as passed.
    jumped = [{"claimed_seconds": 3_608.0}] * 3
    assert find("claimed_time", [*jumped, *[{}] * 17]) is None
    # The fourth is too many: without three, 3,608 + 16 x 8 = 3,736 s are claimed, where 17 x 8 = 136 s passed.
    found = find("claimed_time", [*jumped, *[{}] * 16, *jumped[:1]])
    # All 20: 4 x 3,608 + 16 x 8 = 14,560 s of 160 s.
    assert found == {"answers": 20, "claimed_seconds": 14_560.0, "possible_seconds": 160.0}
