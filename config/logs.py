"""What must never stand in a log line: the ids in an entry link, and the token in a session's address."""

import logging
import re
from typing import Any

SESSION_TOKEN = re.compile(r"(?<=/s/)[^/?\s\"']+")
QUERY_STRING = re.compile(r"(?<=\S)\?[^\s\"']*=[^\s\"']*")


def without_secrets(text: str) -> str:
    """Return `text` with session tokens and query strings left out."""
    return QUERY_STRING.sub("?...", SESSION_TOKEN.sub("...", text))


class WithoutSecrets(logging.Filter):
    """Goes onto a handler, so that it sees the lines of every library."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = without_secrets(record.getMessage()), None
        return True


class LineFormatter(logging.Formatter):
    """Cleans stack traces too: an exception may quote the address that it happened at."""

    def formatException(self, ei: Any) -> str:
        return without_secrets(super().formatException(ei))


LINES = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {"without_secrets": {"()": WithoutSecrets}},
    "formatters": {
        "line": {"()": LineFormatter, "format": "{asctime} {levelname} {name} {message}", "style": "{"},
    },
    "handlers": {
        "stderr": {"class": "logging.StreamHandler", "formatter": "line", "filters": ["without_secrets"]},
    },
}
