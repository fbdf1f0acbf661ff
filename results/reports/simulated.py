"""Tables that rest on answers say so when a program gave them."""

from collections.abc import Iterable, Sequence
from dataclasses import replace

from results.reports.base import Table
from results.reports.facts import StudyFacts

# Those that say something about people.
ABOUT_PEOPLE = frozenset(
    {
        *("decisions", "funnel", "pairs", "filtering", "reliability", "scores", "intervals", "comparison"),
        *("rates", "places", "times", "cost"),
    }
)


def simulation_notice(studies: Iterable[StudyFacts]) -> str:
    """Return a warning about the studies in which simulated annotators answered, "" when people gave every answer."""
    played = [
        f"{study.simulated:,} of {study.annotators:,} annotators of {study.slug}"
        for study in studies
        if study.simulated
    ]
    if not played:
        return ""
    return f"Simulated: {', '.join(played)}. They are a program, so this says nothing about people."


def marked(tables: Iterable[Table], studies: Sequence[StudyFacts]) -> list[Table]:
    """Return the tables, with that warning below those that say something about people."""
    notice = simulation_notice(studies)
    if not notice:
        return list(tables)
    return [replace(table, notes=[*table.notes, notice]) if table.name in ABOUT_PEOPLE else table for table in tables]
