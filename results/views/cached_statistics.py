"""Statistics computed in the background, for pages about many answers."""

from django.db.models import QuerySet, Sum
from django.utils import timezone

from annotation.models import Session
from background.tasks import send
from results.actions import cached_statistics
from results.models import KeptNumbers
from results.queries.studies.navigation import FrameNumbers, count_for_frame
from results.queries.studies.overview import CardNumbers, answers_sent
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


def results_for(project: Project) -> cached_statistics.CachedStatistics:
    """Return the results of a project: of a small one at once, of a large one as they were stored last."""
    page = KeptNumbers.Page.PROJECT_RESULTS
    kept = numbers_for(page, project, answers=_count_sent(project))
    return kept or cached_statistics.compute_now(page=page, project=project, now=timezone.now())


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


def has_stored_figures(project: Project, *, answers: int) -> bool:
    """Whether the figures of the instances of `project` were stored, if it is large. They are updated when due.

    answers: the number that its annotators have sent, or those of one of its studies.
    """
    if not cached_statistics.takes_long_to_count(project, answers):
        return False
    return _look_up(KeptNumbers.Page.INSTANCES, project).as_of is not None


def frame_numbers(project: Project) -> FrameNumbers:
    """Return what the frame of the pages of `project` says of its studies; of a large project what was stored last.

    Stored numbers are updated as those of the overview are, without reading all that these depend on for each page.
    """
    if not cached_statistics.takes_long_to_count(project, _count_sent(project)):
        return count_for_frame(project)
    stored, now = cached_statistics.stored_frame_numbers(project), timezone.now()
    if stored is None or stored.as_of is None or cached_statistics.has_news(project, since=stored.as_of, now=now):
        _look_up(KeptNumbers.Page.INSTANCES, project)
    return stored or FrameNumbers({}, [])


def card_numbers(projects: QuerySet[Project]) -> dict[int, CardNumbers]:
    """Return the id of each large one of `projects` -> the numbers of its card that were stored last.

    They are updated as those of the overview are. A project whose numbers were never stored is left out: its card
    counts.
    """
    large, now = cached_statistics.large_projects(projects), timezone.now()
    stored = cached_statistics.stored_card_numbers(large)
    for project in large:
        numbers = stored.get(project.pk)
        if numbers is None or cached_statistics.has_news(project, since=numbers.as_of, now=now):
            _look_up(KeptNumbers.Page.INSTANCES, project)
    return stored


def _count_sent(project: Project) -> int:
    """Return the number of answers in all sessions of `project`, whether or not it was read with `answers_sent`."""
    sent = vars(project).get("answers_sent")
    if sent is None:
        sent = Session.objects.filter(study__project=project).aggregate(n=Sum("questions_answered"))["n"]
    return sent or 0


def _look_up(
    page: KeptNumbers.Page, project: Project, study: Study | None = None
) -> cached_statistics.CachedStatistics:
    found = cached_statistics.look_up(page=page, project=project, study=study, now=timezone.now())
    if found.to_send is not None:
        send(found.to_send)
    return found
