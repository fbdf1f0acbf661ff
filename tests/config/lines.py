"""What the log of a site would say."""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from io import StringIO
from typing import Any

from config.logs import LINES


@contextmanager
def log_lines() -> Iterator[StringIO]:
    """Collect what is logged in the block, through the filters and in the form that a site's handler has."""
    lines: Any = LINES
    out = StringIO()
    handler = logging.StreamHandler(out)
    for name in lines["handlers"]["stderr"]["filters"]:
        handler.addFilter(lines["filters"][name]["()"]())
    form = lines["formatters"]["line"]
    handler.setFormatter(form["()"](form["format"], style=form["style"]))
    root = logging.getLogger()
    root.addHandler(handler)
    try:
        yield out
    finally:
        root.removeHandler(handler)
