"""What becomes of models that the version before shared between projects."""

from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from tests.factories import NOON

BEFORE = [("predictions", "0004_runs"), ("studies", "0018_designs_of_version_3")]
AFTER = [("predictions", "0006_each_project_has_its_models"), BEFORE[1]]


def migrate(targets: list[tuple[str, str]]) -> Any:
    executor = MigrationExecutor(connection)
    executor.migrate(targets)
    return MigrationExecutor(connection).loader.project_state(targets).apps


@pytest.fixture
def before(empty_database: None) -> Any:
    return migrate(BEFORE)


def test_each_project_gets_a_model_of_its_own_with_what_is_its(before: Any) -> None:
    """One of two projects, one of one, one that only a run names, and one of none; and back again."""
    model = before.get_model
    birds, fish = (model("studies", "Project").objects.create(slug=slug, name=slug) for slug in ("birds", "fish"))
    made = [
        model("predictions", "Model").objects.create(name=name, version="1", weights="w", created_at=NOON)
        for name in ("both", "fish alone", "asked", "nothing")
    ]
    both, of_fish, asked, nothing = made

    def predict(maker: Any, project: Any, kind: str) -> Any:
        instance, _ = model("studies", "Instance").objects.get_or_create(
            project=project, key="1", defaults={"captions": {}, "source_file": "f", "source_row": 1}
        )
        return model("predictions", "Prediction").objects.create(
            model=maker, instance=instance, kind=kind, caption_rule="r", is_right=True, source_row=0, created_at=NOON
        )

    def run(maker: Any, project: Any) -> Any:
        asking = {"spec": "s", "kind": "k", "by_name": "b", "requested_at": NOON, "state": "done", "finished_at": NOON}
        return model("predictions", "Run").objects.create(model=maker, project=project, **asking)

    # The project of which there is the later one comes first: the first keeps the row.
    told = [predict(both, fish, "a"), predict(both, birds, "a"), predict(both, birds, "b"), predict(of_fish, fish, "a")]
    runs = [run(both, fish), run(both, birds), run(asked, fish)]

    after = migrate(AFTER)
    rows = {
        each.pk: (each.name, each.version, each.weights, each.created_at, each.project_id)
        for each in after.get_model("predictions", "Model").objects.all()
    }
    predictions = {each.pk: each.model_id for each in after.get_model("predictions", "Prediction").objects.all()}
    of_runs = {each.pk: each.model_id for each in after.get_model("predictions", "Run").objects.all()}
    (copy,) = rows.keys() - {each.pk for each in made}
    assert rows == {
        both.pk: ("both", "1", "w", NOON, birds.pk),
        copy: ("both", "1", "w", NOON, fish.pk),
        of_fish.pk: ("fish alone", "1", "w", NOON, fish.pk),
        asked.pk: ("asked", "1", "w", NOON, fish.pk),
        nothing.pk: ("nothing", "1", "w", NOON, None),
    }
    assert predictions == {told[0].pk: copy, told[1].pk: both.pk, told[2].pk: both.pk, told[3].pk: of_fish.pk}
    assert of_runs == {runs[0].pk: copy, runs[1].pk: both.pk, runs[2].pk: asked.pk}

    back = migrate(BEFORE)
    assert set(back.get_model("predictions", "Model").objects.values_list("pk", flat=True)) == {
        each.pk for each in made
    }
    back_again = dict(back.get_model("predictions", "Prediction").objects.values_list("pk", "model_id"))
    assert back_again == {told[0].pk: both.pk, told[1].pk: both.pk, told[2].pk: both.pk, told[3].pk: of_fish.pk}
