"""What a recruitment provider tells when an annotator arrives."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Entry:
    """One arrival: who came (`person`), for which sitting (`session_id`), from which study of the provider."""

    provider: str
    person: str
    session_id: str
    study_id: str = ""
