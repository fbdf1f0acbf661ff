from django.conf import settings
from django.db import models

from annotation.models.people import NumberedRow
from studies.models import Project


class ProlificAccount(NumberedRow):
    """The account at Prolific that a project recruits with. A token has all rights of its account, and no end."""

    project = models.OneToOneField(Project, on_delete=models.CASCADE, related_name="prolific_account")
    sealed_token = models.TextField(help_text="Encrypted; see background.sealed_secrets.")
    user_id = models.CharField(max_length=100, help_text="The researcher's id at Prolific.")
    user_name = models.CharField(max_length=200, blank=True)
    saved_by = models.ForeignKey(
        settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True, related_name="+"
    )
    saved_at = models.DateTimeField()
