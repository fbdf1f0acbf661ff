"""Copy what was known of an image to its uses in the project that brought it, and say which cannot be told.

The version before kept source, licence and generator with the bytes, as the first import of them said, and showed them
to every project that has the same picture. What an import into another project said was not kept.
"""

import sys
from datetime import timedelta

from django.db import migrations
from django.db.models import Q
from django.utils import timezone

TEXTS = ("source", "licence", "generator")
SAID = ~Q(source="", licence="", generator="")
CHUNK = 500
MOST_HASHES = 100
# An import writes the instances of a batch right after its images, in the same transaction: never as late as this.
LONGEST_IMPORT = timedelta(hours=1)


def tell(apps, schema_editor):
    copied = 0
    untold = {}
    for images in _chunks(apps.get_model("studies", "Image").objects.filter(SAID)):
        uses = _uses_by_project(apps, images)
        for image in images:
            owner = _owner(image, uses[image.pk])
            for project, found in uses[image.pk].items():
                if project != owner:
                    untold.setdefault(project, []).append(image.pk)
                    continue
                for use in found:
                    use.source, use.licence, use.generator = image.source, image.licence, image.generator
                copied += len(found)
        _save(apps, [use for of_image in uses.values() for found in of_image.values() for use in found])
    _note(apps, untold)
    if copied or untold:
        left = sum(len(images) for images in untold.values())
        sys.stdout.write(
            f"\n  Source, licence and generator were copied to {copied:,} uses of images. For {left:,} images in "
            f"{len(untold):,} projects nobody can tell whether they were said of this use: there they are empty. "
            "Import the same files again to fill them.\n"
        )


def _chunks(images):
    """Yield the images in lists of at most CHUNK, each list read before anything is written."""
    last = ""
    while found := list(images.filter(pk__gt=last).order_by("pk")[:CHUNK]):
        yield found
        last = found[-1].pk


def _uses_by_project(apps, images):
    """Return image -> project -> its uses, each with its instance."""
    uses = {image.pk: {} for image in images}
    found = apps.get_model("studies", "InstanceImage").objects.filter(image__in=list(uses)).order_by("pk")
    needed = ("image", "instance", *TEXTS, "instance__project", "instance__created_at")
    for use in found.select_related("instance").only(*needed):
        uses[use.image_id].setdefault(use.instance.project_id, []).append(use)
    return uses


def _owner(image, uses):
    """Return the project whose import brought the image, None when that is not certain.

    With the image its import wrote an instance that uses it, at once after it; or it filled a place that had waited,
    of an instance that is older than the image. All others that use it came later: they found it there.
    """
    if len(uses) < 2:
        return next(iter(uses), None)
    waited, came = set(), []
    for project, found in uses.items():
        for use in found:
            if use.instance.created_at < image.created_at:
                waited.add(project)
            else:
                came.append((use.instance.created_at - image.created_at, project))
    after, first = min(came, default=(LONGEST_IMPORT, None), key=lambda one: one[0])
    candidates = waited | ({first} if after < LONGEST_IMPORT else set())
    return candidates.pop() if len(candidates) == 1 else None


def _save(apps, uses):
    apps.get_model("studies", "InstanceImage").objects.bulk_update(
        [use for use in uses if any(getattr(use, name) for name in TEXTS)], TEXTS, batch_size=CHUNK
    )


def _note(apps, untold):
    now = timezone.now()
    apps.get_model("studies", "Event").objects.bulk_create(
        apps.get_model("studies", "Event")(
            project_id=project,
            what="image sources not told",
            by_name="upgrade",
            details={"images": len(images), "first": images[:MOST_HASHES]},
            at=now,
        )
        for project, images in sorted(untold.items())
    )


def give_back(apps, schema_editor):
    """Let the images say again what a use of them says: the version before asks the images."""
    told = apps.get_model("studies", "InstanceImage").objects.filter(SAID, image__isnull=False)
    for images in _chunks(apps.get_model("studies", "Image").objects.exclude(SAID)):
        first = {}
        for use in told.filter(image__in=images).order_by("-pk"):
            first[use.image_id] = use
        known = [image for image in images if image.pk in first]
        for image in known:
            use = first[image.pk]
            image.source, image.licence, image.generator = use.source, use.licence, use.generator
        apps.get_model("studies", "Image").objects.bulk_update(known, TEXTS, batch_size=CHUNK)


class Migration(migrations.Migration):

    dependencies = [
        ('studies', '0005_where_images_come_from'),
    ]

    operations = [
        migrations.RunPython(tell, give_back, elidable=True),
    ]
