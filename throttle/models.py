from django.db import models


class Count(models.Model):
    """How often something was done in the window that is running. What was counted stands here as a keyed digest."""

    digest = models.CharField(max_length=64, primary_key=True)
    hits = models.IntegerField()
    # In seconds since 1970: one statement writes it, and the two databases write dates differently.
    ends_at = models.BigIntegerField(db_index=True)

    def __str__(self) -> str:
        return f"{self.hits} until {self.ends_at}"
