"""Copy which study keeps the dataset of each project to where several studies can."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor


def copy(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    Project, Study = apps.get_model("studies", "Project"), apps.get_model("studies", "Study")
    keeping = Project.objects.exclude(dataset=None).values("dataset")
    Study.objects.filter(pk__in=keeping).update(in_dataset=True)


def copy_back(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    """Write the dataset of today where the version before reads it: of several studies the one launched last."""
    Project, Study = apps.get_model("studies", "Project"), apps.get_model("studies", "Study")
    Project.objects.update(dataset=None)
    declared = Study.objects.filter(in_dataset=True).order_by("launched_at", "pk")
    for study, project in declared.values_list("pk", "project"):
        Project.objects.filter(pk=project).update(dataset=study)


class Migration(migrations.Migration):
    dependencies = [("studies", "0028_several_studies_make_a_dataset")]

    operations = [migrations.RunPython(copy, copy_back, elidable=True)]
