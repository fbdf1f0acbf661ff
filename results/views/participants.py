"""The people of a project, the page of one person, and exclusions, inclusions and withdrawals after a preview."""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from decimal import Decimal
from typing import Any
from urllib.parse import urlencode

from django.contrib import messages
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from annotation.actions.removing.removals import CannotRemove, RemovalEffects
from annotation.actions.removing.reopen_places import ReopenedPlaces
from annotation.models import Removal, Session
from annotation.recruitment import invite
from annotation.recruitment.prolific import entry as prolific
from results import tasks
from results.actions import participants
from results.actions.cached_statistics import compute_now
from results.actions.participant_changes import ACTS
from results.actions.participants import NamedAnnotator
from results.actions.personal_data import personal_data
from results.actions.pseudonyms import name_annotators
from results.errors import UnknownPerson
from results.models import KeptNumbers, Pseudonym
from results.queries.people.checks import checks_by_study
from results.queries.people.participants import count_removed, people_lines, person_line
from results.queries.people.person_page import (
    ANSWERS,
    PersonSession,
    answers_of,
    count_listed,
    owed_by_currency,
    person_by_study,
    sessions_of,
)
from results.queries.people.person_records import records_of
from results.queries.studies.events import events_about_people
from results.queries.studies.overview import ToCome, accepted_by_study, accepted_counts, answers_sent, count_to_come
from results.queries.studies.simulated_answers import all_simulated, simulated_in_project, simulated_studies
from results.reports.base import Column, Table, Undefined
from results.reports.page_tables import PageTable, page_table, without_undefined
from results.reports.sections.annotators import RIGHT_RANGE, person_table
from results.reports.sections.checks import checks_table
from results.reports.sections.participants import PersonNumbers, people_table
from results.reports.simulated_answers import notice_of
from results.sentences import effect_counts, say_effects
from results.views.cached_statistics import numbers_for
from results.views.form_values import read_field
from results.views.guards import may_do, project_view, signed_in_user
from studies.kinds import get_kind
from studies.models import Project, Study
from studies.permissions import Verb

# The value that opens all answers, which are closed at first.
ALL_OPEN = "all"
# Changes after which others can be asked the same questions.
REPLACEABLE = frozenset({"withdraw", "exclude"})
PROVIDERS = {prolific.PROVIDER: "Prolific", invite.PROVIDER: "Invitation (the name in the link)"}


@dataclass(frozen=True)
class Change:
    """A change to whether a person's answers count.

    what: describes it beforehand. done: begins the message afterwards, which starts with the person's name.
    """

    button: str
    what: str
    done: str
    wants_reason: bool = False
    dangerous: bool = False


CHANGES = {
    "withdraw": Change(
        "Withdraw",
        "Use this when an annotator withdraws consent. Their answers no longer count and are left out of new files. "
        "Files and releases that contain them are no longer available. Their open session ends, and they cannot take "
        "part in this project again. You cannot undo this.",
        " has withdrawn.",
        dangerous=True,
    ),
    "exclude": Change(
        "Exclude",
        "Their answers are kept, but do not count in the project until you include them again. Their open session "
        "ends, and they cannot take part in this project again. Their pay does not change: a finished session keeps "
        "its completion code.",
        " is excluded.",
        wants_reason=True,
        dangerous=True,
    ),
    "include": Change(
        "Include again",
        "Their answers count again, except those that somebody else has been asked for since. Ended sessions stay "
        "ended.",
        " is included again.",
    ),
    "reopen": Change(
        "Ask other people these questions again",
        "Other people are asked these questions, and are paid for it. Once somebody else is asked, the answer of this "
        "annotator cannot count again.",
        ":",
    ),
}


# Makes changes with a reason, in one transaction; returns the effects of each.
Act = Callable[..., Mapping[str, RemovalEffects | ReopenedPlaces]]


@dataclass
class Foreseen:
    """What would follow from a change.

    effects: of the change and, where others can be asked, of asking them. to_come: what is still to come before, and
    after each of these. accepted: study, accepted items now and afterwards. dataset: its items now and afterwards, None
    without a dataset.
    """

    effects: dict[str, RemovalEffects | ReopenedPlaces] = field(default_factory=dict)
    to_come: list[ToCome] = field(default_factory=list)
    accepted: list[tuple[str, int, int]] = field(default_factory=list)
    dataset: tuple[int, int | None] | None = None


