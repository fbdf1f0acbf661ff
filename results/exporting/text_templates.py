"""Jinja templates of the card and the Croissant file, in `templates` beside this file."""

import json
from functools import partial
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader, StrictUndefined

from results.reports.formats.md import escape, render_table
from results.reports.text import cell_text
from studies.wording import format_count


def _quote(text: str) -> str:
    return "\n".join(f"> {line}".rstrip() for line in text.strip().splitlines()) or "> (none)"


# They make Markdown and JSON, never HTML: the filters `md` and `json` escape.
_ENVIRONMENT = Environment(  # noqa: S701
    loader=FileSystemLoader(Path(__file__).parent / "templates"),
    undefined=StrictUndefined,
    trim_blocks=True,
    lstrip_blocks=True,
    keep_trailing_newline=True,
)
_ENVIRONMENT.filters |= {
    "counted": format_count,
    # JSON strings are valid YAML too.
    "json": partial(json.dumps, ensure_ascii=False),
    "md": escape,
    "money": partial(cell_text, shown="money"),
    "number": "{:,}".format,
    "quote": _quote,
    "section": render_table,
}


def render(template: str, **context: Any) -> str:
    return _ENVIRONMENT.get_template(template).render(context)


def sentence(name: str, *facts: Any) -> str:
    """Return the text of a macro of `sentences.jinja` about `facts`."""
    return str(getattr(_ENVIRONMENT.get_template("sentences.jinja").module, name)(*facts))
