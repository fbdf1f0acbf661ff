"""Rights of users, from their memberships and `studies.permissions`. Reads only."""

from collections.abc import Sequence

from django.conf import settings
from django.contrib.auth.models import User
from django.db.models import QuerySet

from studies.models import Membership, Project
from studies.permissions import ALLOWED, IN_ARCHIVE, Role, Verb, find_role, names_of_roles


def role_in(user: User, project: Project) -> Role | None:
    """Return the role of `user` in `project`, None for non-members."""
    stored = Membership.objects.filter(project=project, user=user).values_list("role", flat=True).first()
    return None if stored is None else find_role(stored)


def rights_in(user: User, project: Project) -> frozenset[Verb]:
    """Return the rights of `user` in `project`: all for superusers, none for deactivated users."""
    return rights_by_project(user, [project])[project.pk]


def rights_by_project(user: User, projects: Sequence[Project]) -> dict[int, frozenset[Verb]]:
    """Return `rights_in` of each of `projects` by its id, in one query."""
    if not user.is_active:
        return {project.pk: frozenset() for project in projects}
    stored = dict[int, str]()
    if not user.is_superuser:
        memberships = Membership.objects.filter(project__in=projects, user=user)
        stored = dict(memberships.values_list("project", "role"))
    found = dict[int, frozenset[Verb]]()
    for project in projects:
        role = find_role(stored[project.pk]) if project.pk in stored else None
        rights = frozenset(Verb) if user.is_superuser else ALLOWED[role] if role else frozenset()
        found[project.pk] = rights & IN_ARCHIVE if project.archived_at else rights
    return found


def may(user: User, verb: Verb, project: Project) -> bool:
    return verb in rights_in(user, project)


def permitted_projects(user: User, verb: Verb) -> QuerySet[Project]:
    """Return the projects in which `user` has the right `verb`, as `may`, without those that are being deleted."""
    if not user.is_active:
        return Project.objects.none()
    projects = Project.objects.filter(deletion__begun_at=None)
    if verb not in IN_ARCHIVE:
        projects = projects.filter(archived_at=None)
    if user.is_superuser:
        return projects
    return projects.filter(memberships__user=user, memberships__role__in=names_of_roles(verb))


def may_make_projects(user: User) -> bool:
    """Return whether `user` may create projects, a setting of the site."""
    return user.is_active and (user.is_superuser or bool(settings.ANYBODY_MAKES_PROJECTS))


def owners_of(project: Project) -> list[User]:
    """Return the active owners, to ask for a right, sorted by user name."""
    owned = User.objects.filter(memberships__project=project, memberships__role=Role.OWNER, is_active=True)
    return list(owned.order_by("username"))
