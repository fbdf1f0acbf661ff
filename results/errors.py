"""What can go wrong for a researcher. The message is for the researcher: whole sentences, and what to do."""


class ResultsError(Exception):
    """Any of the below."""


class CannotExport(ResultsError):
    """The export was not made; nothing half made is left behind."""


class UnknownPerson(ResultsError):
    """Nobody in the project goes by that name or id."""
