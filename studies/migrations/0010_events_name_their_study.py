"""Write beside every event the name of the study that it is about, which until now could not go."""

from django.db import migrations
from django.db.models import Exists, OuterRef, Subquery


def name_studies(apps, schema_editor):
    Event, Study = apps.get_model("studies", "Event"), apps.get_model("studies", "Study")
    named = Study.objects.filter(pk=OuterRef("study")).values("slug")[:1]
    unnamed = Event.objects.filter(study__isnull=False, study_name="")
    unnamed.filter(Exists(Study.objects.filter(pk=OuterRef("study")))).update(study_name=Subquery(named))


def let_go_of_deleted_drafts(apps, schema_editor):
    """The version before keeps no event about a study that is not there; about none, it does."""
    Event, Study = apps.get_model("studies", "Event"), apps.get_model("studies", "Study")
    there = Study.objects.filter(pk=OuterRef("study"))
    Event.objects.filter(~Exists(there), study__isnull=False).update(study=None)


class Migration(migrations.Migration):

    dependencies = [
        ('studies', '0009_events_outlive_drafts'),
    ]

    operations = [
        migrations.RunPython(name_studies, let_go_of_deleted_drafts, elidable=True),
    ]
