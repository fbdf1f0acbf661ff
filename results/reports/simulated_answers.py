"""Tables that rest on answers say so when a program gave them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from results.reports.base import Table
from results.reports.facts import Played, StudyFacts


def simulation_notice(studies: Iterable[StudyFacts]) -> str:
    """Return a warning about the studies in which simulated annotators answered, "" when people gave every answer."""
    return notice_of(played for study in studies for played in _played(study))


def marked(tables: Iterable[Table], studies: Sequence[StudyFacts]) -> list[Table]:
    """Return the tables, with that warning below those that rest on such answers.

    A table rests on the answers of the studies it was made of, and of those that fed them: what people were asked
    about is what came out there.
    """
    by_slug: Mapping[str, StudyFacts] = {study.slug: study for study in studies}
    found = []
    for table in tables:
        below = [by_slug[slug] for slug in table.rests_on if slug in by_slug]
        notice = notice_of(played for study in below for played in (*study.above, *_played(study)))
        found.append(replace(table, notes=[*table.notes, notice]) if notice else table)
    return found


def _played(study: StudyFacts) -> list[Played]:
    return [Played(study.slug, study.simulated, study.annotators)] if study.simulated else []


def notice_of(played: Iterable[Played]) -> str:
    """Return the warning about answers that a program gave, "" when there are none."""
    said = dict.fromkeys(f"{each.simulated:,} of {each.annotators:,} annotators of {each.slug}" for each in played)
    if not said:
        return ""
    return f"Simulated: {', '.join(said)}. They are a program, so this says nothing about people."
