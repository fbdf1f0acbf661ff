"""What a session is compared with: the answers of others, without its own, and what they wrote before."""

from dataclasses import replace
from datetime import timedelta
from typing import Any

from analytics.session_comparison import SentRecord, compared_sessions
from simulation.session_profiles import BEGUN
from tests.analytics.flags.made import PLAIN


def _sent(session: int, labels: str, *, minutes: int = 0, **changes: Any) -> list[SentRecord]:
    return [
        SentRecord(
            session,
            BEGUN + timedelta(minutes=minutes),
            replace(PLAIN, question=n, number=n, label=label, **changes),
        )
        for n, label in enumerate(labels, start=1)
    ]


def _written(session: int, text: str, *, minutes: int) -> list[SentRecord]:
    sent = _sent(session, "a", minutes=minutes)
    return [replace(each, answer=replace(each.answer, text=text, label=None)) for each in sent]


def test_the_answers_of_others_are_counted_without_ones_own() -> None:
    sent = [*_sent(1, "ab"), *_sent(2, "ab"), *_sent(3, "bb")]
    found = dict(compared_sessions(sent, captions={}))
    assert [each.others for each in found[1].answers] == [{"a": 1, "b": 1}, {"b": 2}]
    assert [each.others for each in found[3].answers] == [{"a": 2}, {"b": 2}]
    # Of three pairs per question, one and three agree.
    assert found[1].agreement == {"pick": 4 / 6}
    assert found[1].label_shares == {"pick": {"a": 2 / 6, "b": 4 / 6}}


def test_sessions_set_apart_are_compared_with_the_others_and_not_the_other_way_round() -> None:
    sent = [*_sent(1, "ab"), *_sent(2, "ab"), *_sent(3, "bb", possible_seconds=1.0)]
    found = dict(compared_sessions(sent, captions={}, apart=frozenset({3})))
    assert [each.others for each in found[1].answers] == [{"a": 1}, {"b": 1}]
    assert [each.others for each in found[3].answers] == [{"a": 2}, {"b": 2}]
    assert found[1].agreement == {"pick": 1.0}
    assert found[1].median_seconds == {"pick": 8.0}


def test_times_are_the_median_of_the_medians_of_sessions() -> None:
    sent = [*_sent(1, "a" * 9, possible_seconds=2.0), *_sent(2, "a"), *_sent(3, "a", possible_seconds=9.0)]
    assert dict(compared_sessions(sent, captions={}))[1].median_seconds == {"pick": 8.0}
    # Nobody else: nothing to compare with.
    assert dict(compared_sessions(_sent(1, "aaa"), captions={}))[1].median_seconds == {}


def test_checks_are_compared_with_nothing_but_the_checks_of_others() -> None:
    failed = _sent(2, "aa", check="gold", is_right=False)
    sent = [*_sent(1, "aaaa", check="gold", is_right=False), *_sent(2, "aa", check="gold", is_right=True), *failed]
    found = dict(compared_sessions(sent, captions={}))
    assert [each.others for each in found[1].answers] == [{}] * 4
    assert (found[1].check_failures, found[2].check_failures) == ({"gold": 0.5}, {"gold": 1.0})


def test_only_what_others_wrote_before_is_shown_beside_a_text() -> None:
    first, second = (_written(number, "A dog runs.", minutes=number) for number in (1, 2))
    found = dict(compared_sessions([*first, *second], captions={1: ["A dog."]}))
    assert (found[1].other_texts, found[2].other_texts) == ({1: []}, {1: ["A dog runs."]})
    assert found[2].model_texts == {1: ["A dog."]}


def test_finds_the_sessions_that_answered_alike_before() -> None:
    sent = [*_sent(1, "ab" * 10, minutes=1), *_sent(2, "ab" * 10, minutes=2), *_sent(3, "ba" * 10, minutes=3)]
    found = dict(compared_sessions(sent, captions={}))
    labels = dict(enumerate("ab" * 10, start=1))
    # The later one has the earlier one beside it, of the two that share 20 questions with it.
    assert (found[2].compared, found[2].earlier_answers) == (2, [labels])
    assert (found[1].earlier_answers, found[3].earlier_answers) == ([{}], [])
