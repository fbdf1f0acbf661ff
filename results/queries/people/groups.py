"""Groups of a project, in numbers; nobody learns who is in one."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass

from django.db.models import Count

from annotation.models import GroupMember
from studies.models import Project, Study, StudyState


@dataclass(frozen=True)
class GroupLine:
    """A group: its number of `people`, none if nobody has declared it, and the studies that require it."""

    name: str
    people: int
    studies: Sequence[Study]


def group_lines(project: Project) -> list[GroupLine]:
    """Return the groups that were declared or that a study requires, by name."""
    people, asking = _sizes(project), defaultdict(list)
    for study in project.studies.select_related("project").defer("source").order_by("slug"):
        for group in _required_groups(study):
            asking[group].append(study)
    return [GroupLine(name, people.get(name, 0), asking[name]) for name in sorted({*people, *asking})]


def people_in_group(project: Project, group: str) -> int:
    return GroupMember.objects.filter(project=project, group=group).count()


def undeclared_groups(study: Study) -> list[str]:
    """Return the empty groups that `study` requires; none once it is closed."""
    asked = _required_groups(study)
    if not asked or study.state == StudyState.CLOSED:
        return []
    declared = _sizes(study.project)
    return [group for group in asked if group not in declared]


def _sizes(project: Project) -> dict[str, int]:
    counted = GroupMember.objects.filter(project=project).values_list("group").annotate(Count("pk"))
    return dict(counted.order_by())


def _required_groups(study: Study) -> list[str]:
    given = (condition.parameters for condition in study.design.eligibility)
    return list(dict.fromkeys(str(each["group"]) for each in given if "group" in each))
