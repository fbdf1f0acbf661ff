"""Errors of making, in sentences for researchers. Pure."""

from making.tokens import NO_TOKENS, Tokens


class CannotMake(Exception):
    """A maker, a filter or a tagger cannot be used; the message says why and what to do.

    `tokens`: what a language model had used before, in vain.
    """

    def __init__(self, message: str, tokens: Tokens = NO_TOKENS) -> None:
        super().__init__(message)
        self.tokens = tokens


class CannotStore(Exception):
    """An image cannot be stored on the site; the message says why and what to do."""
