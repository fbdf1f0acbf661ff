"""Actions on several instances: those selected in the explorer, or all that match its filters.

Each action has a page under the address of the selection, which shows its size and acts when sent.
"""

import hashlib
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import partial, wraps
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_http_methods

from annotation.actions.removing import retire_questions
from annotation.actions.removing.removals import RemovalEffects
from annotation.actions.removing.retire_questions import CannotTakeOut
from background.tasks import send
from results.actions import participants
from results.actions.exports import exportable_study, job_of, launched_studies, request_export
from results.errors import CannotExport
from results.exporting import FORMATS
from results.queries.exports.empty_formats import format_options
from results.queries.instances.explorer import list_instances
from results.queries.instances.pages import row_id
from results.queries.studies.overview import accepted_by_study, accepted_counts
from results.queries.studies.pipeline import studies_in_order
from results.views.cached_statistics import figures_for
from results.views.form_values import read_field
from results.views.guards import project_view, signed_in_user
from results.views.search import Search
from studies.actions.drafts import MOST_NAMED, ask_again
from studies.actions.lookup import find_study_of
from studies.actions.projects.tags import tag_instances, untag_instances
from studies.design import DesignRefused
from studies.design.form_fields import build_form
from studies.errors import StudyError
from studies.models import Instance, Project, Study
from studies.models.instances import LONGEST_TAG
from studies.permissions import Verb
from studies.wording import format_count

ALL = "all"
NOT_COUNTED = (
    "The numbers behind this filter are still being computed, so the matching instances are not known yet. Reload the "
    "list in a minute, then select again."
)
OTHERS_MATCH = "The matching instances have changed since this page was shown: now {}. Send again to use them."
# No page of the list has this many check boxes.
MOST_TICKED = 1_000
# More match a filter than one request can change.
MOST_MATCHING = 100_000
TOO_MANY = f"More than {MOST_MATCHING:,} instances match. Narrow the filters, then select all again."
# Each is taken out of every study while somebody waits.
MOST_TAKEN_OUT = 100


View = Callable[[HttpRequest, Project], HttpResponse]
# Does the action on the instances with the fields of the form, and returns a redirect.
Act = Callable[..., HttpResponse]


class CannotChoose(Exception):
    """The matching instances cannot be chosen; its text says why."""


def _require_selection(view: View) -> View:
    """Redirect to the list, with the reason, while the selection is not counted yet or too large."""

    @wraps(view)
    def with_selection(request: HttpRequest, project: Project) -> HttpResponse:
        try:
            return view(request, project)
        except CannotChoose as error:
            messages.error(request, str(error))
            return redirect(_list(project, Search.of(request)))

    return with_selection


@dataclass(frozen=True)
class ChosenInstances:
    """The instances that an address selects, and the list they come from.

    `ids`: in order. `back`: the address of the page that they were selected on. `problems`: why nothing can be done
    with them.
    """

    ids: Sequence[int]
    search: Search
    back: str
    problems: Sequence[str] = ()

    @property
    def count(self) -> int:
        return len(self.ids)

    @property
    def digest(self) -> str:
        """Return a fingerprint of these instances."""
        return hashlib.sha256(",".join(map(str, self.ids)).encode()).hexdigest()


def _chosen_instances(request: HttpRequest, project: Project) -> ChosenInstances:
    search = Search.of(request)
    if request.GET.get("which") == ALL:
        if search.needs_figures and figures_for(project).as_of is None:
            raise CannotChoose(NOT_COUNTED)
        found = list_instances(project, studies_in_order(project), search.wanted, search.order).instances.order_by()
    else:
        found = Instance.objects.filter(project=project, pk__in=_selected_ids(request)).order_by()
    back = _list(project, search)
    if request.GET.get("from") == "instance" and (only := found.first()) is not None:
        back = reverse("instance", args=[project.slug, only.name_in_address])
    ids = sorted(found.values_list("pk", flat=True)[: MOST_MATCHING + 1])
    if len(ids) > MOST_MATCHING:
        raise CannotChoose(TOO_MANY)
    chosen = ChosenInstances(ids, search, back)
    # The matches may have changed since the page was shown.
    if request.POST.get("shown", "") in ("", chosen.digest):
        return chosen
    return replace(chosen, problems=[OTHERS_MATCH.format(format_count(chosen.count, "instance"))])


