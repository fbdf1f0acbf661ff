from typing import ClassVar

from django.db import models


class Question(models.Model):
    # Stated explicitly, because mypy's plugin only knows the platform's models.
    objects: ClassVar["models.Manager[Question]"] = models.Manager()

    content: "models.JSONField[dict[str, object], dict[str, object]]" = models.JSONField()

    def __str__(self) -> str:
        return f"question {self.pk}"


class Slot(models.Model):
    objects: ClassVar["models.Manager[Slot]"] = models.Manager()

    question_id: int
    question: "models.ForeignKey[Question, Question]" = models.ForeignKey(Question, on_delete=models.CASCADE)
    answered = models.BooleanField(default=False)

    class Meta:
        indexes = (models.Index(fields=("id",), condition=models.Q(answered=False), name="open_slots"),)

    def __str__(self) -> str:
        return f"slot {self.pk}"


class Answer(models.Model):
    objects: ClassVar["models.Manager[Answer]"] = models.Manager()

    slot = models.ForeignKey(Slot, on_delete=models.CASCADE)
    choice = models.CharField(max_length=100)

    def __str__(self) -> str:
        return f"answer {self.pk}"
