"""Payments due for a study, per person."""

from collections import Counter, defaultdict
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from decimal import Decimal
from typing import Any

from django.core.paginator import Page, Paginator
from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from analytics.work.pay import projected_cost
from annotation.models import Removal, Response, Session, SessionState
from annotation.models.responses import counts
from annotation.models.sessions import has_unlikely_times
from annotation.session_pay import PayItem, SessionOwed, compute_pay, total
from annotation.simulation_ids import is_simulated
from results.models import Pseudonym
from results.sentences import unlikely_times
from studies.models import Project, Study
from studies.wording import format_count, format_money

PER_PAGE = 50


@dataclass(frozen=True)
class SessionLine:
    """A session: state, number of stored answers (`answers`), number that count, number to checks, amount due.

    `evidence`: sentences on implausible times, "" if there is none or a researcher accepted them.
    """

    pk: int
    annotator: int
    state: SessionState
    answers: int
    counted: int
    checks: int
    owed: SessionOwed
    evidence: str = ""


@dataclass(frozen=True)
class OwedItem:
    """An amount due for a session (by id): for `times` sessions, answers or waits."""

    session: int
    item: str
    times: int
    amount: Decimal
    why: str


@dataclass(frozen=True)
class PersonOwed:
    """The amount due to one person for a study, in its currency, with reasons.

    answers: all stored; `counted` of them count, the others are kept aside. endings: end state of sessions -> number.
    to_decide: further sessions that a researcher has to decide. simulated: a program.
    """

    name: str
    sessions: int
    answers: int
    counted: int
    endings: Mapping[str, int]
    currency: str
    for_sessions: Decimal
    for_answers: Decimal
    for_waiting: Decimal
    amount: Decimal
    to_decide: int
    simulated: bool
    why: str
    lines: Sequence[SessionLine]

    @property
    def kept_aside(self) -> int:
        return self.answers - self.counted

    @property
    def items(self) -> Sequence["OwedItem"]:
        """Return the items that add up to `amount`: the rows for a ledger of payments."""
        return [
            OwedItem(line.pk, each.item.value, each.times, each.amount, line.owed.why)
            for line in self.lines
            for each in line.owed.items
        ]


def session_lines(study: Study, people: Collection[int] | None = None) -> list[SessionLine]:
    """Return the amount due for each session of `study`, of all or these annotators, in order of arrival."""
    sessions = Session.objects.filter(study=study)
    answers = Response.objects.filter(study=study, is_current=True).order_by()
    if people is not None:
        sessions, answers = sessions.filter(annotator__in=people), answers.filter(annotator__in=people)
    by_session = answers.values_list("session_id")
    numbers = by_session.annotate(
        all=Count("pk"), counted=Count("pk", filter=counts()), checks=Count("pk", filter=Q(is_check=True))
    )
    given = {session: (stored, counted, checks) for session, stored, counted, checks in numbers}
    lines = []
    columns = ("pk", "annotator_id", "state", "time_evidence", "times_accepted_at")
    for pk, annotator, state, found, accepted in sessions.order_by("arrived_at", "pk").values_list(*columns):
        all_answers, counted, checks = given.get(pk, (0, 0, 0))
        evidence = unlikely_times(found) if found and accepted is None else ""
        owed = compute_pay(state, all_answers, study.design, unlikely_times=bool(evidence))
        lines.append(SessionLine(pk, annotator, SessionState(state), all_answers, counted, checks, owed, evidence))
    return lines


def owed_by_person(project: Project, people: Collection[int]) -> dict[int, dict[str, Decimal]]:
    """Return the id of each of these annotators -> what is due to them over all studies of `project`, by currency."""
    found: dict[int, dict[str, Decimal]] = {person: defaultdict(Decimal) for person in people}
    studies = Study.objects.filter(project=project, sessions__annotator__in=people).distinct().defer("source")
    for study in studies:
        for line in session_lines(study, people):
            found[line.annotator][study.design.pay.currency] += line.owed.amount()
    return {person: {currency: due for currency, due in owed.items() if due} for person, owed in found.items()}


@dataclass(frozen=True)
class OwedSums:
    """The cost of a study: pay of sessions, including waiting, and the number of paid answers.

    paid_each: pay of a finished session itself -> number of such sessions.
    """

    for_sessions: Decimal
    answers_paid: int
    paid_each: Mapping[Decimal, int]

    def cost(self, per_answer: Decimal) -> Decimal:
        """Return all of it, without fees."""
        return self.for_sessions + projected_cost(per_answer, self.answers_paid)


def owed_sums(study: Study) -> OwedSums:
    """Return the total due for `study`."""
    return owed_by_study([study])[study.pk]


def owed_by_study(studies: Sequence[Study]) -> dict[int, OwedSums]:
    """Return the id of each study -> the total due for it."""
    answers = paid_answers(*studies)
    # Sessions with implausible times are due nothing until a researcher decides.
    sessions = Session.objects.filter(study__in=studies).exclude(has_unlikely_times()).order_by()
    states: dict[int, list[tuple[int, str]]] = {study.pk: [] for study in studies}
    for pk, study_pk, state in sessions.values_list("pk", "study_id", "state"):
        states[study_pk].append((pk, state))
    return {study.pk: _owed_sums(study, states[study.pk], answers) for study in studies}


def _owed_sums(study: Study, states: Sequence[tuple[int, str]], answers: Mapping[int, int]) -> OwedSums:
    owed = [(state, compute_pay(state, answers.get(pk, 0), study.design)) for pk, state in states]
    each = Counter(of.amount(PayItem.SESSION) for state, of in owed if state == SessionState.FINISHED)
    paid = sum(answers.get(pk, 0) for pk, _ in states) if study.design.pay.per_answer else 0
    return OwedSums(total((of for _, of in owed), PayItem.SESSION, PayItem.WAITING), paid, each)


