"""Values as YAML texts, as study files have them: no line of a text is broken. Pure."""

from typing import Any

import yaml

_WIDEST = 1_000_000


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as they are read."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def in_lines(value: Any) -> str:
    """Return sections and lists with a line for each entry; the text ends with a line end."""
    dumped: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDEST)
    return dumped


def in_one_line(value: Any) -> str:
    """Return a value as it can stand after a colon or in brackets, without a line end."""
    dumped: str = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=_WIDEST)
    return dumped.removesuffix("\n").removesuffix("\n...")
