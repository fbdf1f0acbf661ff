import pytest

from tests.analytics.flags.made import find, sentence

EVEN = [{"possible_seconds": seconds} for seconds in (4.6, 4.8, 5.0, 5.2, 5.4)]


def test_finds_a_program_that_waits_as_long_each_time() -> None:
    # All of ten are within .5 s of 5 s.
    found = find("even_times", EVEN * 2)
    assert found == {"near": 10, "answers": 10, "seconds": 5.0, "p": pytest.approx(0.5**10)}
    assert sentence("even_times", found) == (
        "10 of 10 answers took the same time, 5.0 s, to within 10 %; people's times differ more (p < 0.001)."
    )


def test_finds_it_beside_some_longer_waits() -> None:
    # 35 of 40: of 2^40 ways, the sum of C(40, n) for n up to 5, which is 760,099.
    found = find("even_times", [*EVEN * 7, *[{"possible_seconds": 30.0}] * 5])
    assert found is not None
    assert (found["near"], found["p"]) == (35, pytest.approx(760_099 / 2**40))


def test_spares_people() -> None:
    # A standard deviation of a quarter, in ten even steps: six of ten are within a tenth.
    steady = [{"possible_seconds": seconds} for seconds in (3.2, 4.1, 4.6, 4.8, 4.9, 5.1, 5.2, 5.4, 5.9, 6.8)]
    assert find("even_times", steady * 2) is None
    # Eight of eight: 1 in 256.
    assert find("even_times", [{}] * 8) is None
    # Answers that arrived together have no time of their own.
    assert find("even_times", [{"possible_seconds": 0.0}] * 40) is None
