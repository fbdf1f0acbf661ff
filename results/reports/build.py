"""Build the report of a project or of a study from its facts."""

from datetime import datetime

from results.reports.base import Report
from results.reports.cards import StudyAnswers, project_cards, study_cards
from results.reports.facts import ProjectFacts
from results.reports.simulated_answers import mark_simulated


def report_of(project: ProjectFacts, *, made_at: datetime | None = None) -> Report:
    """Return the cards of `project`; empty ones are left out.

    made_at: the time to print on it, if any.
    """
    cards = mark_simulated(project_cards(project), project.studies)
    return Report(f"Report of {project.name}", cards, made_at.isoformat(timespec="seconds") if made_at else "")


def report_of_study(alone: ProjectFacts, answers: StudyAnswers) -> Report:
    """Return the cards of the only study of `alone`; empty ones are left out."""
    study = alone.studies[0]
    asking = answers.writing.asking if answers.writing else ()
    return Report(f"Results of {study.slug}", mark_simulated(study_cards(alone, answers), [study, *asking]))
