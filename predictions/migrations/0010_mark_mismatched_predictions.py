from collections import defaultdict
from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from predictions.options import Options, closest, options_of
from studies.kinds import get_kind, usual_ask

BATCH = 2_000
_Name = tuple[int, str, str]


def mark(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Note on stored predictions with scores what is wrong with their options.

    Compared are all launched questions of the same name. Where nobody was asked, the options that the kind always
    offers by default; a kind without such options has no right answer by default, so no number rests on those.
    """
    alias = schema_editor.connection.alias
    Prediction = apps.get_model("predictions", "Prediction")
    scored = Prediction.objects.using(alias).filter(scores__isnull=False).order_by("pk")
    columns = ("pk", "instance_id", "kind", "variant", "scores")
    last = 0
    while rows := list(scored.filter(pk__gt=last).values_list(*columns)[:BATCH]):
        last = rows[-1][0]
        problems = _problems(apps, alias, rows)
        found = [Prediction(pk=pk, problem=problem) for pk, problem in problems.items()]
        Prediction.objects.using(alias).bulk_update(found, ["problem"], batch_size=500)


def _problems(apps: Apps, alias: str, rows: list[tuple[Any, ...]]) -> dict[int, str]:
    asked = _asked(apps, alias, {(instance, kind, variant) for _, instance, kind, variant, _ in rows})
    found = {}
    for pk, instance, kind, variant, scores in rows:
        candidates = asked.get((instance, kind, variant)) or _usual(kind)
        if candidates and (problem := closest(candidates, frozenset(scores)).problem(frozenset(scores))):
            found[pk] = problem
    return found


def _asked(apps: Apps, alias: str, names: set[_Name]) -> dict[_Name, list[Options]]:
    """Return the options of the questions that people were asked, by name."""
    Question = apps.get_model("studies", "Question")
    asked = Question.objects.using(alias).filter(instance__in={instance for instance, _, _ in names})
    launched = asked.filter(taken_out_at=None, undone_at=None).exclude(study__state="draft")
    found: dict[_Name, list[Options]] = defaultdict(list)
    for instance, kind, variant, content in launched.values_list("instance_id", "kind", "variant", "content"):
        if (instance, kind, variant) in names:
            found[instance, kind, variant].append(options_of(get_kind(kind), content))
    return found


def _usual(kind: str) -> list[Options]:
    """Return the options that every question of a kind with a known right answer has, where nobody says otherwise."""
    asks = get_kind(kind)
    ask = usual_ask(asks)
    options = asks.common_options(ask)
    return [Options(options, options)] if options and asks.knows_right(ask) else []


class Migration(migrations.Migration):
    """Find the predictions whose options are not those of their question, which earlier versions took."""

    dependencies = [
        ("predictions", "0009_say_which_predictions_are_mismatched"),
        ("studies", "0024_what_follows_a_launch"),
    ]

    operations = [migrations.RunPython(mark, migrations.RunPython.noop, elidable=True)]
