"""Search over the projects that a person may see."""

from collections.abc import Iterator

from django.contrib.auth.decorators import login_required
from django.db.models import Q
from django.db.models.functions import Length
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from results.views.form_values import typed
from results.views.guards import visible_projects, visible_studies
from studies.models import Instance, Project

MOST_SHOWN = 20
# Pages of a project by their names.
PAGES = (
    ("Overview", "project"),
    ("Instances", "instances"),
    ("Imports", "project_imports"),
    ("New import", "new_import"),
    ("New study", "new_study"),
    ("People", "project_people"),
    ("Models", "project_models"),
    ("Results", "project_results"),
    ("Releases", "project_releases"),
    ("Activity", "project_events"),
    ("Members", "project_members"),
    ("Groups", "project_groups"),
    ("Webhooks", "webhooks"),
)
# Address, label, and where it is.
Link = tuple[str, str, str]


@never_cache
@login_required
@require_safe
def search(request: HttpRequest) -> HttpResponse:
    words = typed(request.GET, "q")
    found = list(_found(request, words)) if words else []
    return render(request, "workspace/search.html", {"search_words": words, "found": found})


def _found(request: HttpRequest, words: str) -> Iterator[tuple[str, list[Link]]]:
    """Yield the titles of what was found with links, at most `MOST_SHOWN` of each; short keys, the exact one, first."""
    lower, projects = words.lower(), list(visible_projects(request))
    studies = visible_studies(request).filter(Q(slug__icontains=words) | Q(title__icontains=words))[:MOST_SHOWN]
    instances = Instance.objects.filter(project__in=projects, key__icontains=words).select_related("project")
    named: dict[str, list[Link]] = {
        "Projects": [_project(each) for each in projects if lower in f"{each.name.lower()} {each.slug}"],
        "Studies": [
            (reverse("study", args=[each.project.slug, each.slug]), each.title, f"{each.project.name}, {each.slug}")
            for each in studies
        ],
        "Instances": [
            (reverse("instance", args=[each.project.slug, each.name_in_address]), each.key, each.project.name)
            for each in instances.order_by(Length("key"), "key", "project")[:MOST_SHOWN]
        ],
        "Pages": [
            (reverse(name, args=[each.slug]), title, each.name)
            for title, name in PAGES
            for each in projects
            if lower in title.lower()
        ],
    }
    yield from ((title, links[:MOST_SHOWN]) for title, links in named.items() if links)


def _project(project: Project) -> Link:
    return (reverse("project", args=[project.slug]), project.name, project.slug)
