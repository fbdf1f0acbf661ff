from django.conf import settings
from django.db import models

from annotation.models import Annotator
from studies.models import Project, Study

LONGEST_LICENCE = 200


class Release(models.Model):
    """A frozen export: the accepted items of one or several studies, with all their answers, at one moment.

    The rows are one file in the storage, named by `sha256`. Files written from them are always the same, byte for byte,
    unless somebody is erased. `dossier`: the content of the dataset card and the Croissant file.
    """

    project = models.ForeignKey(Project, on_delete=models.CASCADE, related_name="releases")
    study = models.ForeignKey(Study, on_delete=models.CASCADE, related_name="releases")
    beside = models.ManyToManyField(
        Study, blank=True, related_name="+", help_text="The other studies whose accepted items it holds."
    )
    name = models.CharField(max_length=40)
    made_at = models.DateTimeField()
    made_by = models.ForeignKey(settings.AUTH_USER_MODEL, on_delete=models.SET_NULL, null=True, blank=True)
    description = models.TextField(blank=True)
    licence = models.CharField(max_length=LONGEST_LICENCE, blank=True)
    citation = models.TextField(blank=True)
    file = models.CharField(
        max_length=255, blank=True, help_text="File name in storage; empty until the release is frozen."
    )
    sha256 = models.CharField(max_length=64, blank=True)
    dossier = models.JSONField(default=dict)
    instances = models.PositiveIntegerField(default=0, help_text="How many accepted items it holds.")
    responses = models.PositiveIntegerField(default=0)

    class Meta:
        ordering = ("-made_at",)
        constraints = (
            models.UniqueConstraint(fields=("project", "name"), name="release_name_once_per_project"),
            models.CheckConstraint(
                condition=models.Q(file="", sha256="") | (~models.Q(file="") & ~models.Q(sha256="")),
                name="release_frozen_whole",
            ),
        )

    def __str__(self) -> str:
        return f"{self.study} {self.name}"

    def studies(self) -> list[Study]:
        """Return the studies whose accepted items it holds, in the order of their launch."""
        return sorted([self.study, *self.beside.all()], key=lambda study: (study.launched_at, study.pk))

    @property
    def file_name(self) -> str:
        """Name of its files: the name of its study or, for several studies, of the project."""
        return f"{self.project.slug if self.beside.exists() else self.study.slug}-{self.name}"


class ReleasePseudonym(models.Model):
    """The name of an annotator in one release only."""

    release = models.ForeignKey(Release, on_delete=models.CASCADE, related_name="pseudonyms")
    annotator = models.ForeignKey(Annotator, on_delete=models.CASCADE, related_name="release_pseudonyms")
    name = models.CharField(max_length=40)

    class Meta:
        constraints = (
            models.UniqueConstraint(fields=("release", "annotator"), name="one_pseudonym_per_release"),
            models.UniqueConstraint(fields=("release", "name"), name="release_pseudonym_names_one_person"),
        )

    def __str__(self) -> str:
        return self.name