@project_view(Verb.REMOVE_PEOPLE)
@require_http_methods(["GET", "HEAD", "POST"])
def change(request: HttpRequest, project: Project, name: str, change: str) -> HttpResponse:
    """Show the effects of the change in numbers, and make it when confirmed."""
    person, doing, by = find_person(project, name), CHANGES[change], signed_in_user(request)
    reason = read_field(request.POST, "reason")
    # A preview is asked for with the form, which keeps what was typed out of addresses.
    confirmed = request.method == "POST" and "preview" not in request.POST
    # Other people can be asked these questions at once.
    can_replace = change in REPLACEABLE
    replaces = can_replace and "replace" in (request.POST if request.method == "POST" else request.GET)

    def act(why: str, *acts: str) -> Mapping[str, RemovalEffects | ReopenedPlaces]:
        with transaction.atomic():
            return {name: ACTS[name](person, project, why, by, timezone.now()) for name in acts}

    problem = ""
    if confirmed:
        try:
            done = act(reason, change, *(["reopen"] if replaces else []))
        except CannotRemove as error:
            problem = error.message
        else:
            if change == "withdraw":
                tasks.discard_files.delay_on_commit()
            tasks.flag_new_answers.delay_on_commit()
            effects_said = " ".join(say_effects(name, each) for name, each in done.items())
            messages.success(request, f"{person.name}{doing.done} {effects_said}")
            return redirect("person", project.slug, person.name)
    foreseen = Foreseen()
    try:
        _foresee(foreseen, project, change, act)
    except CannotRemove as error:
        problem = problem or error.message
    context = {
        "project": project,
        "person": person,
        "change": doing,
        "effects": foreseen.effects.get(change),
        "follows": effect_counts(change, foreseen.effects[change]) if foreseen.effects else (),
        "to_come": _compare(foreseen.to_come[0], foreseen.to_come[2 if replaces else 1]) if foreseen.effects else None,
        "accepted": foreseen.accepted,
        "dataset": foreseen.dataset,
        "includes": change == "include",
        "reopened": foreseen.effects.get("reopen"),
        "can_replace": can_replace,
        "replaces": replaces,
        "problem": problem,
        "reason": reason,
    }
    page = "results/people/change.html#follows" if request.headers.get("HX-Request") else "results/people/change.html"
    return render(request, page, context, status=409 if problem else 200)


def _foresee(foreseen: Foreseen, project: Project, change: str, act: Act) -> None:
    """Make a change and take it back, noting what follows from it. Raises CannotRemove.

    Whether others are asked the same is counted in any case, chosen or not.
    """
    foreseen.to_come.append(count_to_come(project))

    def afterwards() -> tuple[int | None, Mapping[str, int]]:
        for each in (change, *(["reopen"] if change in REPLACEABLE else [])):
            # A reason is needed, and nobody has typed one yet.
            foreseen.effects |= act("foreseen", each)
            foreseen.to_come.append(count_to_come(project))
        return (None, {}) if change == "reopen" else _accepted(project)

    items, by_study = (None, {}) if change == "reopen" else _accepted(project)
    items_after, by_study_after = participants.foresee(afterwards)
    foreseen.dataset = None if items is None else (items, items_after)
    foreseen.accepted = [(study, n, by_study_after[study]) for study, n in by_study.items()]


def _compare(before: ToCome, after: ToCome) -> Mapping[str, Any]:
    """Return the answers to come now and afterwards, and for each currency their cost."""
    costs = [
        (currency, before.cost.get(currency, Decimal(0)), after.cost.get(currency, Decimal(0)))
        for currency in sorted(before.cost.keys() | after.cost.keys())
    ]
    return {"now": before.answers, "afterwards": after.answers, "costs": costs}


def _accepted(project: Project) -> tuple[int | None, Mapping[str, int]]:
    """Return the number of items of the dataset, None without one, and of accepted items by study."""
    return accepted_counts([project]).get(project.pk), accepted_by_study(project)


PEOPLE = KeptNumbers.Page.PROJECT_PEOPLE
# Columns of a person's table that come first, so that no window hides them.
FIRST_COLUMNS = (
    *("Study", "Kind", "State", "Answers", "Agreement with others", "Agreement, 95 % interval", "Right", RIGHT_RANGE),
    *("Median seconds", "Position bias, p", "Flags"),
)
# The columns that name a row, in its second table too.
ROW_COLUMNS = ("Study", "Kind")


def _upper(share: float | None, limits: Sequence[float] | None) -> float | None:
    """Return the upper end of an interval, since few answers are no evidence of a low share; 1 without an interval."""
    return None if share is None else limits[1] if limits else 1


