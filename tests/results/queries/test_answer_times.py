"""Seconds per answer of a session, in order."""

from results.queries.people.answer_times import AnswerTime, SessionTimes
from results.templatetags.time_charts import HEIGHT, WIDEST_BAR, seconds_chart


def times(*seconds: float | None) -> SessionTimes:
    return SessionTimes([AnswerTime(number, each) for number, each in enumerate(seconds, start=1)])


def test_a_chart_is_as_high_as_all_but_the_longest_of_20_answers() -> None:
    found = times(*range(1, 20), 600)
    assert (found.median, found.shortest, found.longest, found.top) == (10.5, 1, 600, 19)


def test_each_measured_answer_is_a_bar_and_a_longer_one_is_cut() -> None:
    drawn = seconds_chart(times(*[2.0] * 18, None, 4.0, 600.0))
    assert len(drawn["bars"]) == 20
    assert drawn["unmeasured"] == 1
    assert [bar["is_cut"] for bar in drawn["bars"]] == [*[False] * 19, True]
    # Of 4 s at the top, 2 s are half.
    assert drawn["bars"][0]["height"] == HEIGHT / 2
    assert drawn["bars"][-1]["height"] == HEIGHT
    # The answer without a time keeps its place.
    assert drawn["bars"][18]["x"] == 19 * WIDEST_BAR
    assert drawn["bars"][18]["said"] == "Answer 20: 4.0 s"


def test_without_measured_times_there_is_no_chart() -> None:
    assert "bars" not in seconds_chart(times(None, None))
    assert "bars" not in seconds_chart(None)
