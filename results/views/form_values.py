"""What somebody typed into a form or an address."""

from collections.abc import Mapping


def typed(fields: Mapping[str, str], name: str) -> str:
    """Return a field without the space around it, "" where it was not sent."""
    # PostgreSQL takes no text with a zero character.
    return fields.get(name, "").replace("\0", "").strip()
