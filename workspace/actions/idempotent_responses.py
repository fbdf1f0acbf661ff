"""What requests with an idempotency key were answered: asked again, they are answered the same and do nothing more."""

from datetime import datetime, timedelta

from workspace.models import KeptAnswer, Token

KEPT_FOR = timedelta(hours=24)
LONGEST_KEY = 200


def claim(*, token: Token, key: str, fingerprint: str, now: datetime) -> tuple[KeptAnswer, bool]:
    """Return what is kept under the key, and whether that is nothing yet.

    To be called in the transaction that does what was asked: of two that ask at once the second waits for the first.
    Those that are too old are deleted on the way, whosever they are.
    """
    KeptAnswer.objects.filter(made_at__lte=now - KEPT_FOR).delete()
    told = {"fingerprint": fingerprint, "made_at": now}
    return KeptAnswer.objects.get_or_create(token=token, key=key, defaults=told)


def find(*, token: Token, key: str, now: datetime) -> KeptAnswer | None:
    """Return what is kept under the key."""
    return KeptAnswer.objects.filter(token=token, key=key, made_at__gt=now - KEPT_FOR).first()


def keep(*, answer: KeptAnswer, status: int, body: str, location: str) -> None:
    """Keep what the request was answered, unless its token went meanwhile."""
    KeptAnswer.objects.filter(pk=answer.pk).update(status=status, body=body, location=location)
