"""Tags: researchers' labels on instances of a project, for finding them again."""

from collections.abc import Sequence
from datetime import datetime

from django.db import connection, transaction

from studies.actions.events import Actor, What, record
from studies.errors import StudyError
from studies.models import Instance, Project, Tag
from studies.models.instances import LONGEST_TAG
from studies.names import problem_with_name

BATCH = 5_000


@transaction.atomic
def tag_instances(*, project: Project, instances: Sequence[int], name: str, by: Actor, now: datetime) -> int:
    """Tag instances (ids) of `project` with `name`; return how many did not have the tag yet.

    Raises StudyError for an invalid name, or without an instance.
    """
    if problem := problem_with_name(name, LONGEST_TAG):
        raise StudyError(f"Tag: {problem}")
    if not instances:
        raise StudyError("No instance is selected.")
    if tagged := add_tag(project=project, instances=instances, name=name):
        record(project=project, what=What.INSTANCES_TAGGED, by=by, now=now, tag=name, instances=tagged)
    return tagged


@transaction.atomic
def add_tag(*, project: Project, instances: Sequence[int], name: str) -> int:
    """Tag instances (ids) of `project`, as `tag_instances`, as part of another event, and with a valid name."""
    tag, _ = Tag.objects.select_for_update().get_or_create(project=project, name=name)
    tagged = sum(_insert(tag, some) for some in _batches(instances))
    if not tagged and not tag.instances.exists():
        # None of the ids belongs to the project.
        tag.delete()
    return tagged


def _insert(tag: Tag, instances: Sequence[int]) -> int:
    """Tag those of `instances` (ids) that belong to the project and lack the tag; return how many.

    A plain statement: with `bulk_create`, 100,000 instances took 2.5 s instead of 0.5 s.
    """
    quote = connection.ops.quote_name
    through, table = quote(Tag.instances.through._meta.db_table), quote(Instance._meta.db_table)
    places = ", ".join(["%s"] * len(instances))
    with connection.cursor() as cursor:
        cursor.execute(
            f"INSERT INTO {through} (tag_id, instance_id) SELECT %s, id FROM {table} "  # noqa: S608 (our own names)
            f"WHERE project_id = %s AND id IN ({places}) ON CONFLICT DO NOTHING",
            [tag.pk, tag.project_id, *instances],
        )
        tagged: int = cursor.rowcount
    return tagged


@transaction.atomic
def untag_instances(*, project: Project, instances: Sequence[int], name: str, by: Actor, now: datetime) -> int:
    """Remove the tag `name` from instances (ids); return how many had it. An unused tag is deleted.

    Raises StudyError if the project has no such tag.
    """
    tag = Tag.objects.select_for_update().filter(project=project, name=name).first()
    if tag is None:
        raise StudyError(f"No instance of {project.name} has the tag {name}.")
    through = Tag.instances.through.objects.filter(tag=tag)
    untagged = sum(through.filter(instance__in=some).delete()[0] for some in _batches(instances))
    if not through.exists():
        tag.delete()
    if untagged:
        record(project=project, what=What.INSTANCES_UNTAGGED, by=by, now=now, tag=name, instances=untagged)
    return untagged


def _batches(instances: Sequence[int]) -> list[Sequence[int]]:
    return [instances[start : start + BATCH] for start in range(0, len(instances), BATCH)]
