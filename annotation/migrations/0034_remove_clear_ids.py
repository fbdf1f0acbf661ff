from django.db import migrations, models

from annotation.migrations import _encrypt_ids


class Migration(migrations.Migration):
    """Encrypts first what an older version, which still ran, added meanwhile."""

    dependencies = [
        ("annotation", "0033_encrypt_ids"),
    ]

    operations = [
        migrations.RunPython(_encrypt_ids.encrypt, migrations.RunPython.noop),
        migrations.RemoveConstraint("annotator", "annotator_once_per_provider"),
        migrations.RemoveConstraint("session", "one_session_per_provider_session"),
        migrations.RemoveField("annotator", "provider_id"),
        migrations.RemoveField("session", "provider_session_id"),
        migrations.AddConstraint(
            "annotator",
            models.UniqueConstraint(fields=("provider", "id_digest"), name="annotator_once_per_provider"),
        ),
        migrations.AddConstraint(
            "session",
            models.UniqueConstraint(
                fields=("study", "provider", "id_digest"), name="one_session_per_provider_session"
            ),
        ),
    ]
