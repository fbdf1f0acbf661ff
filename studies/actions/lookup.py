"""Look up a project or study by name, for command lines and forms."""

from collections.abc import Iterable

from studies.errors import StudyError
from studies.models import Project, Study
from studies.names import problem_with_slug


def find_project(name: str) -> Project:
    """Return the project called `name`. Raises StudyError, which lists the projects."""
    # Check the slug first: a database cannot look up a lone surrogate, for example.
    projects = Project.objects.filter(deletion__begun_at=None)
    project = None if problem_with_slug(name) else projects.filter(slug=name).first()
    if project is None:
        names = projects.values_list("slug", flat=True)
        raise StudyError(f"There is no project called {name}. The projects are: {_join_names(names)}.")
    return project


def _join_names(names: Iterable[str]) -> str:
    return ", ".join(names) or "none yet"


def find_study(name: str) -> Study:
    """Return the study called `name`: PROJECT/SLUG, or SLUG if only one project has such a study.

    Raises StudyError, which says what to write instead.
    """
    project_name, parted, slug = name.strip("/").rpartition("/")
    if parted:
        return find_study_of(find_project(project_name), slug)
    named = Study.objects.none() if problem_with_slug(slug) else Study.objects.filter(slug=slug)
    found = list(named.select_related("project").order_by("project__slug"))
    if not found:
        raise StudyError(f"There is no study called {name}. Check the name, or create it with create_study.")
    if len(found) > 1:
        names = ", ".join(full_name(study) for study in found)
        raise StudyError(f"Several projects have a study called {name}. Write which one you mean: {names}.")
    return found[0]


def find_study_of(project: Project, name: str) -> Study:
    """Return the study of `project` called `name`, SLUG or PROJECT/SLUG. Raises StudyError."""
    project_name, parted, slug = name.strip("/").rpartition("/")
    if parted and project_name != project.slug:
        raise StudyError(f"{name} is a study of another project than {project.slug}. Name one of its own studies.")
    named = Study.objects.none() if problem_with_slug(slug) else project.studies.filter(slug=slug)
    study = named.select_related("project").first()
    if study is None:
        names = project.studies.order_by("slug").values_list("slug", flat=True)
        raise StudyError(
            f"The project {project.slug} has no study called {slug}. Its studies are: {_join_names(names)}."
        )
    return study


def full_name(study: Study) -> str:
    """Return the unambiguous name of a study, PROJECT/SLUG."""
    return f"{study.project.slug}/{study.slug}"
