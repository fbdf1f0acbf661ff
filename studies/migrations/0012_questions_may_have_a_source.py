from django.db import migrations, models


class Migration(migrations.Migration):
    """A question about an instance may be asked once for each source, and no longer just once."""

    dependencies = [("studies", "0011_acceptance_adds_texts_too")]

    operations = [
        migrations.AddField(
            "question",
            "source_type",
            models.CharField(
                max_length=20,
                blank=True,
                default="",
                db_default="",
                help_text='What it was made from besides its instance, such as "response"; empty when from nothing else.',
            ),
        ),
        migrations.AddField(
            "question",
            "source_id",
            models.BigIntegerField(
                default=0, db_default=0, help_text="Which one; 0 for none. Rooms above know where to look for it."
            ),
        ),
        migrations.AddField(
            "question",
            "source",
            models.JSONField(null=True, blank=True, help_text="What the source said, frozen; null without one."),
        ),
        migrations.AddConstraint(
            "question",
            models.UniqueConstraint(
                fields=("study", "instance", "kind", "variant", "source_type", "source_id"),
                name="asked_once_per_variant_and_source",
            ),
        ),
        migrations.RemoveConstraint("question", "instance_asked_once_per_variant"),
        migrations.AddIndex(
            "question",
            models.Index(
                fields=("source_type", "source_id"),
                condition=~models.Q(source_type=""),
                name="questions_made_from_a_source",
            ),
        ),
    ]
