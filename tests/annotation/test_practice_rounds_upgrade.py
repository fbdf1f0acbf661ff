"""What becomes of practice rounds that a person began anew with every session of the version before."""

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from tests.factories import NOON

BEFORE = [("annotation", "0007_left_out_answers_and_order_keys"), ("studies", "0004_declare_what_was_guessed")]
AFTER = [("annotation", "0011_count_more_odd_arrivals")]


def migrate(targets: list[tuple[str, str]]) -> Any:
    executor = MigrationExecutor(connection)
    executor.migrate(targets)
    return MigrationExecutor(connection).loader.project_state(targets).apps


@pytest.fixture
def before(empty_database: None) -> Any:
    return migrate(BEFORE)


def test_the_newest_session_keeps_its_rounds_and_older_ones_go_behind_them(before: Any) -> None:
    model = before.get_model
    project = model("studies", "Project").objects.create(slug="vases", name="Vases")
    study = model("studies", "Study").objects.create(
        project=project, slug="s", title="S", kind="best_of_n", rule="chosen-v1", design={}, seed="s", invite_token="i"
    )
    asked = [
        model("studies", "PracticeQuestion").objects.create(
            study=study, position=index, kind="best_of_n", content={}, right="none"
        )
        for index in range(2)
    ]
    people = [model("annotation", "Annotator").objects.create(provider="prolific", provider_id=who) for who in "ab"]

    def sit(person: Any, number: int, rounds: list[int], state: str = "superseded") -> int:
        session = model("annotation", "Session").objects.create(
            token=f"{person.pk}-{number}",
            study=study,
            annotator=person,
            provider="prolific",
            provider_session_id=f"{person.pk}-{number}",
            state=state,
            questions_total=4,
            practice_round=max(rounds, default=1),
            arrived_at=NOON + timedelta(minutes=number),
            last_seen_at=NOON,
            lease_until=NOON,
            ended_at=None if state == "practice" else NOON,
        )
        for round_number in rounds:
            for question in asked:
                model("annotation", "PracticeAnswer").objects.create(
                    session=session, practice_question=question, round=round_number, choice="", is_right=False, at=NOON
                )
        return int(session.pk)

    ann, ben = people
    oldest, middle = sit(ann, 0, [1, 2]), sit(ann, 1, [1])
    newest = sit(ann, 2, [1, 2], state="practice")
    untouched = sit(ben, 3, [1])
    waiting_behind, waiting = sit(ben, 1, [1]), sit(ben, 4, [], state="practice")
    after = migrate(AFTER)

    def rounds_of(session: int) -> list[int]:
        answers = after.get_model("annotation", "PracticeAnswer").objects.filter(session=session)
        assert set(answers.values_list("annotator", flat=True)) <= {ann.pk, ben.pk}
        return sorted(set(answers.values_list("round", flat=True)))

    assert [rounds_of(session) for session in (newest, middle, oldest)] == [[1, 2], [3], [4, 5]]
    # Whoever is at the first question of a round that they began anew sees it as before.
    assert [rounds_of(session) for session in (waiting, untouched, waiting_behind)] == [[], [2], [3]]
