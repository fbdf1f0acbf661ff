from django.db import migrations
from django.db.migrations.state import StateApps
from django.db.backends.base.schema import BaseDatabaseSchemaEditor

from making.texts import digest_of_words

BATCH = 500


def add_digests(apps: StateApps, schema_editor: BaseDatabaseSchemaEditor) -> None:
    candidates = apps.get_model("making", "Candidate").objects.filter(digest="").exclude(text="").order_by("pk")
    after = 0
    while batch := list(candidates.filter(pk__gt=after).only("pk", "text")[:BATCH]):
        for one in batch:
            one.digest = digest_of_words(one.text)
        candidates.model.objects.bulk_update(batch, ["digest"])
        after = batch[-1].pk


class Migration(migrations.Migration):
    """Note the words of texts that were made before, so that the filter `duplicates` finds them."""

    dependencies = [("making", "0004_waits_for_filters")]

    operations = [migrations.RunPython(add_digests, migrations.RunPython.noop, elidable=True)]
