"""Access log lines, formatted only if the access log is on."""

import logging
from typing import Any

from gunicorn.glogging import Logger


class AccessLog(Logger):  # type: ignore[misc]
    """Skip the formatting that gunicorn does whenever loggers are configured, even if it drops the line."""

    def access(self, *about: Any) -> None:
        if self.access_log.isEnabledFor(logging.INFO):
            super().access(*about)
