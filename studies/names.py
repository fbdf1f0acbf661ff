"""Validation of names of instances, projects, studies and models. Pure.

Names appear in addresses, headings, file names and tables. Each `problem_with_...` function returns a sentence that
says why a text is not valid, or "".
"""

import re
import unicodedata

LONGEST_KEY = 200
# Longest description, citation or caption; longest note on a decision.
LONGEST_TEXT, LONGEST_NOTE = 10_000, 2000
LONGEST_SLUG = 50
# Start of an instance's address if its key cannot be part of an address.
BY_ID = "by-id/"

# NUL characters and lone surrogates (half characters), which not every supported database stores.
UNSTORABLE = re.compile("[\0\ud800-\udfff]")
_SLUG = re.compile(rf"[-a-zA-Z0-9_]{{1,{LONGEST_SLUG}}}")
# Unicode categories: controls, surrogates, line and paragraph separators.
_NOT_IN_A_LINE = frozenset({"Cc", "Cs", "Zl", "Zp"})


def problem_with_text(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return why `text`, of any number of lines, is too long or cannot be stored in every supported database, or ""."""
    if len(text) > longest:
        return f"The text has {len(text):,} characters; at most {longest:,} fit. Shorten it."
    if "\0" in text:
        return "The text has a NUL character, which cannot be stored. Remove it."
    if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
        return "The text has half a character (a lone surrogate), which cannot be stored. Correct or remove it."
    return ""


def problem_with_line(text: str) -> str:
    """Return why `text` is not a single line that can be shown and stored, or "".

    Example: "a title\\n" ends with U+000A, which ends the line.
    """
    if not text:
        return "It is empty."
    for position, sign in enumerate(text, start=1):
        if unicodedata.category(sign) in _NOT_IN_A_LINE:
            return f"{_character(sign, position)} is a control character or ends the line. Remove it."
    if text != text.strip():
        return "It begins or ends with a space. Remove it."
    return ""


def problem_with_name(name: str, longest: int | None = None) -> str:
    """Return why `name` is not a single line of visible characters, at most `longest` if given, or "".

    Example: "model\u200b" ends with a zero-width space and would look like another model in every table.
    """
    if longest is not None and len(name) > longest:
        return f"Write at most {longest} characters."
    if name.isascii() and name.isprintable() and name == name.strip() and name:
        # Fast path for nearly all names: an import has tens of thousands.
        return ""
    if reason := problem_with_line(name):
        return reason
    for position, sign in enumerate(name, start=1):
        if not sign.isprintable():
            return f"{_character(sign, position)} cannot be seen. Remove it, or write a plain space."
    return ""


def problem_with_key(key: str) -> str:
    """Return why `key` is not a valid instance key, or "". Its parts are separated by "/", as in an address.

    Example: "add_obj/12" is valid; "." and "a/../b" are not, because browsers resolve them to another address.
    """
    if len(key) > LONGEST_KEY:
        return f"The key has {len(key):,} characters; at most {LONGEST_KEY} fit."
    if reason := problem_with_name(key):
        return reason
    parts = key.split("/")
    if "" in parts:
        return "A part between slashes is empty. Write one slash between two parts, and none at either end."
    if {".", ".."} & set(parts):
        return 'A part between slashes is "." or "..", which changes the path in a URL. Use another name.'
    return ""


def problem_with_slug(slug: str) -> str:
    """Return why `slug` is not a valid project name, or ""."""
    if _SLUG.fullmatch(slug):
        return ""
    if len(slug) > LONGEST_SLUG:
        return f"It is too long. Use at most {LONGEST_SLUG} characters."
    return "Use letters, digits, hyphens and underscores only."


def name_in_address(key: str, *, pk: int) -> str:
    """Return the part of an instance's address that names it: its key, or its id if the key is not valid there.

    Older versions accepted keys that cannot be part of an address. Example: "." with the id 7 is "by-id/7".
    """
    return f"{BY_ID}{pk}" if problem_with_key(key) or key.startswith(BY_ID) else key


def _character(sign: str, position: int) -> str:
    return f"Its character {position} (U+{ord(sign):04X})"
