"""Writer of YAML for study files, without line breaks inside of texts. Pure."""

from typing import Any

import yaml

_WIDEST = 1_000_000


class _Dumper(yaml.SafeDumper):
    """Writes texts of several lines as blocks."""


def _text(dumper: yaml.SafeDumper, text: str) -> yaml.ScalarNode:
    return dumper.represent_scalar("tag:yaml.org,2002:str", text, style="|" if "\n" in text else None)


_Dumper.add_representer(str, _text)


def block_yaml(value: Any) -> str:
    """Return YAML with one line per entry, and a final line end."""
    dumped: str = yaml.dump(value, Dumper=_Dumper, sort_keys=False, allow_unicode=True, width=_WIDEST)
    return dumped


def inline_yaml(value: Any) -> str:
    """Return YAML for the place after a colon or in brackets, without a line end."""
    dumped: str = yaml.safe_dump(value, default_flow_style=True, allow_unicode=True, width=_WIDEST)
    return dumped.removesuffix("\n").removesuffix("\n...")
