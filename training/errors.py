"""Errors of training, in sentences for researchers. Pure."""

import errno

# What the errors of a full disk are numbered.
NO_ROOM = {errno.ENOSPC, errno.EDQUOT}


class CannotTrain(Exception):
    """A model cannot be trained, or no further; the message says why and what to do. The last checkpoint stays."""


class TrainingCancelled(Exception):
    """Somebody cancelled the training; a checkpoint of its last step was written."""