# In addresses -> as displayed, and what people are sorted by. Those without counted answers come last.
ORDERS: Mapping[str, tuple[str, Callable[[PersonNumbers], float | None]]] = {
    "right": ("Fewest right first", lambda numbers: _upper(numbers.right, numbers.right_range)),
    "agreement": ("Lowest agreement first", lambda numbers: _upper(numbers.agreement, numbers.agreement_range)),
    "fastest": ("Fastest first", lambda numbers: numbers.seconds),
    "answers": ("Most answers first", lambda numbers: -numbers.answers),
}
# Column that they are sorted by, if it is the upper end of an interval.
AT_MOST = {"agreement": "Agreement at most", "right": "Right at most"}


@project_view(Verb.VIEW)
@require_safe
def people(request: HttpRequest, project: Project) -> HttpResponse:
    """Show everybody who took part in the project, under their pseudonyms, with the numbers that compare them."""
    name_annotators(project=project)
    # Reading all answers takes long before a study counts as large.
    kept = numbers_for(PEOPLE, project, answers=4 * answers_sent(project))
    stored = kept or compute_now(page=PEOPLE, project=project, now=timezone.now())
    numbers = {name: PersonNumbers(**each) for name, each in (stored.numbers or {}).items()}
    who, asked = read_field(request.GET, "who"), request.GET.get("order", "")
    # Errors first where right answers are known: people may rightly disagree, in preferences for example.
    first_order = "right" if any(each.right is not None for each in numbers.values()) else "agreement"
    order = asked if asked in ORDERS else first_order
    by = ORDERS[order][1]

    def sort_key(name: str) -> tuple[bool, bool, float, str]:
        number = by(numbers[name]) if name in numbers else None
        return name not in numbers, number is None, number or 0, name

    lines = people_lines(project, who=who, page=request.GET.get("page"), order=sort_key)
    table = page_table(people_table((line.name, numbers.get(line.name)) for line in lines.object_list))
    flags = [line.flags for line in lines.object_list]
    has_limit = order in AT_MOST
    limits = [by(numbers[each.name]) if has_limit and each.name in numbers else None for each in lines.object_list]
    context = {
        "project": project,
        "kept": kept,
        "people": lines,
        "rows": [
            (line, cells[1:], their_flags, None if limit is None else 100 * limit)
            for line, cells, their_flags, limit in zip(lines.object_list, table.cells, flags, limits, strict=True)
        ],
        "has_flags": any(flags) or any(line.removal for line in lines.object_list),
        "notes": table.notes,
        "orders": {name: title for name, (title, _) in ORDERS.items() if name != first_order},
        "first_order": ORDERS[first_order][0],
        "order": "" if order == first_order else order,
        "at_most": AT_MOST.get(order, ""),
        "by_agreement": order == "agreement",
        "query": urlencode({"order": order}) if order != first_order else "",
        "who": who,
        "removed": 0 if who else count_removed(project),
        "may": may_do(request, project),
        "events": events_about_people(project),
        "simulated": simulated_in_project(project),
        "all_simulated": all_simulated(Session.objects.filter(study__project=project)),
    }
    return render(request, "results/people/project.html", context)


@project_view(Verb.VIEW)
@require_safe
def person(request: HttpRequest, project: Project, name: str) -> HttpResponse:
    """Show one person: sessions, numbers by study, and every answer as it was shown."""
    name_annotators(project=project)
    found = Pseudonym.objects.select_related("project").filter(project=project, name=name).first()
    if found is None:
        return render(request, "results/people/unknown.html", {"project": project, "name": name}, status=404)
    sessions = sessions_of(found)
    studies = list({each.session.study_id: each.session.study for each in reversed(sessions)}.values())
    study = next((each for each in studies if each.slug == request.GET.get("study")), None)
    which = request.GET.get("answers", "")
    which = which if which in ANSWERS else ""
    all_open = request.GET.get("open") == ALL_OPEN
    filters = {
        "study": study.slug if study else "",
        "answers": which,
        "open": ALL_OPEN if all_open else "",
    }
    page = request.GET.get("page")
    table = person_table(found.name, person_by_study(found, studies))
    line = person_line(found)
    withdrew = line.removal is not None and line.removal.why == Removal.Why.WITHDRAWN
    checks = checks_table("Study", checks_by_study(found))
    answers = answers_of(found, study=study, which=which, page=page)
    context = {
        "project": project,
        "line": line,
        "records": records_of(found, [each.session for each in sessions], withdrew=withdrew),
        "sessions": sessions,
        "owed": owed_by_currency(sessions),
        "all_simulated": all_simulated(Session.objects.filter(study__project=project, annotator=found.annotator_id)),
        "tables": [
            *(_person_tables(_most_important_first(_with_kind_titles(table), _states(sessions))) if table.rows else []),
            *([page_table(checks)] if checks.rows else []),
        ],
        "answers": answers,
        "listed_answers": count_listed(answers),
        "studies": [each.slug for each in studies],
        "study_chosen": filters["study"],
        "which_answers": ANSWERS,
        "which_chosen": which,
        "all_open": all_open,
        "query": urlencode({name: value for name, value in filters.items() if value}),
        "simulated": notice_of(simulated_studies(studies)),
        "may": may_do(request, project),
    }
    return render(request, "results/people/person.html", context)


