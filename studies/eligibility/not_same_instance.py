"""`not_same_instance`: nobody is asked about an instance that they were asked about in another study."""

from collections.abc import Mapping
from typing import Any, ClassVar

from studies.eligibility.base import Barred, Eligibility, Person, entry_schema, gettext_noop, study_named


class NotSameInstance(Eligibility):
    """Bars the questions about instances that somebody answered about in `study`, has before them there now, or could
    look at there before they gave up."""

    name = "not_same_instance"
    schema: ClassVar[Mapping[str, Any]] = entry_schema(
        study=study_named("The study whose instances nobody meets again here.")
    )
    told = gettext_noop("The remaining questions show what you have already seen in another study.")
    reason = "came when all that was left was about instances that they had met in another study."

    def bars(self, person: Person, given: Mapping[str, Any]) -> Barred:
        return Barred(instances=person.record(given["study"]).instances)
