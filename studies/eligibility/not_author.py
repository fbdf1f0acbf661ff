"""`not_author`: nobody is asked about their own answers."""

from collections.abc import Mapping
from typing import Any, ClassVar

from studies.eligibility.base import BarredQuestions, Eligibility, Person, gettext_noop
from studies.entry_schema import entry_schema


class NotAuthor(Eligibility):
    """Bar questions made from the person's own answers. Studies that ask about answers always have this rule."""

    name = "not_author"
    schema: ClassVar[Mapping[str, Any]] = entry_schema()
    told = gettext_noop("The remaining questions are about your own answers, so other people answer them.")
    reason = "came when only questions about their own answers were left."

    def bars(self, person: Person, given: Mapping[str, Any]) -> BarredQuestions:
        return BarredQuestions(answers=person.answers)
