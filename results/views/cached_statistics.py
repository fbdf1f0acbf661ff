"""Statistics computed in the background, for pages about many answers."""

from django.db.models import Sum
from django.utils import timezone

from annotation.models import Session
from background.tasks import send
from results.actions import cached_statistics
from results.models import KeptNumbers
from results.queries.studies.navigation import FrameNumbers, count_for_frame
from results.queries.studies.overview import answers_sent
from studies.models import Project, Study


def numbers_for(
    page: KeptNumbers.Page, project: Project, study: Study | None = None, *, answers: int
) -> cached_statistics.CachedStatistics | None:
    """Return the stored statistics of a page and update them when due; None if the page can compute them itself."""
    if not cached_statistics.is_large(answers):
        return None
    return _look_up(page, project, study)


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


def frame_numbers(project: Project) -> FrameNumbers:
    """Return what the frame of the pages of `project` says of its studies; of a large project what was stored last.

    Stored numbers are updated as those of the overview are, without reading all that these depend on for each page.
    """
    sent = vars(project).get("answers_sent")
    if sent is None:
        sent = Session.objects.filter(study__project=project).aggregate(n=Sum("questions_answered"))["n"]
    if not cached_statistics.takes_long_to_count(project, sent or 0):
        return count_for_frame(project)
    stored, now = cached_statistics.stored_frame_numbers(project), timezone.now()
    if stored is None or stored.as_of is None or cached_statistics.has_news(project, since=stored.as_of, now=now):
        _look_up(KeptNumbers.Page.INSTANCES, project)
    return stored or FrameNumbers({}, [])


def _look_up(
    page: KeptNumbers.Page, project: Project, study: Study | None = None
) -> cached_statistics.CachedStatistics:
    found = cached_statistics.look_up(page=page, project=project, study=study, now=timezone.now())
    if found.to_send is not None:
        send(found.to_send)
    return found
