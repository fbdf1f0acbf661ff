"""What stands in a log line: one event, in one line that nobody can forge, without ids of people and without tokens."""

import logging
import re
from typing import Any

# The part of a path that opens something without signing in: a session, an invitation, a new password, the confirmation
# of a mail address, a picture by its handle. tests/config/test_logs.py fails for a URL with such a part that is missing
# here; the example for nginx in docs/operating.md masks the same ones.
SECRET_IN_PATH = re.compile(r"(?i)(/(?:s|invitations|forgotten/+[^/\s]+|account/+mail|images)/+)[^/?\s\"']+")
QUERY_STRING = re.compile(r"(?<=[^\s?])\?[^\s\"'?][^\s\"']*")
# What ends a line or hides a part of it on a terminal or in a viewer: controls, separators, changes of direction.
CONTROL = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029\u200e\u200f\u202a-\u202e\u2066-\u2069]")

UNAVAILABLE = 503
UNKNOWN_HOST = "django.security.DisallowedHost"


def without_secrets(text: str) -> str:
    """Mask the secrets in paths, and query strings."""
    return QUERY_STRING.sub("?...", SECRET_IN_PATH.sub(r"\1...", text))


def in_one_line(text: str) -> str:
    """Return `text` with control characters written out, such as \\n: what somebody sent can begin no line."""
    return CONTROL.sub(lambda found: found[0].encode("unicode_escape").decode("ascii"), text)


class WithoutSecrets(logging.Filter):
    """Goes onto a handler, so that it sees the lines of every library."""

    def filter(self, record: logging.LogRecord) -> bool:
        record.msg, record.args = in_one_line(without_secrets(record.getMessage())), None
        return True


class NoErrorOfOurs(logging.Filter):
    """Goes onto a handler. Django logs what clients do wrong as errors with a trace; an error is for who runs the site.

    Names that the site does not answer to are what scanners of the whole internet ask for: no more than information.
    """

    def filter(self, record: logging.LogRecord) -> bool:
        if not record.name.startswith("django.security."):
            return True
        if record.levelno == logging.ERROR:
            record.levelno = logging.INFO if record.name == UNKNOWN_HOST else logging.WARNING
            record.levelname = logging.getLevelName(record.levelno)
            record.exc_info = record.exc_text = None
        return record.levelno >= logging.getLogger().level


class OneLineForOutages(logging.Filter):
    """Goes onto a handler. A hundred pages while the database is away are a hundred lines and not a hundred traces."""

    def filter(self, record: logging.LogRecord) -> bool:
        if getattr(record, "status_code", None) != UNAVAILABLE:
            return True
        if not isinstance(record.exc_info, tuple):
            # A view that answers so by itself (/readyz) has said why in a line of its own.
            return hasattr(record, "reason")
        reason = vars(record)["reason"] = str(record.exc_info[1]).partition("\n")[0]
        record.msg, record.args = f"{record.getMessage()} ({reason})", None
        record.exc_info = record.exc_text = None
        return True


class LineFormatter(logging.Formatter):
    """Cleans stack traces too: an exception may quote the address that it happened at, or more lines than one.

    Lines of a trace are marked, so that none of them looks like a line of its own.
    """

    def formatException(self, ei: Any) -> str:
        lines = without_secrets(super().formatException(ei)).split("\n")
        return "\n".join(f"| {in_one_line(line)}" for line in lines)


LINE = "{asctime} {levelname} {name} {message}"
LINES: dict[str, Any] = {
    "version": 1,
    "disable_existing_loggers": False,
    "filters": {
        "no_error_of_ours": {"()": NoErrorOfOurs},
        "one_line_for_outages": {"()": OneLineForOutages},
        "without_secrets": {"()": WithoutSecrets},
    },
    "formatters": {
        "line": {"()": LineFormatter, "format": LINE, "style": "{"},
    },
    "handlers": {
        "stderr": {
            "class": "logging.StreamHandler",
            "formatter": "line",
            "filters": ["no_error_of_ours", "one_line_for_outages", "without_secrets"],
        },
    },
    # The development server has a handler of its own unless it is given this one.
    "loggers": {"django.server": {"handlers": ["stderr"], "propagate": False}},
}


def mask_handlers(logger: logging.Logger) -> None:
    """Give the handlers of `logger` the filters and the format of the site's lines."""
    for handler in logger.handlers:
        for line_filter in (NoErrorOfOurs(), OneLineForOutages(), WithoutSecrets()):
            handler.addFilter(line_filter)
        handler.setFormatter(LineFormatter(LINE, style="{"))
