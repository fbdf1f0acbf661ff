"""`not_in_study`: exclude people who answered something in another study, such as the study of the test split."""

from collections.abc import Mapping
from typing import Any, ClassVar

from studies.eligibility.base import Eligibility, Person, gettext_noop, study_property
from studies.entry_schema import entry_schema


class NotInStudy(Eligibility):
    name = "not_in_study"
    schema: ClassVar[Mapping[str, Any]] = entry_schema(
        study=study_property("People who have answered at least one question of this study may not take part.")
    )
    told = gettext_noop("You took part in another of our studies, and this one needs people who did not.")
    reason = "had taken part in a study whose annotators are excluded."

    def refuses(self, person: Person, given: Mapping[str, Any]) -> bool:
        return person.record(given["study"]).answered > 0
