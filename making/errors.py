"""Errors of making, in sentences for researchers. Pure."""


class CannotMake(Exception):
    """A maker, a filter or a tagger cannot be used; the message says why and what to do."""


class CannotStore(Exception):
    """An image cannot be stored on the site; the message says why and what to do."""
