"""Stored responses of requests with an idempotency key."""

from datetime import datetime, timedelta

from workspace.models import KeptAnswer, Token

KEPT_FOR = timedelta(hours=24)
LONGEST_KEY = 200


def claim(*, token: Token, key: str, fingerprint: str, now: datetime) -> tuple[KeptAnswer, bool]:
    """Return the stored response of the key, and whether it is new and empty.

    Call it in the transaction that does the work: of two concurrent requests the second waits for the first. Also
    deletes expired responses, of all tokens.
    """
    KeptAnswer.objects.filter(made_at__lte=now - KEPT_FOR).delete()
    told = {"fingerprint": fingerprint, "made_at": now}
    return KeptAnswer.objects.get_or_create(token=token, key=key, defaults=told)


def find(*, token: Token, key: str, now: datetime) -> KeptAnswer | None:
    """Return the stored response of the key, if there is one."""
    return KeptAnswer.objects.filter(token=token, key=key, made_at__gt=now - KEPT_FOR).first()


def store(*, answer: KeptAnswer, status: int, body: str, location: str) -> None:
    """Store the response, unless the token was deleted in the meantime."""
    KeptAnswer.objects.filter(pk=answer.pk).update(status=status, body=body, location=location)
