"""`not_author`: nobody is asked about what they gave as an answer themselves."""

from collections.abc import Mapping
from typing import Any, ClassVar

from studies.eligibility.base import Barred, Eligibility, Person, entry_schema, gettext_noop


class NotAuthor(Eligibility):
    """Bars the questions that are made from answers of one's own. A study that asks about answers has it anyway."""

    name = "not_author"
    schema: ClassVar[Mapping[str, Any]] = entry_schema()
    told = gettext_noop("The remaining questions are about your own answers, so other people answer them.")
    reason = "came when all that was left was about answers of their own."

    def bars(self, person: Person, given: Mapping[str, Any]) -> Barred:
        return Barred(answers=person.answers)
