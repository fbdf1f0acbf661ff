"""Which stored predictions the upgrade marks, because their options are not those of their question."""

from typing import Any

import pytest
from django.db import connection
from django.db.migrations.executor import MigrationExecutor

from tests.factories import NOON

BEFORE = [("predictions", "0008_runs_of_vectors"), ("studies", "0024_what_follows_a_launch")]
AFTER = [("predictions", "0010_mark_mismatched_predictions"), BEFORE[1]]
PICTURE = {"image": "0" * 64, "width": 8, "height": 6}
OPTIONS = "(its options: caption, negative_caption)"


def migrate(targets: list[tuple[str, str]]) -> Any:
    executor = MigrationExecutor(connection)
    executor.migrate(targets)
    return MigrationExecutor(connection).loader.project_state(targets).apps


@pytest.fixture
def before(empty_database: None) -> Any:
    return migrate(BEFORE)


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
    fields["launched_at"] = NOON if state == "open" else None
    study = before.get_model("studies", "Study").objects.create(
        project=instance.project, kind="image_to_text", rule="majority-v1", **fields
    )
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


def test_stored_predictions_are_compared_with_what_people_were_asked_or_the_default(before: Any) -> None:
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

    after = migrate(AFTER)
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
    migrate(BEFORE)
