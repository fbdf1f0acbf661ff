"""Which studies of a project have something to release, and what to release instead of the others."""

from results.queries.reports.report_rows import release_studies
from results.queries.studies.pipeline import studies_in_order
from studies.actions.projects.datasets import may_keep
from studies.models import Project, Study


def releasable_studies(project: Project) -> list[Study]:
    """Return the studies of `project` that accept instances and are launched."""
    return [study for study in studies_in_order(project) if may_keep(study)]


def release_refusal(study: Study) -> str:
    """Say why there is nothing to release of `study`, which accepts nothing, and what to release instead."""
    why = (
        f"The study {study.slug} accepts nothing, so there is nothing to release: its purpose is {study.purpose}. "
        "A release needs a study that accepts instances: its purpose is filter or collection."
    )
    others = releasable_studies(study.project)
    holding = [other for other in others if study in release_studies([other])]
    if holding:
        return f"{why} Release {_names(holding)}: the answers of {study.slug} are part of that release."
    instead = f"Release {_names(others)}" if others else "Create and launch one"
    return f"{why} {instead}. Export the answers of {study.slug} on its Exports page."


def _names(studies: list[Study]) -> str:
    return " or ".join(study.slug for study in studies)
