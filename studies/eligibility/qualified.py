"""`qualified`: only people who were right often enough in another study, such as a qualification."""

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from studies.eligibility.base import Eligibility, Person, gettext_noop, study_property
from studies.entry_schema import entry_schema


class Qualified(Eligibility):
    """Let people in who were right in at least `right` of `of` questions of `study`, in total or in one sitting.

    Only questions with a known right answer count, and at least `of` must be answered; more answers need the same
    share. A second sitting is a second try: earlier mistakes do not count against it, and earlier successes remain.
    """

    name = "qualified"
    schema: ClassVar[Mapping[str, Any]] = entry_schema(
        study=study_property("The qualification study; its right answers must be known."),
        right={
            "type": "integer",
            "minimum": 1,
            "description": "Number of right answers needed, in total or in one session.",
        },
        of={
            "type": "integer",
            "minimum": 1,
            "description": (
                "The number of answered questions that `right` is out of; people must have answered this many."
            ),
        },
    )
    told = gettext_noop("This study is for people who have passed another one.")
    reason = "had not passed the qualification."

    def problems(self, given: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
        if given["right"] > given["of"]:
            yield "right", f"{given['right']} right answers of {given['of']} are impossible."

    def refuses(self, person: Person, given: Mapping[str, Any]) -> bool:
        record = person.record(given["study"])
        tries = [(record.known, record.right), *record.sittings]
        return not any(passes(known, right, needed=given["right"], of=given["of"]) for known, right in tries)


def passes(known: int, right: float, *, needed: int, of: int) -> bool:
    """Return whether `right` of `known` answers pass: `of` answers or more, and the share `needed` of `of`."""
    return known >= of and right * of >= needed * known
