from typing import Any, NoReturn

from django.conf import settings
from django.db import models

from studies.models.projects import Project
from studies.models.studies import Study


class EventQuerySet(models.QuerySet["Event"]):
    """Events are only added: what has happened has happened."""

    def update(self, **kwargs: Any) -> NoReturn:
        raise TypeError("An event is never changed.")

    def delete(self) -> NoReturn:
        raise TypeError("An event is never deleted.")


class Event(models.Model):
    """Who changed what, and when; stored in the transaction that changed it, and never touched again.

    An answer is its own record and leaves no event. `what` is a verb with its object, such as "study launched";
    `details` holds no provider's id.
    """

    project = models.ForeignKey(Project, on_delete=models.PROTECT, related_name="events")
    study = models.ForeignKey(
        Study, on_delete=models.DO_NOTHING, db_constraint=False, null=True, blank=True, related_name="events"
    )
    study_name = models.CharField(
        max_length=50,
        blank=True,
        default="",
        db_default="",
        help_text="The name of the study at that moment: what happened to a draft stays when it is deleted.",
    )
    what = models.CharField(max_length=50)
    by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.DO_NOTHING, db_constraint=False, null=True, related_name="+"
    )
    by_name = models.CharField(
        max_length=150, help_text="The name at that moment: a person's, or that of a command or a program."
    )
    details: models.JSONField[dict[str, Any], dict[str, Any]] = models.JSONField(default=dict)
    at = models.DateTimeField()

    objects = EventQuerySet.as_manager()

    class Meta:
        ordering = ("-at", "-id")
        indexes = (models.Index(fields=("project", "at"), name="events_of_a_project"),)

    def __str__(self) -> str:
        return f"{self.what} by {self.by_name}"
