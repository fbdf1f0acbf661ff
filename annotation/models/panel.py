from django.conf import settings
from django.db import models

from annotation.models.people import Annotator, NumberedRow
from studies.models import Project


class PanelMember(NumberedRow):
    """A person whom a project recruits itself: known by an email address, signs in by an emailed link.

    The same address is the same annotator in every project. Removing somebody deletes the row, and with it the address.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="panel")
    annotator = models.ForeignKey(Annotator, on_delete=models.PROTECT, related_name="panels")
    sealed_address = models.TextField(help_text="Encrypted; see background.sealed_secrets.")
    address_digest = models.CharField(max_length=64, help_text="By which the address is found.")
    added_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    added_at = models.DateTimeField()
    link_sent_at = models.DateTimeField(null=True, blank=True, help_text="When a link was mailed last.")
    signed_in_at = models.DateTimeField(
        null=True, blank=True, help_text="When a link was used last. Earlier links then end."
    )

    class Meta:
        ordering = ("added_at", "pk")
        constraints = (
            models.UniqueConstraint(fields=("project", "address_digest"), name="in_a_panel_once"),
            models.UniqueConstraint(fields=("project", "annotator"), name="one_address_in_a_panel"),
        )
        indexes = (models.Index(fields=("address_digest",), name="panel_by_address"),)


class LinkRequest(NumberedRow):
    """A request for a mailed link, kept until the mail server takes the mail. The address may be in no panel."""

    sealed_address = models.TextField(help_text="Encrypted; see background.sealed_secrets.")
    language = models.CharField(max_length=16, help_text="Of the mail.")
    asked_at = models.DateTimeField()
    due_at = models.DateTimeField(help_text="When it is sent next; moved on by whoever sends it.")

    class Meta:
        indexes = (models.Index(fields=("due_at",), name="link_requests_due"),)
