from datetime import datetime
from typing import Any, Self

from django.conf import settings
from django.db import models

from studies.permissions import Role


class Project(models.Model):
    """One benchmark being built."""

    slug = models.SlugField(unique=True)
    name = models.CharField(max_length=200)
    members = models.ManyToManyField(settings.AUTH_USER_MODEL, through="Membership", related_name="projects")
    dataset = models.ForeignKey(
        "studies.Study",
        on_delete=models.SET_NULL,
        null=True,
        blank=True,
        related_name="+",
        help_text="Unused since `Study.in_dataset`, by which a dataset can have several studies. It goes with the next "
        "release, since the version before still reads it.",
    )
    created_at = models.DateTimeField(auto_now_add=True)
    archived_at = models.DateTimeField(
        null=True, blank=True, help_text="Since when it is put away: it can be looked at, and nothing in it goes on."
    )
    is_demo = models.BooleanField(
        default=False, db_default=False, help_text="Made to look around in; its answers are simulated."
    )

    class Meta:
        ordering = ("slug",)

    def __str__(self) -> str:
        return self.slug


class ProjectDeletion(models.Model):
    """The deletion of a project: who asked for it, when a worker deletes the project, and afterwards what it deleted.

    The row outlives the project. Cancelling the deletion deletes the row.
    """

    project = models.OneToOneField(
        Project,
        on_delete=models.SET_NULL,
        null=True,
        related_name="deletion",
        help_text="Null once the project is deleted.",
    )
    slug = models.CharField(max_length=50)
    name = models.CharField(max_length=200)
    requested_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, related_name="+")
    by_name = models.CharField(max_length=150)
    requested_at = models.DateTimeField()
    pay_settled = models.TextField(blank=True, help_text="What people were owed, and the owner said to have settled.")
    due_at = models.DateTimeField()
    begun_at = models.DateTimeField(null=True, help_text="From then on nobody sees the project, or can cancel.")
    deleted_at = models.DateTimeField(null=True)
    record: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(
        default=dict, help_text="What was deleted: the file that stays."
    )
    files: models.JSONField[list[str], list[str]] = models.JSONField(
        default=list, help_text="File names in storage of images whose rows are deleted but whose files may remain."
    )
    owners = models.ManyToManyField(
        settings.AUTH_USER_MODEL,
        related_name="+",
        help_text="Owners when it began, and who asked: they may see the record.",
    )

    class Meta:
        ordering = ("-requested_at", "-pk")

    def __str__(self) -> str:
        return f"deletion of {self.slug}"


class Membership(models.Model):
    """Role of a user in a project; `studies.permissions` defines its rights."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(
        max_length=20, choices=[(role.value, role.capitalize()) for role in Role], default=Role.EDITOR.value
    )

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "user"), name="membership_once_per_project"),)

    def __str__(self) -> str:
        return f"{self.user} in {self.project} as {self.role}"


class InvitationQuerySet(models.QuerySet["Invitation"]):
    def open(self, now: datetime) -> Self:
        """Return unused, uncancelled and unexpired invitations."""
        return self.filter(used_at=None, cancelled_at=None, expires_at__gt=now)


class Invitation(models.Model):
    """A link that makes one person, whoever uses it, a member. The link itself is not stored."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="invitations")
    role = models.CharField(max_length=20, choices=[(role.value, role.capitalize()) for role in Role])
    whom = models.CharField(max_length=200, blank=True, help_text="Whom it is meant for, in the words of who made it.")
    secret_hash = models.CharField(max_length=64, unique=True, help_text="SHA-256 of what stands in the link.")
    made_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+", help_text="It ends with their right to."
    )
    made_at = models.DateTimeField()
    expires_at = models.DateTimeField()
    used_at = models.DateTimeField(null=True, blank=True)
    used_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    cancelled_at = models.DateTimeField(null=True, blank=True)

    objects = InvitationQuerySet.as_manager()

    class Meta:
        ordering = ("-made_at", "-pk")

    def __str__(self) -> str:
        return f"invitation of {self.whom or 'somebody'} to {self.project} as {self.role}"
