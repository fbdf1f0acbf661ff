"""Reject texts with the same words as one that exists."""

from collections.abc import Collection, Sequence
from typing import ClassVar

from making.filters.base import CandidateText, Filter, Verdict
from making.texts import comparable


class Duplicates(Filter):
    """Reject texts with the same words in the same order. Case and punctuation are ignored."""

    version: ClassVar[str] = "1"

    def judge(self, candidates: Sequence[CandidateText], known: Collection[str]) -> list[Verdict]:
        seen: set[str] = set()
        found = []
        for candidate in candidates:
            text = comparable(candidate.text)
            if text == comparable(candidate.parent):
                found.append(Verdict("It has the same words as the text that it was made from."))
            elif text in known or text in seen:
                found.append(Verdict("It has the same words as another text of the project."))
            else:
                found.append(Verdict())
            seen.add(text)
        return found
