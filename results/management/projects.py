"""Finding what a command line names."""

from django.core.management.base import CommandError

from studies.models import Project
from studies.naming import problem_with_slug


def project_called(slug: str) -> Project:
    """Return the project called `slug`. Raises CommandError, naming the projects there are."""
    # What is no slug is not asked for: half a character, say, is no question for a database.
    project = None if problem_with_slug(slug) else Project.objects.filter(slug=slug).first()
    if project is None:
        known = ", ".join(Project.objects.values_list("slug", flat=True)) or "none yet"
        raise CommandError(f"There is no project called {slug}. The projects are: {known}.")
    return project
