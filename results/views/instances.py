"""The instances of a project, and the history of one instance."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, render
from django.views.decorators.http import require_safe

from results.actions.pseudonyms import name_annotators
from results.exporting.rows import target_text
from results.queries.instances.explorer import (
    BY_FIGURES,
    MOST_COUNTED,
    MOST_EXPLAINED,
    NOT_ACCEPTED,
    ORDERS,
    SOURCE,
    InstanceFilters,
    list_instances,
    lost_reasons,
    matching_words,
    page_of_instances,
)
from results.queries.instances.facets import FACETS, MOST_LOOKED_UP, FacetTable, count_facets, needs_lookup
from results.queries.instances.instance_history import (
    Votes,
    histories,
    instance_releases,
    option_keys,
    other_votes,
    stages,
    votes_on,
    with_reasons,
)
from results.queries.instances.instance_list import (
    categories_of,
    description_notes,
    images_of,
    named_images,
    one_origin,
    sort_roles,
    tags_of,
)
from results.queries.instances.missing_questions import missing_questions
from results.queries.instances.model_scores import ModelScore, model_scores
from results.queries.instances.pages import neighbours
from results.queries.people.checks import gold_uses
from results.queries.studies.pipeline import studies_in_order
from results.queries.studies.simulated_answers import simulated_in_project, simulated_studies
from results.replica import from_replica
from results.reports.explorer_links import COUNTED, NO_NAME
from results.reports.simulated_answers import notice_of
from results.views.cached_statistics import figures_for
from results.views.facets import LABELS, active_filters, coded_texts, facets_of
from results.views.guards import may_do, project_view
from results.views.search import Search
from studies.models import Instance, InstanceImage, Project, Study
from studies.permissions import Verb


@dataclass(frozen=True)
class CaptionShown:
    """A caption on the page of its instance. `original`: the text before its caption rule, "" if it is the same."""

    role: str
    original: str
    told: str
    votes: Sequence[Votes]
    scores: Sequence[ModelScore]


@dataclass(frozen=True)
class ImageShown:
    """An image on the page of its instance. `name`: as options name it."""

    name: str
    use: InstanceImage
    votes: Sequence[Votes]
    scores: Sequence[ModelScore]


TABLE = "table"
LONGEST_COUNT = 12


@project_view(Verb.VIEW)
@require_safe
@from_replica
def instances(request: HttpRequest, project: Project) -> HttpResponse:
    """Explorer: the instances that match the address, as a gallery or a table."""
    search = Search.of(request)
    kept = figures_for(project)
    studies = studies_in_order(project)
    table = FacetTable.read(kept.numbers) if kept.numbers else None
    said = matching_words(project, search.wanted.words) if search.wanted.words else None
    facets = None
    if table and not needs_lookup(search.wanted, search.order):
        facets = count_facets(table, project, studies, search.wanted)
    shown = list_instances(
        project, studies, search.wanted, search.order, said=said, unasked=table.unasked if table else None
    )
    known = None
    # Stored numbers may be old, but say more than that there are too many to count.
    if facets and kept.in_background and (kept.is_current or facets.matching > MOST_COUNTED):
        known = facets.matching
    page, count = page_of_instances(
        shown,
        studies,
        study=search.wanted.study,
        after=request.GET.get("after", ""),
        before=request.GET.get("before", ""),
        count=known,
    )
    has_more = known is None and count > MOST_COUNTED
    if table and facets is None and count <= MOST_LOOKED_UP:
        facets = count_facets(table, project, studies, search.wanted, search.order, said=said, shown=shown.instances)
    explains = search.wanted.state == NOT_ACCEPTED and count <= MOST_EXPLAINED
    among = [each for each in studies if search.wanted.study in ("", each.slug)]
    may = may_do(request, project)
    coded = coded_texts(search, studies)
    context = {
        "project": project,
        "may": may,
        "may_choose": any(may[verb] for verb in (Verb.TAG, Verb.EXPORT, Verb.DESIGN)),
        "simulated": simulated_in_project(project),
        "search": search,
        "is_table": search.look == TABLE,
        "gallery": search.query(look=""),
        "table": search.query(look=TABLE),
        "is_unsorted": search.order in BY_FIGURES and not search.wanted.study,
        "statistics": kept,
        "has_counts": facets is not None,
        "kept": kept if kept.in_background and search.needs_figures else None,
        "facets": facets_of(search, _names(project, studies, table), facets, coded),
        "active": active_filters(search, coded),
        "count": MOST_COUNTED if has_more else count,
        "has_more": has_more,
        "reasons": lost_reasons(project, among, shown.instances) if explains else (),
        "counted": None if has_more else _earlier_count(request, count),
        "page": page,
        **_choices(project, search.wanted, coded),
    }
    return render(request, "results/instances/list.html", context)


def _earlier_count(request: HttpRequest, count: int) -> int | None:
    """Return the count on the page that linked here, if the list now has another."""
    told = request.GET.get(COUNTED, "")
    is_number = told.isascii() and told.isdigit() and len(told) < LONGEST_COUNT
    return int(told) if is_number and int(told) != count else None


def _names(project: Project, studies: Sequence[Study], table: FacetTable | None) -> dict[str, list[str]]:
    """Return the values of the facets that have no fixed ones."""
    categories = [cell[:3] for cell in table.cells] if table else categories_of(project)
    return {
        "type": _facet_names(type for type, _, _ in categories),
        "subtype": _facet_names(subtype for _, subtype, _ in categories),
        "split": _facet_names(split for _, _, split in categories),
        "tag": list(project.tags.values_list("name", flat=True)),
        "study": [study.slug for study in studies],
    }


def _choices(project: Project, wanted: InstanceFilters, coded: Mapping[str, Mapping[str, str]]) -> dict[str, Any]:
    """Return the options of the filter form. `coded`: of `coded_texts`."""
    unchosen = {"progress": "Any", "question": "Any", "alike": "Any", "reason": "Any or none", "parted": "Any"}
    return {
        "models": [str(model) for model in project.models.with_predictions(project)],
        "orders": {name: order.title for name, order in ORDERS.items() if name != SOURCE},
        "coded": [(name, LABELS[name], any, coded[name], getattr(wanted, name)) for name, any in unchosen.items()],
        "chosen_facets": [(name, value) for name in FACETS if (value := getattr(wanted, name))],
    }


def _facet_names(names: Iterable[str]) -> list[str]:
    found = set(names)
    return sorted({name or NO_NAME for name in found}) if found - {""} else []


@project_view(Verb.VIEW)
@require_safe
@from_replica
def instance(request: HttpRequest, project: Project, key: str) -> HttpResponse:
    return _page(request, get_object_or_404(Instance, project=project, key=key.replace("\0", "")), project)


@project_view(Verb.VIEW)
@require_safe
@from_replica
def instance_by_id(request: HttpRequest, project: Project, pk: int) -> HttpResponse:
    """Page of an instance whose key cannot be part of an address."""
    return _page(request, get_object_or_404(Instance, project=project, pk=pk), project)


def _page(request: HttpRequest, instance: Instance, project: Project) -> HttpResponse:
    name_annotators(project=project)
    studies = studies_in_order(project)
    indices = {study.pk: index for index, study in enumerate(studies)}
    history = with_reasons(histories(instance.questions.all(), project=project))
    history.sort(key=lambda asked: (indices[asked.question.study_id], asked.question.part, asked.question.pk))
    passed = stages(history)
    outcomes = {stage.study.pk: stage.outcome for stage in passed}
    images = images_of([instance])[instance.pk]
    told = description_notes(instance)
    search = Search.of(request)
    if search.needs_figures:
        figures_for(project)
    shown = list_instances(project, studies, search.wanted, search.order)
    previous, following = neighbours(shown.paged, shown.order, instance.pk)
    gold = gold_uses(instance)
    in_gold = {use.study for use in gold if use.is_asked}
    missing = missing_questions(project, [instance], {instance.pk: outcomes})[instance.pk]
    scores = model_scores(instance, [asked.question for asked in history])
    context = {
        "project": project,
        "search": search,
        "previous": previous,
        "following": following,
        # The page of the list that starts with it.
        "up": search.query(after=str(previous.pk) if previous else ""),
        "tags": tags_of([instance])[instance.pk],
        "simulated": notice_of(simulated_studies(asked.question.study for asked in history)),
        "instance": instance,
        "target": target_text(instance.reference.get("right")),
        "captions": [
            CaptionShown(
                role,
                original if (original := instance.original_captions.get(role, "")) != text else "",
                told.get(role, ""),
                votes_on(history, text=text),
                scores.of(role),
            )
            for role in sort_roles(instance.captions)
            for text in [instance.captions[role]]
        ],
        "images": [
            ImageShown(
                name,
                use,
                votes_on(history, image=use.image_id) if use.image_id else (),
                # An image that was chosen has another role in later studies.
                scores.of(*sorted({name} | option_keys(history, image=use.image_id or ""))),
            )
            for name, use in named_images(images)
        ],
        "other_votes": other_votes(history),
        "unscored": scores.unscored,
        "one_origin": one_origin(images),
        "asked_now": bool(in_gold) or any(asked.question.taken_out_at is None for asked in history),
        "is_taken_out": any(use.is_taken_out for use in gold)
        or any(asked.question.taken_out_at is not None for asked in history),
        "stages": passed,
        "gold": gold,
        "not_asked": [each for each in missing if each.study not in in_gold],
        "releases": instance_releases(history, project),
        "may": may_do(request, project),
    }
    return render(request, "results/instances/instance.html", context)
