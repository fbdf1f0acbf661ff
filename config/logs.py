"""Log lines: one event per line, safe against forged lines, without ids of people or tokens."""

import logging
import re
from collections.abc import Callable
from typing import Any

# The secret part of paths that work without signing in: a session, an invitation, a password reset, the confirmation of
# a mail address, an image handle, the address of Prolific's webhooks. tests/config/test_logs.py fails for a URL with
# such a part that is missing here; the nginx example in docs/operating.md masks the same ones.
SECRET_IN_PATH = re.compile(
    r"(?i)(/(?:s|invitations|forgotten/+[^/\s]+|account/+mail|images|hooks/+prolific)/+)[^/?\s\"']+"
)
QUERY_STRING = re.compile(r"(?<=[^\s?])\?[^\s\"'?][^\s\"']*")
# Characters that end a line, or hide a part of it in a terminal or viewer: controls, separators, changes of direction.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")

UNAVAILABLE = 503
UNKNOWN_HOST = "django.security.DisallowedHost"


def mask_secrets(text: str) -> str:
    """Mask the secrets in paths, and query strings."""
    return QUERY_STRING.sub("?...", SECRET_IN_PATH.sub(r"\1...", text))


def escape_control_characters(text: str) -> str:
    """Escape control characters, such as line ends, so that user input cannot start a log line."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


class MaskSecrets(logging.Filter):
    """Mask secrets. A filter of handlers, so that it covers the lines of every library."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = escape_control_characters(mask_secrets(record.getMessage())), None
        return True


class LowerClientErrors(logging.Filter):
    """Lower the level of clients' mistakes: Django logs them as errors, but an error is for operators.

    A filter of handlers. Unknown host names are logged as information: scanners of the internet try them.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if not record.name.startswith("django.security."):
            return True
        if record.levelno == logging.ERROR:
            record.levelno = logging.INFO if record.name == UNKNOWN_HOST else logging.WARNING
            record.levelname = logging.getLevelName(record.levelno)
            record.exc_info = record.exc_text = None
        return record.levelno >= logging.getLogger().level


class ShortenOutages(logging.Filter):
    """Replace the trace by one line while the database is unavailable. A filter of handlers."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", None) != UNAVAILABLE:
            return True
        if not isinstance(record.exc_info, tuple):
            # A view that answers this status itself (/readyz) has logged the reason.
            return hasattr(record, "reason")
        reason = vars(record)["reason"] = str(record.exc_info[1]).partition("\n")[0]
        record.msg, record.args = f"{record.getMessage()} ({reason})", None
        record.exc_info = record.exc_text = None
        return True


class LineFormatter(logging.Formatter):
    """Clean stack traces too: an exception may quote its address, or contain line breaks.

    Lines of a trace are marked, so that they cannot look like separate log lines.
    """

    def formatException(self, ei: Any) -> str:
        lines = mask_secrets(super().formatException(ei)).split("\n")
        return "\n".join(f"| {escape_control_characters(line)}" for line in lines)


FILTERS: dict[str, Callable[[], logging.Filter]] = {
    "lower_client_errors": LowerClientErrors,
    "shorten_outages": ShortenOutages,
    "mask_secrets": MaskSecrets,
}
LINE = "{asctime} {levelname} {name} {message}"
LINES: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {name: {"()": each} for name, each in FILTERS.items()},
    "formatters": {"line": {"()": LineFormatter, "format": LINE, "style": "{"}},
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": list(FILTERS),
        },
    },
    # Without this one the development server uses its own handler.
    "loggers": {"django.server": {"handlers": ["stderr"], "propagate": False}},
}


def mask_handlers(logger: logging.Logger) -> None:
    """Give the handlers of `logger` the site's filters and format."""
    for handler in logger.handlers:
        for line_filter in FILTERS.values():
            handler.addFilter(line_filter())
        handler.setFormatter(LineFormatter(LINE, style="{"))
