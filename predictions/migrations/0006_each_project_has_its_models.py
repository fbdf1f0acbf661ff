from typing import Any

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor
from django.db.models import Count

NAMES = ("name", "version", "weights")


def divide(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Give every model to the first project that it answered in, and every other one a model of its own.

    One that answered nowhere, and that nothing is asked of, stays without: nobody can tell whose it is.
    """
    alias = schema_editor.connection.alias
    Model, Prediction, Run = (apps.get_model("predictions", each) for each in ("Model", "Prediction", "Run"))
    models = Model.objects.using(alias)
    for model in models.filter(project=None).order_by("pk"):
        predictions = Prediction.objects.using(alias).filter(model=model)
        runs = Run.objects.using(alias).filter(model=model)
        projects = {*predictions.order_by().values_list("instance__project", flat=True).distinct()}
        projects |= {*runs.order_by().values_list("project", flat=True).distinct()}
        for project in sorted(projects):
            own = _of_project(models, model, project)
            if own.pk != model.pk:
                predictions.filter(instance__project=project).update(model=own)
                runs.filter(project=project).update(model=own)


def _of_project(models: Any, model: Any, project: int) -> Any:
    """Return the model of the project that has these names: one that is there, this one, or a copy of it."""
    there = models.filter(project=project, **{name: getattr(model, name) for name in NAMES}).first()
    if there is not None:
        return there
    if model.project_id is None:
        model.project_id = project
        model.save(update_fields=["project"])
        return model
    return models.create(
        project_id=project, created_at=model.created_at, **{name: getattr(model, name) for name in NAMES}
    )


def unite(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Make one of the models of the same names, as the version before has them."""
    alias = schema_editor.connection.alias
    Model, Prediction, Run = (apps.get_model("predictions", each) for each in ("Model", "Prediction", "Run"))
    models = Model.objects.using(alias)
    several = models.order_by().values(*NAMES).annotate(count=Count("pk")).filter(count__gt=1)
    for names in list(several.values(*NAMES)):
        first, *others = models.filter(**names).order_by("pk")
        for other in others:
            Prediction.objects.using(alias).filter(model=other).update(model=first)
            Run.objects.using(alias).filter(model=other).update(model=first)
            other.delete()
    models.update(project=None)


class Migration(migrations.Migration):
    """Rows of models that answered in several projects become one for each."""

    dependencies = [("predictions", "0005_models_belong_to_a_project")]

    operations = [migrations.RunPython(divide, unite)]
