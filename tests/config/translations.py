"""Reads what is to be translated out of code and templates, and what is translated out of a .po file."""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path

from django.conf import settings
from django.utils.translation.template import templatize

ROOT = Path(settings.BASE_DIR)
ROOMS = ("annotation", "background", "config", "predictions", "simulation", "results", "studies", "workspace")
_IN_CODE = {"gettext", "gettext_lazy", "gettext_noop", "ngettext", "ngettext_lazy"}
_LITERAL = r"""u?('(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*")"""
# Templates of questions say `_("...")`.
_IN_TEMPLATE = re.compile(rf"(?:n?gettext|\b_)\({_LITERAL}(?:, {_LITERAL})?")


@dataclass
class Entry:
    """One text of a .po file: singular and plural (or "") in English, and each form of its translation."""

    singular: str = ""
    plural: str = ""
    forms: list[str] = field(default_factory=list)
    is_fuzzy: bool = False


def read_po(path: Path) -> list[Entry]:
    """Return the entries of the file, its header among them (with the singular "")."""
    blocks = path.read_text(encoding="utf-8").strip().split("\n\n")
    return [_entry(block) for block in blocks]


def _entry(block: str) -> Entry:
    entry, texts, keyword = Entry(), dict[str, str](), ""
    for line in block.splitlines():
        if line.startswith("#"):
            assert not line.startswith("#~"), f"{line} is no longer in use: take it out."
            entry.is_fuzzy |= line.startswith("#,") and "fuzzy" in line
            continue
        if not line.startswith('"'):
            keyword, line = line.split(" ", 1)
        texts[keyword] = texts.get(keyword, "") + ast.literal_eval(line)
    entry.singular, entry.plural = texts.pop("msgid"), texts.pop("msgid_plural", "")
    entry.forms = list(texts.values())
    return entry


@cache
def texts_in_use() -> set[tuple[str, str]]:
    """Return every text, singular and plural (or ""), that the code or a template asks a translation of."""
    templates = {text for path in (ROOT / "templates").rglob("*.html") for text in _in_template(path)}
    code = {text for room in ROOMS for path in (ROOT / room).rglob("*.py") for text in _in_code(path)}
    return templates | code


def _in_template(path: Path) -> Iterator[tuple[str, str]]:
    for singular, plural in _IN_TEMPLATE.findall(templatize(path.read_text(encoding="utf-8"))):
        yield ast.literal_eval(singular), ast.literal_eval(plural or "''")


def _in_code(path: Path) -> Iterator[tuple[str, str]]:
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Name) and node.func.id in _IN_CODE:
            singular = ast.literal_eval(node.args[0])
            yield singular, ast.literal_eval(node.args[1]) if node.func.id.startswith("ngettext") else ""
