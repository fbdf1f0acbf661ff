"""What follows in frozen rows when somebody is forgotten: decided again by what is left, by hand."""

from collections.abc import Iterator, Sequence
from dataclasses import replace
from datetime import UTC, datetime

import pytest

from results.exporting.base import RowType
from results.exporting.erasure import AnsweredQuestion, Changes, Row, changes, remaining_rows
from results.exporting.rows import AcceptedInstance, DecidedQuestion, GivenPrediction, GivenResponse
from studies import rules
from studies.rules import RULES, Needs, State, Verdict, Vote, VoteContext
from tests.results.exporting.test_formats import INSTANCE, RESPONSE
from tests.results.exporting.test_papers import DECISION

NOON = datetime(2026, 11, 20, 12, 0, tzinfo=UTC)


class FoundElsewhere:
    """Accepts what somebody found in another study."""

    name, needs = "found-elsewhere-v1", Needs(downstream_outcome=True)

    def decide(self, asked: VoteContext, answers: Sequence[Vote]) -> Verdict:
        raise AssertionError("The rows do not say what became of the answers.")


@pytest.fixture(autouse=True)
def _made_up(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    monkeypatch.setitem(RULES, FoundElsewhere.name, f"{__name__}.FoundElsewhere")
    yield
    rules.get_rule.cache_clear()


def given(worker: str, label: str) -> GivenResponse:
    return replace(RESPONSE, worker=worker, label=label, kind="any", right="", received_at=NOON)


def decided(rule: str) -> DecidedQuestion:
    return replace(DECISION, kind="any", rule=rule, winner="a", answers=3, wanted=3, votes={"a": 2, "b": 1})


def without_ann(rule: str) -> tuple[dict[str, int], int, tuple[str, str]]:
    answers = [given("A-ANN", "a"), given("A-BEN", "a"), given("A-CLEO", "b")]
    question = ("step-3", "17")
    rows: list[tuple[RowType, GivenResponse | DecidedQuestion]] = [("responses", answer) for answer in answers]
    rows.append(("decisions", decided(rule)))
    found = changes(rows, workers={"A-ANN"}, answered={question: AnsweredQuestion("17", VoteContext(3), accepts=True)})
    return found.votes[question], found.answers[question], found.decided[question]


def test_a_question_is_decided_again_by_the_answers_that_are_left() -> None:
    # "a" had two of three; one of each is no majority of three.
    assert without_ann("majority-v1") == ({"a": 1, "b": 1}, 2, (State.UNDECIDED.value, ""))


def test_what_rested_on_other_studies_stays_accepted_for_no_reason_that_nobody_can_see() -> None:
    assert without_ann("found-elsewhere-v1") == ({"a": 1, "b": 1}, 2, (State.UNDECIDED.value, ""))


def test_what_models_said_of_an_instance_leaves_with_it() -> None:
    # Step 4 kept 17 and 18; without Ann, step 3 would not have handed 17 on.
    kept = [accepted("17"), accepted("18")]
    said: list[tuple[RowType, Row]] = [("predictions", predicted(key)) for key in ("17", "18")]
    rows: list[tuple[RowType, Row]] = [*(("instances", row) for row in kept), *said]
    left = remaining_rows(rows, Changes(keys={"step-3": {"17"}}), workers={"A-ANN"}, above={"step-4": {"step-3"}})
    assert [(sort, row.key) for sort, row in left if isinstance(row, AcceptedInstance | GivenPrediction)] == [
        ("instances", "18"),
        ("predictions", "18"),
    ]


def test_how_many_found_a_description_is_unknown_once_one_of_them_has_gone() -> None:
    written = [replace(given("A-BEN", ""), response=f"response-{n}", retrievers=3, found=2) for n in (7, 8)]
    changed = Changes(votes={("find", "17/retrieve/response-7"): {"image_3": 1}})
    left = remaining_rows([("responses", row) for row in written], changed, workers={"A-ANN"}, above={})
    assert [(row.retrievers, row.found) for _, row in left if isinstance(row, GivenResponse)] == [(None, None), (3, 2)]


def accepted(key: str) -> AcceptedInstance:
    return replace(INSTANCE, key=key, task=key, study="step-4")


def predicted(key: str) -> GivenPrediction:
    return GivenPrediction(key, "CLIP", "", "", "any", "", "as-is-v1", True, None, key)
