"""Name the image of the set that old questions of describers and retrievers are about."""

from django.apps.registry import Apps
from django.db import migrations
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

BATCH = 1000


def name_items(apps: Apps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    Question = apps.get_model("studies", "Question")
    about_images = Question.objects.filter(kind__in=("describe", "retrieve"), item="").order_by("pk")
    # What describers see says the place of the image, from 0; the right answer of retrievers is the image.
    rows = about_images.values_list("pk", "kind", "right", "content__target")
    batch = []
    for pk, kind, right, place in rows.iterator(chunk_size=BATCH):
        batch.append(Question(pk=pk, item=right if kind == "retrieve" else f"image_{place + 1}"))
        if len(batch) == BATCH:
            Question.objects.bulk_update(batch, ["item"])
            batch = []
    Question.objects.bulk_update(batch, ["item"])


class Migration(migrations.Migration):
    dependencies = [("studies", "0026_questions_name_their_item")]

    operations = [migrations.RunPython(name_items, migrations.RunPython.noop, elidable=True)]
