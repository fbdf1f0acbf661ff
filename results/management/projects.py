"""Finding what a command line names."""

from django.core.management.base import CommandError

from studies.models import Project


def project_called(slug: str) -> Project:
    """Return the project called `slug`. Raises CommandError, naming the projects there are."""
    project = Project.objects.filter(slug=slug).first()
    if project is None:
        known = ", ".join(Project.objects.values_list("slug", flat=True)) or "none yet"
        raise CommandError(f"There is no project called {slug}. The projects are: {known}.")
    return project
