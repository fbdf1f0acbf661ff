"""Addresses of servers with language models, as pipeline files and workers name them. Pure."""

from dataclasses import dataclass, field
from urllib.parse import urlsplit

# Settings of the worker.
ADDRESS, KEY = "LINEUP_LLM_ADDRESS", "LINEUP_LLM_API_KEY"


@dataclass(frozen=True)
class Access:
    """What the worker's administrator allows. `address`: the one that may be private and gets `key`, "" for none."""

    address: str = ""
    key: str = field(default="", repr=False)


def problem_with_address(address: str) -> str:
    """Return why a text is not the address of a server, as a sentence, or ""."""
    try:
        parts = urlsplit(address)
        is_whole = bool(parts.hostname) and parts.port != 0
    except ValueError:
        is_whole = False
    if not is_whole or not address.isascii() or not address.isprintable() or " " in address:
        return "This is not an address. Write one such as https://example.org/v1."
    if parts.scheme not in {"https", "http"}:
        return "The address must begin with https://, or with http:// if the worker's administrator allows it."
    if parts.username is not None or parts.password is not None or parts.query or parts.fragment:
        return "Write the address without a user name, a password, a ? and a # in it. The worker has the key."
    return ""
