"""Values typed into a form or an address."""

from collections.abc import Mapping

# No row has a number of so many digits.
LONGEST_NUMBER = 18


def read_field(fields: Mapping[str, str], name: str) -> str:
    """Return a field stripped of surrounding space, "" if it was not sent."""
    # PostgreSQL rejects text with a NUL character.
    return fields.get(name, "").replace("\0", "").strip()
