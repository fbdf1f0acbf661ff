"""Questions of a study on which annotators disagree, one at a time beside their list, and their adjudication."""

from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.utils.html import format_html
from django.views.decorators.http import require_POST, require_safe

from annotation.actions.deciding import adjudication
from annotation.actions.deciding.adjudication import CannotSettle
from results.actions.cached_statistics import CachedStatistics
from results.actions.pseudonyms import name_annotators
from results.models import KeptNumbers
from results.queries.instances.disagreements import (
    CONFLICTING,
    DISAGREE,
    ORDERS,
    SETTLED,
    SHOWN,
    SORTS,
    DisagreementFilters,
    filter_counts,
    filtered_decisions,
    listed_questions,
    question_lines,
)
from results.queries.instances.instance_history import histories, shown_options
from results.queries.instances.instance_list import types_of
from results.queries.packed_numbers import unpack_ids
from results.queries.studies.overview import answers_sent
from results.queries.studies.questions import MOST_LISTED
from results.views.cached_statistics import numbers_for
from results.views.form_values import read_field
from results.views.guards import may_do, signed_in_user, study_view
from studies.models import Question, Study
from studies.permissions import Verb
from studies.rules import get_rule

PER_PAGE = 20
# Digits of a question's id in an address.
LONGEST_ID = 19


@study_view(Verb.VIEW)
@require_safe
def disagreements(request: HttpRequest, study: Study) -> HttpResponse:
    chosen = read_field(request.GET, "question")
    is_id = chosen.isdecimal() and len(chosen) <= LONGEST_ID
    question = study.questions.filter(pk=int(chosen)).first() if is_id else None
    problem = "This study has no such question." if chosen and question is None else ""
    return _page(request, study, _read_filters(request.GET), question, problem=problem, status=200)


@study_view(Verb.SETTLE)
@require_POST
def settle(request: HttpRequest, study: Study, question: int) -> HttpResponse:
    asked = get_object_or_404(Question.objects.select_related("decision__settled_by"), study=study, pk=question)
    wanted, choice, note = (
        _read_filters(request.POST),
        read_field(request.POST, "choice"),
        read_field(request.POST, "note"),
    )
    # It may leave the list, and then it has no next question there.
    following = _List.of(study, wanted).next_unsettled(asked.pk, study)
    names = {option.key: option.name for option in shown_options(asked)}
    try:
        if asked.decision.settled_choice:
            who = asked.decision.settled_by or "Somebody"
            raise CannotSettle(f"{who} has already settled this question as {names[asked.decision.settled_choice]}.")
        if not choice:
            raise CannotSettle("Choose an option to settle the question.")
        adjudication.settle(question=asked, choice=choice, by=signed_in_user(request), note=note, now=timezone.now())
    except CannotSettle as error:
        return _page(request, study, wanted, asked, problem=error.message, note=note)
    last = "" if following else " It was the last unsettled question of the list."
    settled = _address(study, DisagreementFilters(SETTLED), asked.pk)
    said = f"The question about {asked.instance.key} is settled as {names[choice]}.{last}"
    messages.success(request, format_html('{} <a href="{}">Undo</a>', said, settled))
    return redirect(_address(study, wanted, following))


@study_view(Verb.SETTLE)
@require_POST
def unsettle(request: HttpRequest, study: Study, question: int) -> HttpResponse:
    asked, wanted = get_object_or_404(Question, study=study, pk=question), _read_filters(request.POST)
    try:
        adjudication.unsettle(question=asked, by=signed_in_user(request), now=timezone.now())
    except CannotSettle as error:
        return _page(request, study, wanted, asked, problem=error.message)
    messages.success(request, f"The settlement of {asked.instance.key} was undone. Its answers decide again.")
    return redirect(_address(study, wanted, asked.pk))


