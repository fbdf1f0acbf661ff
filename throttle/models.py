from django.db import models


class Count(models.Model):
    """Hits of a key in the current window. The key is stored as a keyed digest."""

    digest = models.CharField(max_length=64, primary_key=True)
    hits = models.IntegerField()
    # In seconds since 1970: one SQL statement writes it, and the two databases format dates differently.
    ends_at = models.BigIntegerField(db_index=True)

    def __str__(self) -> str:
        return f"{self.hits} until {self.ends_at}"
