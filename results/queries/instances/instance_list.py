"""Pictures, tags and categories of a project's instances."""

from collections import Counter
from collections.abc import Iterable, Sequence

from studies.descriptions import SET, descriptions_of
from studies.kinds import is_foil_name
from studies.models import Instance, InstanceImage, Project, Tag

# Of more types than this, the others are listed together.
MOST_LOOKED_UP = 50


def tags_of(instances: Iterable[Instance]) -> dict[int, list[str]]:
    """Return the names of the tags of each instance, alphabetically."""
    names: dict[int, list[str]] = {instance.pk: [] for instance in instances}
    tagged = Tag.objects.filter(instances__in=names).order_by("name")
    for instance, name in tagged.values_list("instances", "name"):
        names[instance].append(name)
    return names


def images_of(instances: Iterable[Instance]) -> dict[int, list[InstanceImage]]:
    """Return the pictures of each instance, in the order of `sort_images`."""
    images: dict[int, list[InstanceImage]] = {instance.pk: [] for instance in instances}
    for use in InstanceImage.objects.filter(instance__in=images).select_related("image"):
        images[use.instance_id].append(use)
    return {instance: sort_images(uses) for instance, uses in images.items()}


def sort_images(images: Iterable[InstanceImage]) -> list[InstanceImage]:
    """Return the pictures of an instance: foils last, single pictures of a role first, else in import order."""
    by_role: dict[str, list[InstanceImage]] = {}
    for use in sorted(images, key=lambda use: use.pk):
        by_role.setdefault(use.role, []).append(use)
    roles = sorted(by_role, key=lambda role: (is_foil_name(role), len(by_role[role]) > 1))
    return [use for role in roles for use in sorted(by_role[role], key=lambda use: use.position)]


def sort_roles(captions: Iterable[str]) -> list[str]:
    """Return the roles of captions in the order of the source, those of foils last."""
    return sorted(captions, key=is_foil_name)


def named_images(images: Sequence[InstanceImage]) -> list[tuple[str, InstanceImage]]:
    """Return each picture of an instance by its name in options: its role, with a number if there are several.

    Example: `image`, but `set-0` to `set-9`.
    """
    so_many = Counter(use.role for use in images)
    return [(f"{use.role}-{use.position}" if so_many[use.role] > 1 else use.role, use) for use in images]


def one_origin(images: Sequence[InstanceImage]) -> InstanceImage | None:
    """Return one of the pictures if all have the same source, licence and generator, else None."""
    origins = {(use.image_id is None, use.source, use.licence, use.generator) for use in images}
    return images[0] if len(images) > 1 and len(origins) == 1 and images[0].image_id else None


def description_notes(instance: Instance) -> dict[str, str]:
    """Return role -> note: what the import knew about descriptions of an image set."""
    found = {}
    for each in descriptions_of(instance.captions, instance.reference):
        words = [] if each.target is None else [f"about {SET}-{each.target}"]
        words += filter(None, [each.author.replace("_", " ")])
        words += [f"phenomena: {', '.join(each.tags) or 'none'}"] if each.looked_for else []
        found[each.role] = " · ".join(words)
    return found


def categories_of(project: Project) -> list[tuple[str, str, str]]:
    """Return the types, subtypes and splits of the project's instances."""
    # In the order of the index.
    found = Instance.objects.filter(project=project).order_by("split", "type", "subtype")
    return list(found.values_list("type", "subtype", "split").distinct())


def types_of(project: Project) -> list[str]:
    """Return the types of the project's instances, except that of those without one, sorted."""
    names = Instance.objects.filter(project=project).order_by("type").values_list("type", flat=True)
    found = [""]
    # From one type to the next by an index, because listing them reads every instance.
    while len(found) < MOST_LOOKED_UP:
        following = names.filter(type__gt=found[-1]).first()
        if following is None:
            return sorted(found[1:])
        found.append(following)
    return sorted([*found[1:], *names.filter(type__gt=found[-1]).distinct()])