def _selected_ids(request: HttpRequest) -> list[int]:
    ids = (row_id(each) for each in request.GET.getlist("pick"))
    return [pk for pk in ids if pk is not None][:MOST_TICKED]


def _answer(
    request: HttpRequest, project: Project, act: Act, fields: Sequence[str], template: str, **others: Any
) -> HttpResponse:
    """Call `act` with the `fields` of a sent form; show the form if nothing was sent or something is wrong."""
    chosen = _chosen_instances(request, project)
    problems = chosen.problems
    given = {name: read_field(request.POST, name) for name in fields}
    if request.method != "POST":
        given["study"] = chosen.search.wanted.study
    elif not problems:
        try:
            return act(project, chosen, given, by=signed_in_user(request), now=timezone.now())
        except StudyError as error:
            problems = error.problems
        except CannotExport as error:
            problems = [str(error)]
        except CannotTakeOut as error:
            problems = [error.message]
        except DesignRefused as error:
            problems = [*map(build_form({}).in_words, (problem.message for problem in error.problems))]
    context = {"project": project, "chosen": chosen, "given": given, "problems": problems, **others}
    return render(request, f"results/selection/{template}", context, status=409 if problems else 200)


@project_view(Verb.TAG)
@require_http_methods(["GET", "HEAD", "POST"])
@_require_selection
def tag(request: HttpRequest, project: Project) -> HttpResponse:
    def act(project: Project, chosen: ChosenInstances, given: Mapping[str, str], **about: Any) -> HttpResponse:
        name, off = given["name"], request.POST.get("do") == "untag"
        change = untag_instances if off else tag_instances
        those = format_count(change(project=project, instances=chosen.ids, name=name, **about), "instance")
        messages.success(request, f"Tag {name} removed from {those}." if off else f"Tag {name} added to {those}.")
        return redirect(chosen.back)

    tags = list(project.tags.values_list("name", flat=True))
    return _answer(request, project, act, ["name"], "tag.html", tags=tags, longest=LONGEST_TAG)


@project_view(Verb.EXPORT)
@require_http_methods(["GET", "HEAD", "POST"])
@_require_selection
def export(request: HttpRequest, project: Project) -> HttpResponse:
    def act(project: Project, chosen: ChosenInstances, given: Mapping[str, str], **about: Any) -> HttpResponse:
        study = exportable_study(project=project, name=given["study"])
        send(job_of(export=request_export(study=study, format=given["format"], instances=chosen.ids, **about)))
        return redirect("study_exports", project.slug, study.slug)

    studies = [study.slug for study in launched_studies(project)]
    given = ["study", "format"]
    return _answer(request, project, act, given, "export.html", studies=studies, formats=format_options(FORMATS))


@project_view(Verb.DESIGN)
@require_http_methods(["GET", "HEAD", "POST"])
@_require_selection
def ask(request: HttpRequest, project: Project) -> HttpResponse:
    """Create a draft from one of the project's studies, about the chosen instances only."""

    def act(project: Project, chosen: ChosenInstances, given: Mapping[str, str], **about: Any) -> HttpResponse:
        study = find_study_of(project, given["study"])
        title = given["title"] or study.title
        copy = ask_again(study=study, slug=given["name"], title=title, instances=chosen.ids, **about)
        those = format_count(chosen.count, "instance")
        messages.success(request, f"This draft asks what {study.slug} asks, about {those}. Look at it, then launch it.")
        return redirect("study", project.slug, copy.slug)

    studies = list(Study.objects.filter(project=project).order_by("-pk").values_list("slug", flat=True))
    return _answer(request, project, act, ["study", "name", "title"], "ask.html", studies=studies, most=MOST_NAMED)