def paid_answers(*studies: Study) -> dict[int, int]:
    """Return the number of stored answers of each session of `studies`, where its pay depends on it."""
    by_answers = [study for study in studies if study.design.pay.per_answer or study.design.pay.least_answers > 1]
    answers = Response.objects.filter(study__in=by_answers, is_current=True).order_by()
    return dict(answers.values_list("session_id").annotate(n=Count("pk")))


@dataclass(frozen=True)
class Debt:
    """What a study owes to people, not to programs: an amount in its currency, and sessions to decide about."""

    study: Study
    people: int
    amount: Decimal
    to_decide: int

    def __str__(self) -> str:
        people = "1 person" if self.people == 1 else f"{self.people:,} people"
        owed = [f"{format_money(self.amount, self.study.design.pay.currency)} to {people}"]
        decide = [f"the pay of {format_count(self.to_decide, 'session')} that you decide about"]
        parts = (owed if self.amount else []) + (decide if self.to_decide else [])
        return f"{self.study.slug}: {' and '.join(parts)}"


def debts(project: Project) -> list[Debt]:
    """Return what each launched study of `project` owes to people; whether it was paid is not recorded."""
    found = []
    for study in project.studies.filter(launched_at__isnull=False).order_by("launched_at", "pk"):
        programs = set(Session.objects.filter(is_simulated(), study=study).values_list("pk", flat=True))
        lines = [line for line in session_lines(study) if line.pk not in programs]
        due = [line for line in lines if line.owed.amount()]
        undecided = sum(line.owed.to_decide for line in lines)
        if due or undecided:
            amount = total(line.owed for line in due)
            found.append(Debt(study, len({line.annotator for line in due}), amount, undecided))
    return found


def owed_page(study: Study, *, page: Any) -> Page[Any]:
    """Return one page of the people of `study` with the amounts due to them, by name."""
    found: Page[Any] = Paginator(study_pseudonyms(study), PER_PAGE).get_page(page)
    found.object_list = amounts_due(study, list(found.object_list))
    return found


def all_amounts_due(study: Study) -> list[PersonOwed]:
    """Return the amounts due to all people of `study`, by name."""
    return _amounts_due(study, list(study_pseudonyms(study)), session_lines(study))


def study_pseudonyms(study: Study) -> QuerySet[Pseudonym]:
    """Return the names of all people of `study`, in order."""
    came = Session.objects.filter(study=study, annotator=OuterRef("annotator_id"))
    return Pseudonym.objects.filter(Exists(came), project=study.project_id).order_by("name")


def amounts_due(study: Study, named: Sequence[Pseudonym]) -> list[PersonOwed]:
    """Return the amounts due to each of `named`, a page of people, for `study`."""
    return _amounts_due(study, named, session_lines(study, [each.annotator_id for each in named]))


def _amounts_due(study: Study, named: Sequence[Pseudonym], lines: Sequence[SessionLine]) -> list[PersonOwed]:
    theirs: dict[int, list[SessionLine]] = defaultdict(list)
    for line in lines:
        theirs[line.annotator].append(line)
    removals = Removal.objects.in_force().filter(project=study.project_id).order_by("why")
    # Of two, the last prevails: the person's own wish before a researcher's.
    removed = dict(removals.values_list("annotator_id", "why"))
    programs = Session.objects.filter(is_simulated(), study=study)
    simulated = set(programs.order_by().values_list("annotator_id", flat=True).distinct())
    people = [(each.name, each.annotator_id) for each in named]
    return [_person(name, theirs[pk], study, removed.get(pk, ""), simulated=pk in simulated) for name, pk in people]


def _person(name: str, lines: Sequence[SessionLine], study: Study, removed: str, *, simulated: bool) -> PersonOwed:
    owed = [line.owed for line in lines]
    return PersonOwed(
        name=name,
        sessions=len(lines),
        answers=sum(line.answers for line in lines),
        counted=sum(line.counted for line in lines),
        endings=dict(Counter(line.state.label for line in lines)),
        currency=study.design.pay.currency,
        for_sessions=total(owed, PayItem.SESSION),
        for_answers=total(owed, PayItem.ANSWERS),
        for_waiting=total(owed, PayItem.WAITING),
        amount=total(owed),
        to_decide=sum(each.to_decide for each in owed),
        simulated=simulated,
        why=_why(lines, study, removed),
        lines=lines,
    )


_REMOVED = {
    "withdrawn": "withdrew; what was earned before stays owed",
    "excluded": "excluded by a researcher; owed unless the platform lets you reject the submission",
}


def _why(lines: Sequence[SessionLine], study: Study, removed: str) -> str:
    """Return one sentence with the reasons for the amount, each once."""
    evidence = [f" ({line.evidence.rstrip('.')})" if line.evidence else "" for line in lines]
    reasons = Counter(f"{line.owed.why}{why}" for line, why in zip(lines, evidence, strict=True))
    told = [reason if times == 1 else f"{times} times: {reason}" for reason, times in reasons.items()]
    checks = sum(line.checks for line in lines)
    aside = sum(line.answers - line.counted for line in lines) - checks
    if not removed:
        paid = "and paid" if study.design.pay.per_answer else "and not paid by the answer"
        found = (("kept aside", aside), ("given to checks", checks))
        told += [f"{number} of the answers {what} {paid}" for what, number in found if number]
    told += [_REMOVED[removed]] if removed else []
    sentence = "; ".join(told)
    return f"{sentence[:1].upper()}{sentence[1:]}."
