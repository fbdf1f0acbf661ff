"""Flagged sessions of a project: their list, strongest first, and what is known about the rules that flag."""

from collections import defaultdict
from collections.abc import Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass
from datetime import datetime
from functools import cache
from typing import Any

from django.db.models import Count, Exists, OuterRef, Q, QuerySet

from analytics.flags import RULES, get_flag_rule, measured_rule
from annotation.models import Removal, Report, Session, SessionFlag
from annotation.models.session_flags import SessionFlagQuerySet
from results.models import Pseudonym
from studies.models import Project

# In addresses -> as displayed.
SHOWN = {"": "To review", "reviewed": "Reviewed", "all": "All"}
# The precision that a rule is taken to have where nobody has measured it.
UNMEASURED = 0.5


@dataclass(frozen=True)
class FlagFilters:
    """Which sessions are listed. study: slug, "" for all; rule: name, "" for all; show: a key of SHOWN."""

    study: str = ""
    rule: str = ""
    show: str = ""


@dataclass(frozen=True)
class RuleRecord:
    """What is known about a rule. measured: the lower limit of its precision on simulated people, None if
    not measured.

    upheld, reviewed: numbers of its flags in the project.
    """

    title: str
    misses: str
    measured: float | None
    upheld: int
    reviewed: int

    @property
    def percent(self) -> int | None:
        return None if self.measured is None else round(100 * self.measured)


@dataclass(frozen=True)
class FlagLine:
    """A flag with its evidence in a sentence."""

    flag: SessionFlag
    sentence: str
    rule: RuleRecord

    @property
    def is_open(self) -> bool:
        """Whether it is to review."""
        return not self.flag.verdict and self.flag.cleared_at is None


@dataclass(frozen=True)
class FlaggedSession:
    """A session with its flags, and the pseudonym of its annotator. excluded: their answers do not count."""

    session: Session
    name: str
    flags: Sequence[FlagLine]
    excluded: bool

    @property
    def open_flags(self) -> Sequence[FlagLine]:
        return [line for line in self.flags if line.is_open]

    @property
    def reviewed_flags(self) -> Sequence[FlagLine]:
        return [line for line in self.flags if line.flag.verdict]


@cache
def _measurements() -> Mapping[str, float]:
    """Return rule -> the lower limit of its measured precision, of rules that flagged anybody."""
    measured = {name: measured_rule(name) for name in RULES}
    return {name: each.precision_at_least for name, each in measured.items() if each.precision is not None}


def _without_withdrawn() -> SessionFlagQuerySet:
    withdrawn = Removal.objects.in_force().withdrawals()
    theirs = {"project": OuterRef("session__study__project"), "annotator": OuterRef("session__annotator")}
    return SessionFlag.objects.filter(~Exists(withdrawn.filter(**theirs)))


def visible_flags(project: Project) -> SessionFlagQuerySet:
    """Return the flags of `project`; those of people who withdrew are not shown."""
    return _without_withdrawn().filter(session__study__project=project)


def _chosen_flags(project: Project, wanted: FlagFilters) -> SessionFlagQuerySet:
    flags = visible_flags(project)
    if wanted.study:
        flags = flags.filter(session__study__slug=wanted.study)
    if wanted.rule:
        flags = flags.filter(rule=wanted.rule)
    return flags


def _shown(flags: SessionFlagQuerySet, show: str) -> SessionFlagQuerySet:
    if show == "reviewed":
        return flags.exclude(verdict="")
    return flags.filter(~Q(verdict="") | Q(cleared_at=None)) if show == "all" else flags.to_review()


def flagged_sessions(project: Project, wanted: FlagFilters) -> list[int]:
    """Return the ids of the listed sessions, strongest first.

    Strength: how likely at least one of the listed flags is right, by the precision of their rules.
    """
    wrong: dict[int, float] = defaultdict(lambda: 1.0)
    precision = _measurements()
    listed = _shown(_chosen_flags(project, wanted), wanted.show).order_by()
    for session, rule in listed.values_list("session_id", "rule"):
        wrong[session] *= 1 - precision.get(rule, UNMEASURED)
    return sorted(wrong, key=lambda session: (wrong[session], session))


def count_shown(project: Project, wanted: FlagFilters) -> dict[str, int]:
    """Return for each key of SHOWN the number of sessions."""
    counts = {
        (show or "open"): Count("session", filter=condition, distinct=True)
        for show, condition in (
            ("", Q(verdict="", cleared_at=None)),
            ("reviewed", ~Q(verdict="")),
            ("all", ~Q(verdict="") | Q(cleared_at=None)),
        )
    }
    found = _chosen_flags(project, wanted).order_by().aggregate(**counts)
    return {show: found[show or "open"] for show in SHOWN}


def sessions_to_review(studies: Iterable[int] | QuerySet[Any, Any]) -> dict[int, int]:
    """Return study (by id) -> its number of sessions with a flag to review; without those that have none."""
    flags = _without_withdrawn().to_review().filter(session__study__in=studies).order_by()
    return dict(flags.values_list("session__study").annotate(n=Count("session", distinct=True)))


