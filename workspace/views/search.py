"""Search over the projects that a person may see."""

from collections.abc import Iterator, Sequence
from urllib.parse import urlencode

from django.contrib.auth.decorators import login_required
from django.db.models import Count, Exists, OuterRef, Q
from django.db.models.functions import Length
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from results.models import Pseudonym
from results.queries.instances.caption_search import captions_containing
from results.queries.instances.explorer import STATES
from results.views.form_values import read_field
from results.views.guards import signed_in_user, visible_projects, visible_studies
from studies.models import Instance, Project, Study
from workspace.views.pages_and_actions import FoundEntry, find_pages_and_actions

MOST_SHOWN = 20
# Of each sort, below the field while somebody types.
MOST_SUGGESTED = 6
# Captions are searched from here on while somebody types.
SHORTEST_CAPTION_WORDS = 3
# Instances whose captions are searched at once. SQLite reads 100,000 in half a second; larger projects are linked.
MOST_READ = 20_000
# Characters of a caption around the words.
CONTEXT = 40
# Address, label, and where it is.
Link = tuple[str, str, str]


@never_cache
@login_required
@require_safe
def search(request: HttpRequest) -> HttpResponse:
    """Show what was found; to htmx, the options below the field. project, study: where the search was sent from."""
    words = read_field(request.GET, "q")
    is_typing = bool(request.headers.get("HX-Request"))
    projects = list(visible_projects(request))
    reads_captions = words and not (is_typing and len(words) < SHORTEST_CAPTION_WORDS)
    read, large = _read_at_once(projects) if reads_captions else ([], [])
    found = list(_list_matches(request, words, projects, read)) if words else []
    if is_typing:
        found = [(title, links[:MOST_SUGGESTED]) for title, links in found]
    context = {
        "search_words": words,
        "found": found,
        "large": [(_instances(each, words=words), each.name) for each in large],
        "all_results": request.GET.urlencode(),
    }
    return render(request, "workspace/_search_options.html" if is_typing else "workspace/search.html", context)


def _read_at_once(projects: Sequence[Project]) -> tuple[list[Project], list[Project]]:
    """Return the projects whose captions are searched, smallest first, and those with too many instances for it."""
    # The first instance that is too many, so that those of a large project are not all counted.
    one_too_many = Instance.objects.filter(project=OuterRef("pk")).order_by().values("pk")[MOST_READ:][:1]
    known = Project.objects.filter(pk__in=[each.pk for each in projects])
    too_large = dict.fromkeys(known.filter(Exists(one_too_many)).values_list("pk", flat=True), MOST_READ + 1)
    small = Instance.objects.filter(project__in=[each.pk for each in projects if each.pk not in too_large])
    sizes = {**dict(small.order_by().values_list("project").annotate(n=Count("pk"))), **too_large}
    read, large, total = list[Project](), list[Project](), 0
    for project in sorted(projects, key=lambda each: sizes.get(each.pk, 0)):
        total += sizes.get(project.pk, 0)
        (read if total <= MOST_READ else large).append(project)
    return read, large


def _list_matches(
    request: HttpRequest, words: str, projects: Sequence[Project], read: Sequence[Project]
) -> Iterator[tuple[str, list[Link]]]:
    """Yield the titles of what was found with links, at most `MOST_SHOWN` of each; short keys, the exact one, first.

    read: the projects whose captions are searched.
    """
    lower = words.lower()
    visible = visible_studies(request).defer("source", "design")
    studies = visible.filter(Q(slug__icontains=words) | Q(title__icontains=words))[:MOST_SHOWN]
    entries = _find_entries(request, words, projects, list(visible))
    instances = Instance.objects.filter(project__in=projects, key__icontains=words).select_related("project")
    people = Pseudonym.objects.filter(project__in=projects, name__icontains=words).select_related("project")
    says = Instance.objects.filter(captions_containing("captions", words), project__in=read).select_related("project")
    launched = set(
        Study.objects.filter(project__in=projects, launched_at__isnull=False).values_list("project", flat=True)
    )
    named: dict[str, list[Link]] = {
        "Projects": [_project(each) for each in projects if lower in f"{each.name.lower()} {each.slug}"],
        "Studies": [
            (reverse("study", args=[each.project.slug, each.slug]), each.title, f"{each.project.name}, {each.slug}")
            for each in studies
        ],
        "Pages": [(each.address, each.title, each.where) for each in entries if not each.is_action],
        "Actions": [(each.address, each.title, each.where) for each in entries if each.is_action],
        "People": [
            (reverse("person", args=[each.project.slug, each.name]), each.name, each.project.name)
            for each in people.order_by("name", "project")[:MOST_SHOWN]
        ],
        "Instances": [
            (reverse("instance", args=[each.project.slug, each.name_in_address]), each.key, each.project.name)
            for each in instances.order_by(Length("key"), "key", "project")[:MOST_SHOWN]
        ],
        "Captions": _captions(list(says.order_by("project", "pk")[: MOST_SHOWN + 1]), words),
        "Instances by outcome": [
            (_instances(each, state=state), title, each.name)
            for state, title in STATES.items()
            for each in projects
            if lower in title.lower() and each.pk in launched
        ],
    }
    yield from ((title, links[:MOST_SHOWN]) for title, links in named.items() if links)


def _find_entries(
    request: HttpRequest, words: str, projects: Sequence[Project], studies: Sequence[Study]
) -> list[FoundEntry]:
    here = next((each for each in projects if each.slug == read_field(request.GET, "project")), None)
    slug = read_field(request.GET, "study")
    study = next((each for each in studies if each.project == here and each.slug == slug), None)
    user = signed_in_user(request)
    return find_pages_and_actions(words, user=user, projects=projects, studies=studies, project=here, study=study)


def _captions(instances: Sequence[Instance], words: str) -> list[Link]:
    """Return links to instances with these words in a caption; where there are too many, one to all of each project."""
    if len(instances) > MOST_SHOWN:
        some = {each.project.pk: each.project for each in instances}
        return [(_instances(each, words=words), f"All instances with “{words}”", each.name) for each in some.values()]
    return [
        (
            reverse("instance", args=[each.project.slug, each.name_in_address]),
            each.key,
            f"{each.project.name}: {_excerpt(each, words)}",
        )
        for each in instances
    ]


def _excerpt(instance: Instance, words: str) -> str:
    """Return the caption of `instance` around these words."""
    texts = [str(text) for text in instance.captions.values()]
    text = next((text for text in texts if words.lower() in text.lower()), texts[0])
    start = text.rfind(" ", 0, max(0, text.lower().find(words.lower()) - CONTEXT)) + 1
    end = start + len(words) + 2 * CONTEXT
    return f"{'…' if start else ''}{text[start:end]}{'…' if end < len(text) else ''}"


def _instances(project: Project, **filters: str) -> str:
    return f"{reverse('instances', args=[project.slug])}?{urlencode(filters)}"


def _project(project: Project) -> Link:
    return (reverse("project", args=[project.slug]), project.name, project.slug)
