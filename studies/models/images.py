from django.db import models


class Image(models.Model):
    """One stored picture, addressed by the SHA-256 of its bytes.

    `width` and `height`: pixels, upright (after EXIF orientation). Its origin is stored per use (`InstanceImage`),
    because the same bytes may come to two projects from different sources.
    """

    sha256 = models.CharField(max_length=64, primary_key=True)
    width = models.PositiveIntegerField()
    height = models.PositiveIntegerField()
    format = models.CharField(max_length=10, help_text="What the stored bytes are: JPEG, PNG, WEBP, ...")
    byte_size = models.PositiveIntegerField()
    placeholder = models.TextField(
        blank=True,
        default="",
        db_default="",
        help_text="A very small WebP in base64, shown until the picture is loaded; empty for older pictures.",
    )
    # Unused: moved to `InstanceImage`. The columns stay for one release, so that its migrations can be undone, and are
    # then removed.
    source = models.TextField(blank=True)
    licence = models.TextField(blank=True)
    generator = models.TextField(blank=True)
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        constraints = (
            models.CheckConstraint(
                condition=models.Q(sha256__regex=r"^[0-9a-f]{64}$"), name="image_sha256_is_lower_case_hex"
            ),
        )

    def __str__(self) -> str:
        return self.sha256[:12]
