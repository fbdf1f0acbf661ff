"""Numbers in sentences. Pure."""


def counted(number: int, noun: str) -> str:
    """Return so many of them: "1 answer", "1,200 answers"."""
    return f"{number:,} {noun}{'' if number == 1 else 's'}"
