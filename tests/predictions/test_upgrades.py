"""What the upgrades make of the models and predictions that earlier versions stored."""

from collections.abc import Iterator
from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor
from pytest_django import DjangoDbBlocker

from tests.databases import connected_to, database
from tests.factories import NOON

MODELS_BEFORE = [("predictions", "0004_runs"), ("studies", "0018_designs_of_version_3")]
MODELS_AFTER = [("predictions", "0006_each_project_has_its_models"), MODELS_BEFORE[1]]
PREDICTIONS_BEFORE = [("predictions", "0008_runs_of_vectors"), ("studies", "0024_what_follows_a_launch")]
PREDICTIONS_AFTER = [("predictions", "0010_mark_mismatched_predictions"), PREDICTIONS_BEFORE[1]]
PICTURE = {"image": "0" * 64, "width": 8, "height": 6}
OPTIONS = "(its options: caption, negative_caption)"


def migrate(targets: list[tuple[str, str]]) -> Any:
    executor = MigrationExecutor(connection)
    executor.migrate(targets)
    return MigrationExecutor(connection).loader.project_state(targets).apps


@pytest.fixture(scope="module")
def before_all(django_db_setup: None, django_db_blocker: DjangoDbBlocker) -> Iterator[str]:
    """The name of an empty database of the earliest of these versions."""
    with django_db_blocker.unblock(), database("before_all") as name:
        with connected_to(name):
            migrate(MODELS_BEFORE)
        yield name


@pytest.fixture
def early_database(before_all: str, django_db_blocker: DjangoDbBlocker) -> Iterator[None]:
    """Stand in a copy of it: to go through all migrations up to there takes longer than what is tried from there on."""
    with django_db_blocker.unblock(), database("early", like=before_all) as name, connected_to(name):
        yield


@pytest.mark.usefixtures("early_database")
def test_each_project_gets_a_model_of_its_own_with_what_is_its() -> None:
    """One of two projects, one of one, one that only a run names, and one of none; and back again."""
    model = migrate(MODELS_BEFORE).get_model
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

    after = migrate(MODELS_AFTER)
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

    back = migrate(MODELS_BEFORE)
    assert set(back.get_model("predictions", "Model").objects.values_list("pk", flat=True)) == {
        each.pk for each in made
    }
    back_again = dict(back.get_model("predictions", "Prediction").objects.values_list("pk", "model_id"))
    assert back_again == {told[0].pk: both.pk, told[1].pk: both.pk, told[2].pk: both.pk, told[3].pk: of_fish.pk}


def ask_three(before: Any, instance: Any, state: str) -> None:
    """Ask people, in a study of `state`, which of three captions the image has."""
    fields: dict[str, Any] = {
        "slug": state,
        "state": state,
        "design": {},
        "seed": "",
        "invite_token": state,
        "source": "",
    }
    fields |= {"kind": "image_to_text", "rule": "majority-v1", "launched_at": NOON if state == "open" else None}
    study = before.get_model("studies", "Study").objects.create(project=instance.project, **fields)
    options = [{"key": key, "text": key} for key in ("caption", "negative_caption", "third")]
    before.get_model("studies", "Question").objects.create(
        study=study,
        instance=instance,
        kind="image_to_text",
        variant="image",
        content={"image": PICTURE, "options": options},
        right="caption",
        answers_wanted=1,
    )


@pytest.mark.usefixtures("early_database")
def test_stored_predictions_are_compared_with_what_people_were_asked_or_the_default() -> None:
    before = migrate(PREDICTIONS_BEFORE)
    project = before.get_model("studies", "Project").objects.create(slug="birds", name="birds")
    instances = [
        before.get_model("studies", "Instance").objects.create(
            project=project, key=str(number), captions={}, source_file="f", source_row=number
        )
        for number in (1, 2)
    ]
    ask_three(before, instances[1], "open")
    ask_three(before, instances[0], "draft")
    model = before.get_model("predictions", "Model").objects.create(project=project, name="CLIP", created_at=NOON)
    two, three = {"caption": 1, "negative_caption": 0}, {"caption": 1, "negative_caption": 0, "third": 0}
    stored: list[tuple[int, str, str, dict[str, int] | None]] = [
        (0, "image_to_text", "image", two),
        (0, "image_to_text", "negative_image", {"caption": 1, "zz": 0}),
        (0, "text_to_image", "caption", None),
        (0, "best_of_n", "", {"candidate-0": 1, "candidate-1": 0}),
        (1, "image_to_text", "image", two),
        (1, "image_to_text", "negative_image", three),
    ]
    fields = {"model": model, "caption_rule": "r", "source_row": 1, "created_at": NOON, "is_right": True}
    made = [
        before.get_model("predictions", "Prediction")
        .objects.create(instance=instances[place], kind=kind, variant=variant, scores=scores, **fields)
        .pk
        for place, kind, variant, scores in stored
    ]

    after = migrate(PREDICTIONS_AFTER)
    problems = dict(after.get_model("predictions", "Prediction").objects.values_list("pk", "problem"))
    assert [problems[pk] for pk in made] == [
        "",
        f"the scores lack negative_caption; zz is not an option {OPTIONS}",
        "",
        "",
        "the scores lack third (its options: caption, negative_caption, third)",
        f"third is not an option {OPTIONS}",
    ]
    assert set(after.get_model("predictions", "Prediction").objects.values_list("is_right", flat=True)) == {True}
    migrate(PREDICTIONS_BEFORE)
