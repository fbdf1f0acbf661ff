from django.conf import settings
from django.db import models

from annotation.models.people import Annotator, NumberedRow
from annotation.models.sessions import Session
from studies.models import Project


class PersonNote(NumberedRow):
    """What a researcher wrote about an annotator of a project, for other researchers. Its author may delete it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="notes")
    session = models.ForeignKey(
        Session, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", help_text="Empty: on no session."
    )
    text = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField()

    class Meta:
        ordering = ("-at", "-pk")
        indexes = (models.Index(fields=("project", "annotator"), name="notes_on_a_person"),)


class BlockQuerySet(models.QuerySet["Block"]):
    def in_force(self) -> "BlockQuerySet":
        """Return the blocks that have not been ended."""
        return self.filter(ended_at=None)


class Block(NumberedRow):
    """A person who may start no further session in a project. Their answers and pay stay as they are.

    ended_at: when a researcher allowed them again. `Annotator.blocked` is the same for the whole site.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="blocks")
    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="blocks")
    reason = models.TextField()
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField()
    ended_at = models.DateTimeField(null=True, blank=True)

    objects = BlockQuerySet.as_manager()

    class Meta:
        ordering = ("-at", "-pk")
        constraints = (
            models.UniqueConstraint(
                fields=("project", "annotator"), condition=models.Q(ended_at=None), name="blocked_once_in_a_project"
            ),
        )


class PersonMessage(NumberedRow):
    """A message of a researcher to an annotator. It is sent at most once: an uncertain one is never repeated."""

    class Channel(models.TextChoices):
        PROLIFIC = "prolific", "Prolific"
        MAIL = "mail", "Mail"

    class State(models.TextChoices):
        PLANNED = "planned", "Waits to be sent"
        SENDING = "sending", "Being sent"
        SENT = "sent", "Sent"
        REFUSED = "refused", "Refused"
        UNCERTAIN = "uncertain", "It is unknown whether it arrived"

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="+")
    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="messages")
    session = models.ForeignKey(
        Session, on_delete=models.SET_NULL, null=True, blank=True, related_name="+", help_text="The one it is about."
    )
    channel = models.CharField(max_length=10, choices=Channel.choices)
    text = models.TextField()
    state = models.CharField(max_length=10, choices=State.choices, default=State.PLANNED)
    problem = models.TextField(blank=True, default="", help_text="Why it was not sent.")
    by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+")
    at = models.DateTimeField()
    state_at = models.DateTimeField(help_text="When it got its state.")

    class Meta:
        ordering = ("-at", "-pk")
        indexes = (
            models.Index(fields=("project", "annotator"), name="messages_to_a_person"),
            models.Index(fields=("state",), condition=models.Q(state="planned"), name="messages_to_send"),
        )
