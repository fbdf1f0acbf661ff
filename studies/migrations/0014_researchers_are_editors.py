"""Call the members who were researchers what they are now: editors, who may do all that they might before.

While processes of the version before are still at work, they may store `researcher` again: this version reads that as
editor wherever it asks (`studies.permissions.FORMER_NAMES`), so nobody is locked out and nothing needs to wait. To them
everybody who is not an owner is a researcher, also a viewer: make nobody a viewer, and change no members in the admin,
before the last of them has ended.

The way back is closed while there are viewers: the version before would let them change everything.
"""

from django.db import migrations
from django.db.migrations.exceptions import IrreversibleError


def rename(apps, schema_editor):
    apps.get_model("studies", "Membership").objects.filter(role="researcher").update(role="editor")


def name_as_before(apps, schema_editor):
    memberships = apps.get_model("studies", "Membership").objects
    viewers = memberships.filter(role="viewer").count()
    if viewers:
        raise IrreversibleError(
            f"{viewers} memberships are those of viewers, whom the version before would let change everything. "
            "Take these memberships away, or make them editors; then go back."
        )
    memberships.filter(role="editor").update(role="researcher")


class Migration(migrations.Migration):

    dependencies = [
        ('studies', '0013_roles_of_members'),
    ]

    operations = [
        migrations.RunPython(rename, name_as_before, elidable=True),
    ]
