from dataclasses import replace

import pytest

from analytics.flags import AnswerRecord, SessionRecord, get_flag_rule


def _answer(number: int, *, hidden: float | None, claimed: float | None = 4.0) -> AnswerRecord:
    return AnswerRecord(number, number, "check", "yes", None, 2, 10, 1, claimed, 20.0, hidden)


def test_finds_a_session_whose_tab_was_mostly_hidden() -> None:
    rule = get_flag_rule("hidden_tab")
    answers = [_answer(number, hidden=9.0) for number in range(13)] + [_answer(13, hidden=0.0)]
    evidence = rule.find(SessionRecord(answers))
    # Of 14, each with a chance of a half: (14 + 1) / 2^14 = .0009.
    assert evidence == {"hidden": 13, "measured": 14}
    assert rule.sentence(evidence) == "The tab was hidden for most of the time of 13 of 14 measured answers."


@pytest.mark.parametrize(("hidden", "in_view"), [(8, 0), (9, 1), (11, 2), (50, 50)])
def test_spares_people_whom_messages_interrupt(hidden: int, in_view: int) -> None:
    """1 / 2^8 = .004, (10 + 1) / 2^10 = .011, (78 + 13 + 1) / 2^13 = .011, and a half."""
    answers = [_answer(number, hidden=9.0) for number in range(hidden)]
    answers += [_answer(hidden + number, hidden=0.0) for number in range(in_view)]
    assert get_flag_rule("hidden_tab").find(SessionRecord(answers)) is None


def test_spares_people_who_write_in_another_tab() -> None:
    answers = [replace(_answer(number, hidden=90.0), label=None, text="A dog by the lake.") for number in range(20)]
    assert get_flag_rule("hidden_tab").find(SessionRecord(answers)) is None


def test_spares_a_session_of_which_nothing_was_measured() -> None:
    rule = get_flag_rule("hidden_tab")
    unmeasured = [_answer(number, hidden=None, claimed=None) for number in range(20)]
    assert rule.find(SessionRecord(unmeasured)) is None
