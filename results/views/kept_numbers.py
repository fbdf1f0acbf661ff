"""Numbers that are made in the background, for the pages of what has many answers."""

from django.utils import timezone

from background.tasks import send
from results.actions import kept_numbers
from results.models import KeptNumbers
from studies.models import Project, Study


def numbers_for(
    page: KeptNumbers.Page, project: Project, study: Study | None = None, *, answers: int
) -> kept_numbers.Found | None:
    """Return what is kept for a page, and have it made anew when it is due; None when the page can make it itself."""
    if not kept_numbers.is_large(answers):
        return None
    found = kept_numbers.look_up(page=page, project=project, study=study, now=timezone.now())
    if found.to_send is not None:
        send(found.to_send)
    return found
