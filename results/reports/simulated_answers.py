"""Mark tables that contain simulated answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from results.reports.base import Table
from results.reports.facts import SimulatedStudy, StudyFacts


def simulation_notice(studies: Iterable[StudyFacts]) -> str:
    """Return a warning about the studies with simulated annotators, "" if people gave every answer."""
    return notice_of(played for study in studies for played in _played(study))


def marked(tables: Iterable[Table], studies: Sequence[StudyFacts]) -> list[Table]:
    """Return the tables, with the warning below those that contain simulated answers.

    A table depends on the answers of its studies and of their upstream studies.
    """
    by_slug: Mapping[str, StudyFacts] = {study.slug: study for study in studies}
    found = []
    for table in tables:
        below = [by_slug[slug] for slug in table.rests_on if slug in by_slug]
        notice = notice_of(played for study in below for played in (*study.above, *_played(study)))
        found.append(replace(table, notes=[*table.notes, notice]) if notice else table)
    return found


def _played(study: StudyFacts) -> list[SimulatedStudy]:
    return [SimulatedStudy(study.slug, study.simulated, study.annotators)] if study.simulated else []


def notice_of(played: Iterable[SimulatedStudy]) -> str:
    """Return the warning about simulated answers, "" without any."""
    said = dict.fromkeys(f"{each.simulated:,} of {each.annotators:,} annotators of {each.slug}" for each in played)
    if not said:
        return ""
    return f"Simulated: {', '.join(said)}. They are a program, so this says nothing about people."
