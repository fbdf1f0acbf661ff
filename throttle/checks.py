from collections.abc import Sequence
from typing import Any

from django.apps import AppConfig
from django.conf import settings
from django.core.checks import CheckMessage, Warning


def proxies_are_named(app_configs: Sequence[AppConfig] | None, **_: Any) -> list[CheckMessage]:
    """Warn about a proxy that is not named: all requests then seem to come from one network, with one limit."""
    if settings.SECURE_PROXY_SSL_HEADER and not settings.TRUSTED_PROXIES:
        message = "BEHIND_PROXY is 1, but TRUSTED_PROXIES names no proxy: limits per network count everybody as one."
        hint = "Set TRUSTED_PROXIES=1 when the proxy appends to X-Forwarded-For; docs/operating.md has an example."
        return [Warning(message, hint=hint, id="throttle.W001")]
    return []
