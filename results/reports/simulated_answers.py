"""Mark cards that contain simulated answers."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from results.reports.base import Card
from results.reports.facts import SimulatedStudy, StudyFacts


def simulation_notice(studies: Iterable[StudyFacts]) -> str:
    """Return a warning about the studies with simulated annotators, "" if people gave every answer."""
    return notice_of(played for study in studies for played in _simulated_studies(study))


def mark_simulated(cards: Iterable[Card], studies: Sequence[StudyFacts]) -> list[Card]:
    """Return the cards, with a notice on those that contain simulated answers.

    A card depends on the answers of the studies of its tables, and of their upstream studies.
    """
    by_slug: Mapping[str, StudyFacts] = {study.slug: study for study in studies}
    found = []
    for card in cards:
        slugs = dict.fromkeys(slug for table in card.tables for slug in table.rests_on)
        below = [by_slug[slug] for slug in slugs if slug in by_slug]
        notice = notice_of(played for study in below for played in (*study.above, *_simulated_studies(study)))
        chart = card.chart if card.chart is None else replace(card.chart, is_simulated=bool(notice))
        found.append(replace(card, simulated=notice, chart=chart))
    return found


def _simulated_studies(study: StudyFacts) -> list[SimulatedStudy]:
    return [SimulatedStudy(study.slug, study.simulated, study.annotators)] if study.simulated else []


def notice_of(played: Iterable[SimulatedStudy]) -> str:
    """Return the warning about simulated answers, "" without any."""
    said = dict.fromkeys(f"{each.simulated:,} of {each.annotators:,} annotators of {each.slug}" for each in played)
    if not said:
        return ""
    return f"Simulated: {', '.join(said)}. Simulated answers say nothing about people."
