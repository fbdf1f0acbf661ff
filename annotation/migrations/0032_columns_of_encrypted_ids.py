from django.db import migrations, models

SEALED = models.TextField(
    blank=True, db_default="", default="", help_text="Its id at the provider, encrypted. Empty: deleted."
)
DIGEST = models.CharField(blank=True, help_text="By which its id is found. Null: deleted.", max_length=64, null=True)


class Migration(migrations.Migration):
    """The clear columns may be null, so that the migration that removes them can be undone."""

    dependencies = [
        ("annotation", "0031_recruitment_and_payments"),
    ]

    operations = [
        migrations.AlterField("annotator", "provider_id", models.CharField(max_length=200, null=True)),
        migrations.AlterField("session", "provider_session_id", models.CharField(max_length=200, null=True)),
        migrations.AddField("annotator", "sealed_id", SEALED),
        migrations.AddField("annotator", "id_digest", DIGEST),
        migrations.AddField("session", "sealed_id", SEALED.clone()),
        migrations.AddField("session", "id_digest", DIGEST.clone()),
    ]