def _states(sessions: Sequence[PersonSession]) -> dict[str, str]:
    """Return study -> state of the person's latest session there, in words."""
    return {each.session.study.slug: each.session.get_state_display() for each in reversed(sessions)}


def _most_important_first(table: Table, states: Mapping[str, str]) -> Table:
    """Return `table` with the state of each study's session, and without columns that are empty in every row."""
    columns = [*table.columns, Column("State")]
    rows = [(*row, states.get(str(row[0]))) for row in table.rows]
    table = without_undefined(replace(table, columns=columns, rows=rows))
    kept = [
        index
        for index in range(len(table.columns))
        if any(not (row[index] is None or isinstance(row[index], Undefined)) for row in table.rows)
    ]
    places = {title: place for place, title in enumerate(FIRST_COLUMNS)}
    kept.sort(key=lambda index: places.get(table.columns[index].title, len(places)))
    return _with_columns(table, kept)


def _with_kind_titles(table: Table) -> Table:
    """Return `table` with the title of each kind in place of its name."""
    kinds = {index for index, column in enumerate(table.columns) if column.title == "Kind"}
    rows = [
        tuple(get_kind(str(cell)).title if index in kinds else cell for index, cell in enumerate(row))
        for row in table.rows
    ]
    return replace(table, rows=rows)


def _with_columns(table: Table, kept: Sequence[int]) -> Table:
    return replace(
        table,
        columns=[table.columns[index] for index in kept],
        rows=[tuple(row[index] for index in kept) for row in table.rows],
    )


def _person_tables(table: Table) -> list[PageTable]:
    """Return `table` for a page: the columns of `FIRST_COLUMNS`, and the others in a second table that fits too."""
    first: list[int] = []
    others: list[int] = []
    names: list[int] = []
    for index, column in enumerate(table.columns):
        (first if column.title in FIRST_COLUMNS else others).append(index)
        if column.title in ROW_COLUMNS:
            names.append(index)
    more = replace(table, name=f"{table.name}-more", title="More numbers by study", notes=[])
    tables = [_with_columns(table, first), *([_with_columns(more, [*names, *others])] if others else [])]
    return [page_table(each) for each in tables]


def find_person(project: Project, name: str) -> NamedAnnotator:
    """Return the annotator called `name` in `project`. Raises Http404."""
    try:
        return participants.find_person(project=project, name=name)
    except UnknownPerson as error:
        raise Http404 from error


@project_view(Verb.IDENTIFY_PEOPLE)
@require_safe
def data(request: HttpRequest, project: Project, name: str) -> HttpResponse:
    """Return all that the project stores about one person, to give to them when they ask for it."""
    annotator, now = find_person(project, name).annotator, timezone.now()
    found = personal_data(annotator=annotator, project=project, by=signed_in_user(request), now=now)
    return JsonResponse(
        found,
        json_dumps_params={"indent": 2, "ensure_ascii": False},
        headers={"Content-Disposition": f'attachment; filename="{project.slug}-{name}-data.json"'},
    )


@project_view(Verb.IDENTIFY_PEOPLE)
@require_POST
def find(request: HttpRequest, project: Project) -> HttpResponse:
    """Redirect an owner from a provider's id, which no address contains, to the person's pseudonym."""
    provider_id, asked = read_field(request.POST, "provider_id"), read_field(request.POST, "study")
    provider = request.POST.get("provider", "")
    try:
        if provider not in PROVIDERS:
            raise UnknownPerson(f"Choose where they came from: {', '.join(PROVIDERS.values())}.")
        person = participants.identify_person(project=project, provider=provider, provider_id=provider_id)
    except UnknownPerson as error:
        messages.error(request, str(error))
        study = Study.objects.filter(project=project, slug=asked).first()
        return redirect("study_annotators", project.slug, study.slug) if study else redirect("project", project.slug)
    return redirect("person", project.slug, person.name)
