"""Slows down who guesses passwords: after some failures under one name, nobody signs in under it for a while."""

from datetime import datetime, timedelta

from django.utils.crypto import salted_hmac

from results.models import SignInFailure

MOST_FAILURES = 10
WINDOW = timedelta(minutes=15)


def _digest(name: str) -> str:
    return salted_hmac("results.sign_in", name.strip().lower(), algorithm="sha256").hexdigest()


def is_locked(*, name: str, now: datetime) -> bool:
    failures = SignInFailure.objects.filter(name_digest=_digest(name), at__gt=now - WINDOW)
    return failures.count() >= MOST_FAILURES


def note_failure(*, name: str, now: datetime) -> None:
    SignInFailure.objects.filter(at__lte=now - WINDOW).delete()
    SignInFailure.objects.create(name_digest=_digest(name), at=now)


def forget_failures(*, name: str) -> None:
    SignInFailure.objects.filter(name_digest=_digest(name)).delete()
