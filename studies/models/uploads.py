import uuid

from django.conf import settings
from django.db import models

from studies.models.projects import Project


class Upload(models.Model):
    """A chunked upload of files for an import; they are on disk under its id."""

    id = models.UUIDField(primary_key=True, default=uuid.uuid4, editable=False)
    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="uploads")
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.CASCADE, related_name="+")
    made_at = models.DateTimeField()
    byte_size = models.PositiveBigIntegerField(default=0, help_text="Bytes received so far.")

    class Meta:
        ordering = ("-made_at",)

    def __str__(self) -> str:
        return f"upload {self.pk} into {self.project}"
