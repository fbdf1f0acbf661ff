"""What a recruitment provider tells when an annotator arrives."""

import unicodedata
from dataclasses import dataclass

# Whatever stands around an id in a link that somebody copied by hand.
_AROUND = " .,;"


def one_spelling(text: str) -> str:
    """Return the one spelling under which an id is known: one person in capitals, in full-width letters or with a dot
    after it is one person."""
    return unicodedata.normalize("NFKC", text).casefold().strip(_AROUND)


@dataclass(frozen=True)
class Entry:
    """One arrival: who came (`person`), for which sitting (`session_id`), from which study of the provider.

    Ids are in their one spelling. `person_as_written` and `session_as_written` are what the link said, under which
    versions before this one knew them; empty where nothing else is meant.
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
