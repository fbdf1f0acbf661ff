"""What may be a name: of an instance, a project, a study, a model. One rule, asked at every door. Pure.

Names stand in addresses, headings, file names and tables. Each function returns the sentence that says why a text
cannot be such a name, or "".
"""

import re
import unicodedata

LONGEST_KEY = 200
# A description, a citation, a caption; what somebody writes beside a decision.
LONGEST_TEXT, LONGEST_NOTE = 10_000, 2000
LONGEST_SLUG = 50
# What the address of an instance begins with whose key cannot stand there.
BY_ID = "by-id/"

_SLUG = re.compile(rf"[-a-zA-Z0-9_]{{1,{LONGEST_SLUG}}}")
# Controls, halves of characters, and what ends a line or a paragraph.
_NOT_IN_A_LINE = frozenset({"Cc", "Cs", "Zl", "Zp"})


def problem_with_text(text: str, longest: int = LONGEST_TEXT) -> str:
    """Return why `text`, of any number of lines, is too long or cannot be stored by every database we use, or ""."""
    if len(text) > longest:
        return f"The text has {len(text):,} characters; at most {longest:,} fit. Shorten it."
    if "\0" in text:
        return "The text has a NUL character, which cannot be stored. Remove it."
    if not text.isascii() and any("\ud800" <= sign <= "\udfff" for sign in text):
        return "The text has half a character (a lone surrogate), which cannot be stored. Mend or remove it."
    return ""


def problem_with_line(text: str) -> str:
    """Return why `text` is no single line that can be shown and stored, or "".

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


def problem_with_name(name: str) -> str:
    """Return why `name` is no single line of which every character can be seen, or "".

    Example: "model\u200b" ends with a space of no width: another model of the same name in every table.
    """
    if name.isascii() and name.isprintable() and name == name.strip() and name:
        # Nearly all names, and an import has ten thousands of them.
        return ""
    if reason := problem_with_line(name):
        return reason
    for position, sign in enumerate(name, start=1):
        if not sign.isprintable():
            return f"{_character(sign, position)} cannot be seen. Remove it, or write a plain space."
    return ""


def problem_with_key(key: str) -> str:
    """Return why `key` cannot name an instance, or "". Its parts are separated by "/", as in an address.

    Example: "add_obj/12" can; "." and "a/../b" cannot, which browsers take for the way to another page.
    """
    if len(key) > LONGEST_KEY:
        return f"The key has {len(key):,} characters; at most {LONGEST_KEY} fit."
    if reason := problem_with_name(key):
        return reason
    parts = key.split("/")
    if "" in parts:
        return "A part between slashes is empty. Write one slash between two parts, and none at either end."
    if {".", ".."} & set(parts):
        return 'A part between slashes is "." or "..", which leads elsewhere in an address. Name it otherwise.'
    return ""


def problem_with_slug(slug: str) -> str:
    """Return why `slug` cannot name a project, or ""."""
    if _SLUG.fullmatch(slug):
        return ""
    if len(slug) > LONGEST_SLUG:
        return f"It is too long. Use at most {LONGEST_SLUG} characters."
    return "Use letters, digits, hyphens and underscores only."


def name_in_address(key: str, *, pk: int) -> str:
    """Return what stands for an instance in the address of its page: its key, or its id where the key cannot.

    Versions before let keys in that no address can hold. Example: "." with the id 7 is "by-id/7".
    """
    return f"{BY_ID}{pk}" if problem_with_key(key) or key.startswith(BY_ID) else key


def _character(sign: str, position: int) -> str:
    return f"Its character {position} (U+{ord(sign):04X})"
