"""What a flag rule is: it looks at the answers of one session and says whether they may be careless. Pure."""

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from analytics.flags.records import SessionRecord

Evidence = Mapping[str, Any]
# The design rate: a rule flags at most this share of the sessions of people who answer as its null hypothesis says. By
# Bonferroni's inequality, all rules together flag at most the sum of their rates.
FALSE_ALARM_RATE = 0.002
NO_BREAK = "\N{NO-BREAK SPACE}"


class FlagRule(ABC):
    """A rule that flags sessions for a researcher to review; it never decides about anybody.

    name: stored with each flag. version: grows when the rule may flag other sessions. title: in a list of flags.
    misses: who escapes it, in one sentence.
    """

    name: ClassVar[str]
    version: ClassVar[int] = 1
    title: ClassVar[str]
    misses: ClassVar[str]

    @abstractmethod
    def find(self, session: SessionRecord) -> Evidence | None:
        """Return the evidence against `session`, as JSON; None if there is none."""

    @abstractmethod
    def sentence(self, evidence: Evidence) -> str:
        """Return `evidence`, from `find` of this version, in one sentence with its numbers."""


def percent(share: float) -> str:
    """Return a share as a whole percentage, with a no-break space. Example: .414 is "41 %"."""
    return f"{round(100 * share)}{NO_BREAK}%"


def probability(p: float) -> str:
    """Return a p-value for a sentence, in one line. Example: .0004 is "p < 0.001", with no-break spaces."""
    return f"p{NO_BREAK}<{NO_BREAK}0.001" if p < 0.001 else f"p{NO_BREAK}={NO_BREAK}{p:.3f}"
