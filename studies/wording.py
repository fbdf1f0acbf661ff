"""Pluralised counts for messages. Pure."""


def format_count(number: int, noun: str) -> str:
    """Return a count with its noun: "1 answer", "1,200 answers"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
