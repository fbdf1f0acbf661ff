"""Numbers that are made in the background, for the pages of what has many answers."""

from django.utils import timezone

from background.tasks import send
from results.actions import keeping
from results.models import KeptNumbers
from studies.models import Project, Study


def kept_numbers(
    page: KeptNumbers.Page, project: Project, study: Study | None = None, *, answers: int
) -> keeping.Found | None:
    """Return what is kept for a page, and have it made anew when it is due; None when the page can make it itself."""
    if not keeping.is_large(answers):
        return None
    found = keeping.look_up(page=page, project=project, study=study, now=timezone.now())
    if found.to_send is not None:
        send(found.to_send)
    return found
