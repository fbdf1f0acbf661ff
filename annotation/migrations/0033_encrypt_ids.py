from django.db import migrations

from annotation.migrations import _encrypt_ids


class Migration(migrations.Migration):
    # Each batch is a transaction.
    atomic = False

    dependencies = [
        ("annotation", "0032_columns_of_encrypted_ids"),
    ]

    operations = [migrations.RunPython(_encrypt_ids.encrypt, _encrypt_ids.decrypt)]
