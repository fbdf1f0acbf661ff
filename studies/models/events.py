from typing import Any, NoReturn

from django.conf import settings
from django.db import models

from studies.models.projects import Project
from studies.models.studies import Study


class EventQuerySet(models.QuerySet["Event"]):
    """Append-only events."""

    def update(self, **kwargs: Any) -> NoReturn:
        raise TypeError("An event is never changed.")

    def delete(self) -> NoReturn:
        raise TypeError("An event is never deleted.")


class Event(models.Model):
    """Who changed what, and when; stored in the transaction of the change, and never modified.

    Answers leave no event. `what`: object and verb, such as "study launched". `details` never contain a provider's id.
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
