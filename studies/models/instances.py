from django.db import models

from studies.models.images import Image
from studies.models.projects import Project
from studies.names import name_in_address

LONGEST_TAG = 50


class Instance(models.Model):
    """One candidate row of the benchmark: captions and images in named roles.

    `captions`: role ("caption", "negative_caption") -> text formatted by `caption_rule`. `original_captions`: the text
    in the source. `reference`: the source's facts about the right answer, such as the faithful candidate; annotators'
    pages never read it.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="instances")
    key = models.CharField(max_length=200, help_text="The name of the row in its source; unique in the project.")
    type = models.CharField(max_length=50, blank=True)
    subtype = models.CharField(max_length=50, blank=True)
    split = models.CharField(max_length=20, blank=True)
    captions = models.JSONField(default=dict)
    original_captions = models.JSONField(default=dict)
    caption_rule = models.CharField(max_length=50)
    reference = models.JSONField(default=dict, blank=True)
    source_file = models.CharField(max_length=255)
    source_row = models.PositiveIntegerField(help_text="Record number in the source file, from 1, header not counted.")
    created_at = models.DateTimeField(auto_now_add=True)

    class Meta:
        ordering = ("id",)
        constraints = (models.UniqueConstraint(fields=("project", "key"), name="instance_key_once_per_project"),)
        indexes = (
            models.Index(fields=("project", "type", "subtype"), name="instance_by_category"),
            # Covers the values offered by filters.
            models.Index(fields=("project", "split", "type", "subtype"), name="instance_by_split"),
            # Order of paginated lists.
            models.Index(fields=("project", "source_file", "source_row", "id"), name="instance_by_source"),
        )

    def __str__(self) -> str:
        return self.key

    @property
    def name_in_address(self) -> str:
        """Name of the instance in the address of its page."""
        return name_in_address(self.key, pk=self.pk)


class Tag(models.Model):
    """A researchers' label on instances of a project; deleted when no instance has it."""

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="tags")
    name = models.CharField(max_length=LONGEST_TAG)
    instances = models.ManyToManyField(Instance, related_name="tags")

    class Meta:
        ordering = ("name",)
        constraints = (models.UniqueConstraint(fields=("project", "name"), name="tag_once_per_project"),)

    def __str__(self) -> str:
        return self.name


class InstanceImage(models.Model):
    """An image in a role of an instance; several images share a role in order of `position` (from 0).

    `image` is null while the file is missing. `source`, `licence` and `generator` come from the imported file and
    belong to this use; other users of the same bytes do not see them.
    """

    instance = models.ForeignKey(Instance, on_delete=models.CASCADE, related_name="images")
    role = models.CharField(max_length=30)
    position = models.PositiveSmallIntegerField(default=0)
    filename = models.CharField(max_length=500, help_text="The name in the source, relative to its image folder.")
    image = models.ForeignKey(Image, on_delete=models.PROTECT, null=True, blank=True, related_name="uses")
    source = models.TextField(blank=True, default="", db_default="")
    licence = models.TextField(blank=True, default="", db_default="")
    generator = models.TextField(blank=True, default="", db_default="")

    class Meta:
        ordering = ("instance_id", "role", "position")
        constraints = (models.UniqueConstraint(fields=("instance", "role", "position"), name="one_image_per_place"),)

    def __str__(self) -> str:
        return f"{self.role}-{self.position} of {self.instance_id}"
