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
        help_text="The study that keeps the dataset: what it accepted. Null: all instances are the dataset.",
    )
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("slug",)

    def __str__(self) -> str:
        return self.slug


class Membership(models.Model):
    """What a person is in a project; `studies.permissions` says what they may do there."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="memberships")
    user = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="memberships")
    role = models.CharField(
        max_length=20, choices=[(role.value, role.capitalize()) for role in Role], default=Role.EDITOR.value
    )

    class Meta:
        constraints = (models.UniqueConstraint(fields=("project", "user"), name="membership_once_per_project"),)

    def __str__(self) -> str:
        return f"{self.user} in {self.project} as {self.role}"
