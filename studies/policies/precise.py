"""`precise`: stop when the human score is as precise as wanted."""

from collections.abc import Iterable, Mapping, Sequence
from math import ceil, inf
from typing import Any, ClassVar

from analytics.intervals.confidence_sequence import mean_sequence, smallest_width
from studies.entry_schema import entry_schema
from studies.policies.base import Need, Outline, Policy, PolicyFacts, Standing
from studies.wording import format_count

PERSON, QUESTION = "person", "question"


class Precise(Policy):
    """Pause when the 95 % interval of the share right is at most so wide.

    The interval is a confidence sequence, so looking at it all the time does not make it wrong more often. Each person
    counts once, in the order in which they finished; people are taken to be independent. `per: question` counts each
    question once, and takes answers of one person as independent: choose it only if everybody answers few questions.
    """

    name = "precise"
    title = "Precise enough"
    about = "Pauses when the 95 % interval of the human score is at most as wide as the bound."
    need = Need.SCORES
    counts_anew = False
    schema: ClassVar[Mapping[str, Any]] = entry_schema(
        width={
            "type": "number",
            "minimum": 0,
            "maximum": 1,
            "description": "It acts when the 95 % interval of the share right is at most this wide, such as 0.1.",
        },
        per={
            "type": "string",
            "enum": [PERSON, QUESTION],
            "default": PERSON,
            "description": (
                "What counts once: each person (person), or each question (question), as if the answers of one person "
                "were independent."
            ),
        },
    )

    def problems(self, given: Mapping[str, Any], outline: Outline) -> Iterable[tuple[str, str]]:
        if not outline.knows_right:
            yield "", "The right answers to these questions are unknown, so there is no human score. Leave it out."
        elif not given["width"]:
            yield "width", "No interval has a width of 0, so this policy could never act. Choose a wider one."
        elif given["width"] >= 1:
            yield "width", "Without any answer the interval is 1 wide already. Choose a narrower one."
        elif given["per"] == QUESTION and outline.questions is not None:
            needed = least_values(given["width"])
            if needed > outline.questions:
                yield (
                    "width",
                    f"An interval that is at most {given['width']:g} wide needs the answers to at least "
                    f"{format_count(needed, 'question')}, and the study has {outline.questions:,} whose right answer "
                    "is known. Choose a wider one, or ask more questions.",
                )

    def least_sessions(self, given: Mapping[str, Any], outline: Outline) -> int:
        needed = least_values(given["width"]) if given["width"] else 0
        return needed if given["per"] == PERSON else ceil(needed * outline.answers / outline.longest)

    def judge(self, given: Mapping[str, Any], facts: PolicyFacts) -> Standing:
        values = facts.people_right if given["per"] == PERSON else facts.questions_right
        found, n = mean_sequence(values), _count(values, given["per"])
        wide, limit = found.width, f"{100 * given['width']:g} points wide"
        value = ""
        if found.low is not None and found.high is not None:
            value = f"{100 * (found.value or 0):.1f} % (95 % CI {100 * found.low:.1f}–{100 * found.high:.1f})"
        reason = found.reason or f"{100 * (wide or 0):.1f} points wide"
        return Standing(
            value=value,
            n=n,
            bound=f"at most {limit}",
            crossed=(inf if wide is None else wide) <= given["width"],
            sentence=f"The human score of {n} is {value or 'unknown'}: {reason.rstrip('.')}, bound {limit}.",
        )


def _count(values: Sequence[float], per: str) -> str:
    if per == QUESTION:
        return f"{format_count(len(values), 'question')} with all answers"
    return f"{len(values):,} {'person' if len(values) == 1 else 'people'}"


def least_values(width: float) -> int:
    """Return with how many values an interval can be at most `width` wide, over 0."""
    low, high = 0, 1
    while smallest_width(high) > width:
        low, high = high, 2 * high
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if smallest_width(middle) > width else (low, middle)
    return high
