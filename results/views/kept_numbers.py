"""Numbers that are made in the background, for the pages of what has many answers."""

from django.utils import timezone

from background.tasks import send
from results.actions import kept_numbers
from results.models import KeptNumbers
from results.queries.overview import answers_sent
from studies.models import Project, Study


def numbers_for(
    page: KeptNumbers.Page, project: Project, study: Study | None = None, *, answers: int
) -> kept_numbers.Found | None:
    """Return what is kept for a page, and have it made anew when it is due; None when the page can make it itself."""
    if not kept_numbers.is_large(answers):
        return None
    return _looked_up(page, project, study)


def figures_for(project: Project) -> kept_numbers.Found | None:
    """Have the figures of the instances of `project` counted: at once where it is small, else behind the page.

    `project` is read with its `answers_sent`.
    """
    page = KeptNumbers.Page.INSTANCES
    if not kept_numbers.is_large_to_count(project, answers_sent(project)):
        kept_numbers.made_at_once(page=page, project=project, now=timezone.now())
        return None
    return _looked_up(page, project)


def _looked_up(page: KeptNumbers.Page, project: Project, study: Study | None = None) -> kept_numbers.Found:
    found = kept_numbers.look_up(page=page, project=project, study=study, now=timezone.now())
    if found.to_send is not None:
        send(found.to_send)
    return found
