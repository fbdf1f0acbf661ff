"""Participants of a study or of a whole project: name, number of answers, and whether they count."""

from collections import Counter
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass, field
from decimal import Decimal
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from analytics.flags import RULES, get_flag_rule
from annotation.models import Removal, Response, Session, SessionFlag, SessionState
from annotation.models.responses import counts
from results.models import Pseudonym
from results.queries.people.payments_due import owed_by_person
from studies.models import Project, Study

PER_PAGE = 50


@dataclass(frozen=True)
class PersonLine:
    """A participant.

    answers: given; counted: those that count; slots: those that no longer count and still have a slot. `removal`: why.
    with_right: those that count, to questions with a known right answer.
    `studies`: the studies of their sessions, in order of arrival. `flags`: what is unusual about these sessions.
    sessions: how many; early: how many of them they stopped early. owed: by currency, on the
    page of a project.
    """

    name: str
    answers: int
    counted: int
    slots: int
    removal: Removal | None
    studies: Sequence[str]
    flags: Sequence[str] = ()
    sessions: int = 0
    early: int = 0
    with_right: int = 0
    owed: Mapping[str, Decimal] = field(default_factory=dict)


def people_lines(
    project: Project, *, study: Study | None = None, who: str, page: Any, order: Callable[[str], Any] | None = None
) -> Page[PersonLine]:
    """Return one page of the participants of `project` or of one `study`, or only the one called `who`.

    Those whose answers do not count come last. order: what the others are sorted by, from their name; without it, the
    name. All have names (`results.actions.pseudonyms`).
    """
    studies = Study.objects.filter(project=project) if study is None else Study.objects.filter(pk=study.pk)
    named = Pseudonym.objects.filter(project=project)
    named = named.filter(Exists(Session.objects.filter(study__in=studies, annotator=OuterRef("annotator_id"))))
    if who:
        named = named.filter(name=who)
    removed = Removal.objects.in_force().filter(project=project, annotator=OuterRef("annotator_id"))
    ordered: Any = named.annotate(removed=Exists(removed)).order_by("removed", "name")
    if order is not None:
        by_key = order
        ordered = sorted(ordered, key=lambda each: (each.removed, by_key(each.name)))
    found: Page[Any] = Paginator(ordered, PER_PAGE).get_page(page)
    shown = list(found.object_list)
    owed = owed_by_person(project, [each.annotator_id for each in shown]) if study is None else {}
    found.object_list = _lines(project, studies, shown, owed)
    return found


def count_removed(project: Project) -> int:
    """Return how many people of `project` withdrew or were excluded."""
    return Removal.objects.in_force().filter(project=project).order_by().values("annotator").distinct().count()


def _lines(
    project: Project, studies: QuerySet[Study], named: Sequence[Pseudonym], owed: Mapping[int, Mapping[str, Decimal]]
) -> list[PersonLine]:
    people = [each.annotator_id for each in named]
    mine = Response.objects.filter(study__in=studies, annotator__in=people, is_current=True, is_check=False).order_by()
    numbers = mine.values_list("annotator_id").annotate(
        answers=Count("pk"),
        counted=Count("pk", filter=counts()),
        left=Count("pk", filter=Q(slot__isnull=False) & ~Q(left_out="")),
        with_right=Count("pk", filter=counts() & (~Q(question__right="") | Q(question__right_answer__isnull=False))),
    )
    given = {annotator: (answers, counted, left) for annotator, answers, counted, left, _ in numbers}
    with_right = {annotator: known for annotator, *_, known in numbers}
    took_part: dict[int, dict[str, None]] = {}
    sessions, early = Counter[int](), Counter[int]()
    theirs = Session.objects.filter(study__in=studies, annotator__in=people)
    arrived = theirs.order_by("arrived_at", "pk").values_list("annotator_id", "study__slug", "state")
    for annotator, slug, state in arrived:
        took_part.setdefault(annotator, {})[slug] = None
        sessions[annotator] += 1
        early[annotator] += state == SessionState.GIVEN_UP
    why, flags = removals_of(people, project=project), flags_of(theirs)
    return [
        PersonLine(
            each.name,
            *given.get(each.annotator_id, (0, 0, 0)),
            why.get(each.annotator_id),
            list(took_part.get(each.annotator_id, ())),
            flags.get(each.annotator_id, ()),
            sessions[each.annotator_id],
            early[each.annotator_id],
            with_right=with_right.get(each.annotator_id, 0),
            owed=owed.get(each.annotator_id, {}),
        )
        for each in named
    ]


def person_line(person: Pseudonym) -> PersonLine:
    """Return the line of `person` over all studies of their project."""
    return _lines(person.project, Study.objects.filter(project=person.project_id), [person], {})[0]


def named_flags(study: Study) -> dict[str, list[str]]:
    """Return by pseudonym what is unusual about the sessions of the annotators of `study`."""
    flags = flags_of(Session.objects.filter(study=study))
    named = Pseudonym.objects.filter(project=study.project_id, annotator__in=flags)
    return {name: flags[annotator] for annotator, name in named.values_list("annotator_id", "name")}


def flags_of(sessions: QuerySet[Session]) -> dict[int, list[str]]:
    """Return for each annotator of `sessions` with anything unusual in them what it is, in words.

    These are the flags in force, by title, and how sessions ended that were not finished.
    """
    found: dict[int, dict[str, None]] = {}
    flagged = SessionFlag.objects.in_force().filter(session__in=sessions.order_by(), rule__in=RULES)
    for annotator, rule in flagged.order_by("rule").values_list("session__annotator", "rule").distinct():
        found.setdefault(annotator, {})[get_flag_rule(rule).title] = None
    ended = sessions.filter(state__in=(SessionState.LEFT_OUT, SessionState.FAILED_CHECKS)).order_by("state")
    for annotator, state in ended.values_list("annotator", "state").distinct():
        found.setdefault(annotator, {})[str(SessionState(state).label)] = None
    return {annotator: list(words) for annotator, words in found.items()}


def removals_of(people: Collection[int], *, project: Project) -> dict[int, Removal]:
    """Return for each of these annotators whose answers do not count in `project` the reason."""
    # The person's own wish takes precedence over a researcher's.
    removals = Removal.objects.in_force().filter(project=project, annotator__in=people).order_by("why")
    return {each.annotator_id: each for each in removals}
