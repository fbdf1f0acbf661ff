from tests.analytics.flags.made import find, sentence

AGREES = {"label": "yes", "places": 2, "others": {"yes": 1}, "possible_seconds": 2.0}
DIFFERS = {"label": "no", "places": 2, "others": {"yes": 1}, "possible_seconds": 2.0}
KNOWN = {"agreement": {"pick": 0.9}, "median_seconds": {"pick": 8.0}}


def test_finds_who_is_fast_and_unlike_others() -> None:
    # 20 or fewer of 40 with .7 is .0063.
    found = find("fast_and_different", [AGREES, DIFFERS] * 20, **KNOWN)
    assert found is not None
    assert (found["time_ratio"], found["agreed"], found["answers"]) == (0.25, 0.5, 40)
    assert sentence("fast_and_different", found) == (
        "Answers took 25 % of the time of others (median), and 50 % of 40 compared answers agree with unflagged "
        "sessions (p = 0.006)."
    )


def test_spares_fast_experts_and_slow_people_who_differ() -> None:
    assert find("fast_and_different", [AGREES] * 38 + [DIFFERS] * 2, **KNOWN) is None
    slow = {"possible_seconds": 7.0}
    assert find("fast_and_different", [AGREES | slow, DIFFERS | slow] * 20, **KNOWN) is None
    assert find("fast_and_different", [AGREES, DIFFERS] * 20, agreement={"pick": 0.9}) is None


def test_finds_who_looks_at_some_questions_only() -> None:
    careful, hurried = AGREES | {"possible_seconds": 8.0}, {"possible_seconds": 1.6}
    guessed = [AGREES | hurried] * 4 + [DIFFERS | hurried] * 6
    # Twice ten careful answers and ten guesses. With .7, 8 or fewer of 20 agree with probability .0051.
    found = find("fast_and_different", [*[careful] * 10, *guessed] * 2, **KNOWN)
    assert sentence("fast_and_different", found) == (
        "20 of 40 compared answers took 20 % of the time of others (median), and 40 % of these agree with unflagged "
        "sessions (p = 0.005)."
    )
    # Quick where it is easy.
    easy = [AGREES | hurried] * 9 + [DIFFERS | hurried]
    assert find("fast_and_different", [*[DIFFERS | {"possible_seconds": 8.0}] * 10, *easy] * 2, **KNOWN) is None
