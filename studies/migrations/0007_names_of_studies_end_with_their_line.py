"""Take the line end off the names of studies that an older version let in with one: no address can hold it."""

from django.db import migrations


def take_off(apps, schema_editor):
    Study = apps.get_model("studies", "Study")
    for study in Study.objects.filter(slug__endswith="\n").order_by("pk"):
        study.slug = _free(Study, "slug", study.slug.strip(), project=study.project_id)
        if study.public_token.endswith("\n"):
            study.public_token = _free(Study, "public_token", study.public_token.strip())
        study.save(update_fields=["slug", "public_token"])


def _free(Study, column, name, **where):
    """Return the name, with a number after it where another study has it already."""
    number, found = 1, name
    while Study.objects.filter(**{column: found}, **where).exists():
        number += 1
        found = f"{name[:46]}-{number}"
    return found


class Migration(migrations.Migration):

    dependencies = [
        ('studies', '0006_tell_uses_where_images_come_from'),
    ]

    operations = [
        # Going back leaves the names as they are now: the version before cannot show the other ones either.
        migrations.RunPython(take_off, migrations.RunPython.noop, elidable=True),
    ]
