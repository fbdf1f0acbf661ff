from django.db import models
from django.db.models import F, Q

from studies.models import Image

LONGEST_EMBEDDING = 300


class PictureVector(models.Model):
    """The vector of an image in one embedding (`predictions.image_sets.embeddings`)."""

    image = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="vectors")
    embedding = models.CharField(max_length=LONGEST_EMBEDDING, help_text="The spec of the model, or the name.")
    vector = models.BinaryField(help_text="Half-precision numbers, little-endian; empty if the image cannot be read.")
    compared_at = models.DateTimeField(null=True, blank=True, help_text="When it was compared with all others.")

    class Meta:
        constraints = (models.UniqueConstraint(fields=("image", "embedding"), name="one_vector_per_embedding"),)

    def __str__(self) -> str:
        return f"{self.embedding} of {self.image_id[:12]}"


class NearDuplicate(models.Model):
    """Two near-duplicate images, or an image close to one of a known test set. No instance shows both.

    `image`: of two, the one whose SHA-256 comes first. `distance`: 1 - cosine, by `embedding`.
    """

    image = models.ForeignKey(Image, on_delete=models.CASCADE, related_name="+")
    other = models.ForeignKey(Image, on_delete=models.CASCADE, null=True, blank=True, related_name="+")
    known = models.CharField(
        max_length=500, blank=True, help_text="For an image of a known test set: the names of the set and the image."
    )
    embedding = models.CharField(max_length=LONGEST_EMBEDDING)
    distance = models.FloatField()

    class Meta:
        ordering = ("distance", "pk")
        constraints = (
            models.CheckConstraint(
                condition=(Q(other__isnull=False, known="") & Q(image__lt=F("other"))) | (Q(other=None) & ~Q(known="")),
                name="near_duplicate_of_one_thing",
            ),
            models.UniqueConstraint(
                fields=("image", "other", "embedding"), condition=Q(known=""), name="near_duplicate_once"
            ),
            models.UniqueConstraint(
                fields=("image", "known", "embedding"), condition=Q(other=None), name="near_known_picture_once"
            ),
        )

    def __str__(self) -> str:
        return f"{self.image_id[:12]} is near to {self.known or str(self.other_id)[:12]}"
