"""The arrival of an annotator, as reported by a recruitment provider."""

import unicodedata
from dataclasses import dataclass

# Punctuation around an id in a link that was copied manually.
_PUNCTUATION = " .,;"


def normalize_id(text: str) -> str:
    """Normalise an id: case, full-width letters and surrounding punctuation do not matter."""
    return unicodedata.normalize("NFKC", text).casefold().strip(_PUNCTUATION)


@dataclass(frozen=True)
class Entry:
    """One arrival: the person, their session and their study at the provider.

    Ids are normalised. person_as_written, session_as_written: the ids in the link, as stored by older versions; empty
    if not from a link.
    """

    provider: str
    person: str
    session_id: str
    study_id: str = ""
    person_as_written: str = ""
    session_as_written: str = ""

    @property
    def person_spellings(self) -> list[str]:
        return [self.person, self.person_as_written or self.person]

    @property
    def session_spellings(self) -> list[str]:
        return [self.session_id, self.session_as_written or self.session_id]