@dataclass(frozen=True)
class _List:
    """The ids of the listed questions. `kept`: stored statistics that it rests on, if it does.

    has_more: whether more questions than these have the filters. different: the number of questions with different
    answers, if it was counted before.
    """

    ids: Sequence[int]
    has_more: bool
    different: int | None
    kept: CachedStatistics | None

    @classmethod
    def of(cls, study: Study, wanted: DisagreementFilters) -> "_List":
        # Comparing the answers of a large study takes seconds.
        page = KeptNumbers.Page.STUDY_QUESTIONS
        kept = numbers_for(page, study.project, study, answers=answers_sent(study))
        orders = None if kept is None else kept.numbers or {}
        different = None if orders is None else unpack_ids(orders.get(DISAGREE, ""))
        ranked = None if orders is None else unpack_ids(orders.get(SORTS.get(wanted.order, ""), ""))
        ids = listed_questions(study, wanted, different=different, ranked=ranked)
        return cls(
            ids[:MOST_LISTED],
            len(ids) > MOST_LISTED,
            None if different is None else len(different),
            kept if wanted.show == DISAGREE else None,
        )

    def next_unsettled(self, question: int, study: Study) -> int | None:
        """Return the next unsettled question after `question`, None if it is not in the list."""
        if question not in self.ids:
            return None
        settled = set(filtered_decisions(study, SETTLED).values_list("question_id", flat=True))
        after = self.ids[self.ids.index(question) + 1 :]
        return next((pk for pk in after if pk not in settled), None)


def _neighbours(ids: Sequence[int], question: int) -> tuple[int | None, int | None]:
    """Return what is before and after `question` in the list; a question outside it is before its first one."""
    here = ids.index(question) if question in ids else -1
    before = ids[here - 1] if here > 0 else None
    return before, ids[here + 1] if here + 1 < len(ids) else None


def _page(
    request: HttpRequest,
    study: Study,
    wanted: DisagreementFilters,
    question: Question | None,
    *,
    problem: str = "",
    note: str = "",
    status: int = 409,
) -> HttpResponse:
    """Show the list with `question`, or with the first one of the page of the list. status: if there is a problem."""
    name_annotators(project=study.project)
    listed = _List.of(study, wanted)
    pages = Paginator(listed.ids, PER_PAGE)
    is_listed = question is not None and question.pk in listed.ids
    number = listed.ids.index(question.pk) // PER_PAGE + 1 if question and is_listed else request.GET.get("page")
    page = pages.get_page(number)
    here = question.pk if question else next(iter(page.object_list), None)
    before, after = _neighbours(listed.ids, here) if here else (None, None)
    known = {} if listed.different is None else {DISAGREE: listed.different}
    if not (wanted.type or wanted.words or wanted.show in known):
        known[wanted.show] = len(listed.ids) + listed.has_more
    counts = filter_counts(study, known)
    # What was counted in the background was counted to its end.
    counted = set() if listed.different is None else {DISAGREE}
    uncounted = {name for name, n in counts.items() if n > MOST_LISTED} - counted
    context = {
        "study": study,
        "may": may_do(request, study.project),
        "wanted": wanted,
        "filters": [
            (name, label, min(counts[name], MOST_LISTED) if name in uncounted else counts[name], query)
            for name, label in SHOWN.items()
            for query in [_query(wanted, show=name)]
        ],
        "uncounted": uncounted,
        "has_more": listed.has_more,
        "most": MOST_LISTED,
        "types": types_of(study.project),
        "orders": ORDERS,
        "query": _query(wanted),
        "kept": listed.kept,
        "page": page,
        "lines": question_lines(list(page.object_list)),
        "asked": histories(Question.objects.filter(pk=here), project=study.project)[0] if here else None,
        "decided_in": _decided_in(study),
        "is_listed": is_listed or question is None,
        "position": listed.ids.index(here) + 1 if here in listed.ids else None,
        "previous": before and _address(study, wanted, before),
        "next": after and _address(study, wanted, after),
        "problem": problem,
        "note": note,
    }
    return render(request, "results/disagreements/list.html", context, status=status if problem else 200)


def _decided_in(study: Study) -> list[Study]:
    """Return the studies whose outcomes decide the questions of `study`; none if its own answers decide."""
    return list(study.feeds.order_by("pk")) if get_rule(study.rule).needs.downstream_outcome else []


def _read_filters(given: QueryDict) -> DisagreementFilters:
    wanted = DisagreementFilters(**{name: read_field(given, name) for name in DisagreementFilters.__dataclass_fields__})
    show = wanted.show if wanted.show in SHOWN else CONFLICTING
    # Older addresses have only a part of a key.
    words = wanted.words or read_field(given, "key")
    return DisagreementFilters(show, wanted.type, words, wanted.order if wanted.order in ORDERS else "")


def _query(wanted: DisagreementFilters, **changed: Any) -> str:
    values: Mapping[str, Any] = {**asdict(wanted), **changed}
    return urlencode({name: value for name, value in values.items() if value})


def _address(study: Study, wanted: DisagreementFilters, question: int | None) -> str:
    page = reverse("study_disagreements", args=[study.project.slug, study.slug])
    return f"{page}?{_query(wanted, question=question)}"