def rule_records(project: Project) -> dict[str, RuleRecord]:
    """Return what is known about each rule in the registry, or with flags in `project`."""
    counted = visible_flags(project).order_by().values_list("rule")
    numbers = counted.annotate(
        upheld=Count("pk", filter=Q(verdict=SessionFlag.Verdict.UPHELD)), reviewed=Count("pk", filter=~Q(verdict=""))
    )
    found = {rule: (upheld, reviewed) for rule, upheld, reviewed in numbers}
    return {name: _rule_record(name, *found.get(name, (0, 0))) for name in (*RULES, *sorted(found.keys() - RULES))}


def _rule_record(name: str, upheld: int, reviewed: int) -> RuleRecord:
    measured = _measurements().get(name)
    if name not in RULES:
        return RuleRecord(name.replace("_", " ").capitalize(), "", measured, upheld, reviewed)
    rule = get_flag_rule(name)
    return RuleRecord(rule.title, rule.misses, measured, upheld, reviewed)


def evidence_sentence(flag: SessionFlag) -> str:
    """Return the evidence of `flag` in a sentence, or its numbers if today's rule does not know their names."""
    if flag.rule in RULES and (rule := get_flag_rule(flag.rule)).version == flag.version:
        with suppress(KeyError):
            return rule.sentence(flag.evidence)
    values = ", ".join(f"{name.replace('_', ' ')}: {_figure(value)}" for name, value in sorted(flag.evidence.items()))
    return f"Found by version {flag.version} of this rule. {values}".strip()


def _figure(value: object) -> str:
    return f"{value:.3g}" if isinstance(value, float) else str(value)


def flagged_session_lines(project: Project, sessions: Sequence[int], *, wanted: FlagFilters) -> list[FlaggedSession]:
    """Return `sessions` in their order with their listed flags. The number of queries is constant."""
    flags = _shown(_chosen_flags(project, wanted), wanted.show).filter(session__in=sessions)
    return _lines(project, sessions, flags)


def find_flagged_session(project: Project, session: int) -> FlaggedSession | None:
    """Return one session with all its flags in force or reviewed; None if it has none."""
    found = _lines(project, [session], _shown(visible_flags(project), "all").filter(session=session))
    return found[0] if found and found[0].flags else None


def flags_by_session(project: Project, sessions: Sequence[int]) -> dict[int, list[FlagLine]]:
    """Return for each of `sessions` its flags in force or reviewed."""
    return _flag_lines(project, _shown(visible_flags(project), "all").filter(session__in=sessions))


def _flag_lines(project: Project, flags: SessionFlagQuerySet) -> dict[int, list[FlagLine]]:
    found: dict[int, list[FlagLine]] = defaultdict(list)
    listed = list(flags.select_related("reviewed_by").order_by("session", "pk"))
    records = rule_records(project) if listed else {}
    for flag in listed:
        found[flag.session_id].append(FlagLine(flag, evidence_sentence(flag), records[flag.rule]))
    return found


def _lines(project: Project, sessions: Sequence[int], flags: SessionFlagQuerySet) -> list[FlaggedSession]:
    by_session = _flag_lines(project, flags)
    rows = Session.objects.filter(pk__in=sessions, study__project=project).select_related("study__project", "annotator")
    found = {session.pk: session for session in rows}
    people = [session.annotator_id for session in found.values()]
    named = Pseudonym.objects.filter(project=project, annotator__in=people)
    names = dict(named.values_list("annotator_id", "name"))
    removed = Removal.objects.in_force().filter(project=project, annotator__in=people)
    excluded = set(removed.values_list("annotator_id", flat=True))
    return [
        FlaggedSession(
            found[pk], names.get(found[pk].annotator_id, ""), by_session[pk], found[pk].annotator_id in excluded
        )
        for pk in sessions
        if pk in found
    ]


@dataclass(frozen=True)
class LastReview:
    """The last review of a researcher in a project, which they may take back."""

    session: int
    name: str
    flags: Sequence[int]
    verdict: str
    excluded: bool
    at: datetime


def last_review(project: Project, *, by: int) -> LastReview | None:
    """Return the last review of the user with the id `by`; None without one that still stands."""
    mine = visible_flags(project).filter(reviewed_by=by).select_related("session")
    last = mine.order_by("-reviewed_at", "-pk").first()
    if last is None or last.reviewed_at is None:
        return None
    together = mine.filter(session=last.session_id, reviewed_at=last.reviewed_at)
    annotator = last.session.annotator_id
    name = Pseudonym.objects.filter(project=project, annotator=annotator).values_list("name", flat=True).first()
    excluded = Removal.objects.in_force().filter(project=project, annotator=annotator, at=last.reviewed_at)
    return LastReview(
        last.session_id,
        name or "",
        list(together.order_by("pk").values_list("pk", flat=True)),
        last.get_verdict_display().lower(),
        excluded.exists(),
        last.reviewed_at,
    )


def own_words(session: Session) -> list[tuple[str, str]]:
    """Return what the annotator of `session` wrote to the researchers: where, and the text."""
    reports = Report.objects.filter(session=session).select_related("question__instance").order_by("pk")
    found = [
        (f"Report about {report.question.instance.key}: {report.get_reason_display().lower()}", report.words)
        for report in reports
    ]
    return [("Comment on the last page", session.comment), *found] if session.comment else found
