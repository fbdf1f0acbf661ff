"""Groups of a project, in numbers; nobody learns who is in one."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Count, Max, Min

from annotation.models import GroupMember
from annotation.models.people import GroupMemberQuerySet
from studies.models import Project, Study, StudyState


@dataclass(frozen=True)
class GroupLine:
    """A group: its number of `people`, none if nobody is in it, and the studies that require it.

    sources: the qualification studies whose pass is the group. passed: how many of the people passed one; their
    memberships expire, the first at `first_expiry` and the last at `last_expiry`, None without any.
    """

    name: str
    people: int
    studies: Sequence[Study]
    sources: Sequence[Study]
    passed: int
    first_expiry: datetime | None
    last_expiry: datetime | None


def group_lines(project: Project) -> list[GroupLine]:
    """Return the groups that were declared, that a study requires, or that people join by passing one; by name."""
    people, asking, granting = _sizes(project), defaultdict(list), defaultdict(list)
    for study in project.studies.select_related("project").defer("source").order_by("slug"):
        for group in _required_groups(study):
            asking[group].append(study)
        if study.design.qualification is not None:
            granting[study.design.qualification.group].append(study)
    passed = _members(project).filter(expires_at__isnull=False).order_by().values_list("group")
    expiring = {
        group: (n, first, last)
        for group, n, first, last in passed.annotate(Count("pk"), Min("expires_at"), Max("expires_at"))
    }
    return [
        GroupLine(name, people.get(name, 0), asking[name], granting[name], *expiring.get(name, (0, None, None)))
        for name in sorted({*people, *asking, *granting})
    ]


def people_in_group(project: Project, group: str) -> int:
    return _members(project).filter(group=group).count()


def undeclared_groups(study: Study) -> list[str]:
    """Return the empty groups that `study` requires; none once it is closed."""
    asked = _required_groups(study)
    if not asked or study.state == StudyState.CLOSED:
        return []
    declared = _sizes(study.project)
    others = study.project.studies.exclude(state=StudyState.CLOSED).defer("source")
    granted = {each.design.qualification.group for each in others if each.design.qualification is not None}
    return [group for group in asked if group not in declared and group not in granted]


def _members(project: Project) -> GroupMemberQuerySet:
    return GroupMember.objects.in_force().filter(project=project)


def _sizes(project: Project) -> dict[str, int]:
    counted = _members(project).values_list("group").annotate(Count("pk"))
    return dict(counted.order_by())


def _required_groups(study: Study) -> list[str]:
    given = (condition.parameters for condition in study.design.eligibility)
    return list(dict.fromkeys(str(each["group"]) for each in given if "group" in each))
