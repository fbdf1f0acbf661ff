"""Statistics computed in the background, for pages about many answers."""

from django.utils import timezone

from background.tasks import send
from results.actions import cached_statistics
from results.models import KeptNumbers
from results.queries.studies.overview import answers_sent
from studies.models import Project, Study


def numbers_for(
    page: KeptNumbers.Page, project: Project, study: Study | None = None, *, answers: int
) -> cached_statistics.CachedStatistics | None:
    """Return the stored statistics of a page and update them when due; None if the page can compute them itself."""
    if not cached_statistics.is_large(answers):
        return None
    return _look_up(page, project, study)


def stored_results(project: Project) -> cached_statistics.CachedStatistics:
    """Return the stored results of a project, and have them computed in the background when they are due."""
    return _look_up(KeptNumbers.Page.PROJECT_RESULTS, project)


def figures_for(project: Project) -> cached_statistics.CachedStatistics:
    """Count the figures and facets of the instances of `project`: at once if it is small, else in the background.

    The content is that of `project_content`. `project` is read with its `answers_sent`.
    """
    found = large_project_figures(project)
    return found or cached_statistics.compute_now(page=KeptNumbers.Page.INSTANCES, project=project, now=timezone.now())


def large_project_figures(project: Project) -> cached_statistics.CachedStatistics | None:
    """Return the same for a large project, and None for a small one."""
    if not cached_statistics.takes_long_to_count(project, answers_sent(project)):
        return None
    return _look_up(KeptNumbers.Page.INSTANCES, project)


def _look_up(
    page: KeptNumbers.Page, project: Project, study: Study | None = None
) -> cached_statistics.CachedStatistics:
    found = cached_statistics.look_up(page=page, project=project, study=study, now=timezone.now())
    if found.to_send is not None:
        send(found.to_send)
    return found
