"""The web server's line about each request, which is only put together where it is wanted."""

import logging
from typing import Any

from gunicorn.glogging import Logger


class AccessLog(Logger):  # type: ignore[misc]
    """gunicorn's own puts the line together whenever loggers are configured, and then throws it away."""

    def access(self, *about: Any) -> None:
        if self.access_log.isEnabledFor(logging.INFO):
            super().access(*about)