@project_view(Verb.SETTLE)
@require_http_methods(["GET", "HEAD", "POST"])
@_require_selection
def take_out(request: HttpRequest, project: Project) -> HttpResponse:
    """Take the chosen instances out of all studies, or with `back` put them back; show first what follows."""
    chosen, is_back = _chosen_instances(request, project), "back" in request.GET
    change = _put_back if is_back else retire_questions.take_out_instances

    def act(project: Project, chosen: ChosenInstances, given: Mapping[str, str], **about: Any) -> HttpResponse:
        if chosen.count > MOST_TAKEN_OUT:
            raise CannotTakeOut(f"Choose at most {MOST_TAKEN_OUT} instances.")
        effects = change(project=project, instances=chosen.ids, reason=given["reason"], **about)
        messages.success(request, _say_taken_out(project, chosen, effects, is_back=is_back))
        return redirect(chosen.back)

    preview = None
    if request.method != "POST" and 0 < chosen.count <= MOST_TAKEN_OUT:
        by = signed_in_user(request)
        # The preview needs a reason that nobody has typed yet.
        foreseen = partial(change, project=project, instances=chosen.ids, reason="preview", by=by, now=timezone.now())
        preview = _preview(project, chosen, foreseen, is_back=is_back)
    asked = list(retire_questions.questions_about(project, chosen.ids)) if chosen.count == 1 else []
    others = {"is_back": is_back, "preview": preview, "asked": asked, "most": MOST_TAKEN_OUT}
    return _answer(request, project, act, ["reason"], "take_out.html", first=_first_key(chosen), **others)


def _preview(
    project: Project, chosen: ChosenInstances, change: Callable[[], RemovalEffects], *, is_back: bool
) -> dict[str, Any]:
    """Return what `change` would change, without keeping it."""
    asked = retire_questions.questions_about(project, chosen.ids).filter(taken_out_at=None)
    changed = retire_questions.last_taken_out(project, chosen.ids) if is_back else asked
    questions = len(changed)
    items, by_study = _accepted(project)
    effects, (items_after, by_study_after) = participants.foresee(lambda: (change(), _accepted(project)))
    return {
        "questions": questions,
        "effects": effects,
        "dataset": None if items is None else (items, items_after),
        "accepted": [(study, n, by_study_after[study]) for study, n in by_study.items() if n != by_study_after[study]],
    }


def _put_back(*, reason: str, **about: Any) -> RemovalEffects:
    """Put the instances back; no reason is needed."""
    return retire_questions.put_back_instances(**about)


def _accepted(project: Project) -> tuple[int | None, Mapping[str, int]]:
    """Return the number of items of the dataset, None without one, and of accepted items by study."""
    return accepted_counts([project]).get(project.pk), accepted_by_study(project)


def _first_key(chosen: ChosenInstances) -> str:
    return Instance.objects.get(pk=chosen.ids[0]).key if chosen.ids else ""


def _say_taken_out(project: Project, chosen: ChosenInstances, effects: RemovalEffects, *, is_back: bool) -> str:
    those = _first_key(chosen) if chosen.count == 1 else format_count(chosen.count, "instance")
    verb = "was" if chosen.count == 1 else "were"
    if is_back:
        return f"{those} {verb} put back. Answers that count again: {effects.answers}."
    undo = (
        f"{reverse('take_out_instances', args=[project.slug])}?{urlencode({'pick': chosen.ids, 'back': 1}, doseq=True)}"
    )
    said = f"{those} {verb} taken out of all studies. Answers that no longer count: {effects.answers}."
    return format_html('{} <a href="{}">Undo</a>', said, undo)


def _list(project: Project, search: Search) -> str:
    query = search.query()
    return f"{reverse('instances', args=[project.slug])}{f'?{query}' if query else ''}"
