"""What flag rules compare a session with: the answers, times and texts of the other sessions of its study."""

from collections import Counter, defaultdict
from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import groupby
from operator import attrgetter
from statistics import median

from analytics.alike_sessions import AlikeSessions
from analytics.flags.records import AnswerRecord, SessionRecord


@dataclass(frozen=True, slots=True)
class SentRecord:
    """An answer of a session, without what it is compared with, and when it arrived."""

    session: int
    at: datetime
    answer: AnswerRecord


@dataclass
class _Study:
    """The answers of a study but those to checks, and without the sessions `apart`.

    labels: question -> label -> how many people chose it. texts: question -> what was written, by whom and when. kinds:
    question -> its type.
    """

    sent: Sequence[SentRecord]
    apart: Set[int]
    labels: dict[int, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    texts: dict[int, list[SentRecord]] = field(default_factory=lambda: defaultdict(list))
    kinds: dict[int, str] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for each in self.sent:
            answer = each.answer
            self.kinds[answer.question] = answer.kind
            if answer.check or each.session in self.apart:
                continue
            if answer.label is not None:
                self.labels[answer.question][answer.label] += 1
            if answer.text:
                self.texts[answer.question].append(each)


def compared_sessions(
    sent: Sequence[SentRecord], *, captions: Mapping[int, Sequence[str]], apart: Set[int] = frozenset()
) -> Iterator[tuple[int, SessionRecord]]:
    """Yield each session of a study with what it is compared with.

    sent: all its answers, by session and in its order. captions: question -> captions of the same images. apart:
    sessions that nobody's agreement, time and failed checks are compared with.
    """
    study, beside = _Study(sent, apart), [each for each in sent if each.session not in apart]
    agreement, shares, medians = _agreement(study), _label_shares(study), _median_seconds(beside)
    failures, fixed = _check_failures(beside), _fixed_labels(sent)
    labelled = (each for each in sent if each.answer.label is not None and not each.answer.check)
    alike = AlikeSessions((each.session, each.answer.question, each.answer.label or "", each.at) for each in labelled)
    for session, rows in groupby(sent, key=attrgetter("session")):
        mine = list(rows)
        compared, earlier = alike.earlier_answers(session)
        written = [each for each in mine if each.answer.text]
        yield (
            session,
            SessionRecord(
                answers=[_with_others(each.answer, study, is_apart=session in apart) for each in mine],
                median_seconds=medians,
                agreement=agreement,
                label_shares=shares,
                fixed_labels=fixed,
                other_texts={each.answer.question: _texts_before(each, study) for each in written},
                model_texts={each.answer.question: captions.get(each.answer.question, ()) for each in written},
                check_failures={check: by_session.others(session) for check, by_session in failures.items()},
                earlier_answers=earlier,
                compared=compared,
            ),
        )


def _with_others(answer: AnswerRecord, study: _Study, *, is_apart: bool) -> AnswerRecord:
    if answer.label is None or answer.check:
        return answer
    labels, own = study.labels.get(answer.question, Counter()), "" if is_apart else answer.label
    left = {label: number - (label == own) for label, number in labels.items()}
    return replace(answer, others={label: number for label, number in left.items() if number})


def _texts_before(mine: SentRecord, study: _Study) -> list[str]:
    """Return what others wrote about the same question before the session did."""
    written = study.texts.get(mine.answer.question, ())
    return [each.answer.text for each in written if each.session != mine.session and each.at < mine.at]


def _agreement(study: _Study) -> dict[str, float]:
    """Return type of question -> the share of pairs of answers to the same question that are equal."""
    equal, pairs = Counter[str](), Counter[str]()
    for question, labels in study.labels.items():
        n = labels.total()
        pairs[study.kinds[question]] += n * (n - 1)
        equal[study.kinds[question]] += sum(number * (number - 1) for number in labels.values())
    return {kind: equal[kind] / n for kind, n in pairs.items() if n}


def _label_shares(study: _Study) -> dict[str, dict[str, float]]:
    chosen: dict[str, Counter[str]] = defaultdict(Counter)
    for question, labels in study.labels.items():
        chosen[study.kinds[question]].update(labels)
    return {kind: {label: n / labels.total() for label, n in labels.items()} for kind, labels in chosen.items()}


def _fixed_labels(sent: Sequence[SentRecord]) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = defaultdict(set)
    for each in sent:
        if each.answer.label is not None and each.answer.place is None:
            found[each.answer.kind].add(each.answer.label)
    return {kind: frozenset(labels) for kind, labels in found.items()}


def _median_seconds(sent: Sequence[SentRecord]) -> dict[str, float]:
    """Return type of question -> the median of the sessions' medians, which one session hardly moves."""
    seconds: dict[str, dict[int, list[float]]] = defaultdict(lambda: defaultdict(list))
    for each in sent:
        if each.answer.possible_seconds is not None:
            seconds[each.answer.kind][each.session].append(each.answer.possible_seconds)
    return {
        kind: median(median(times) for times in by_session.values())
        for kind, by_session in seconds.items()
        if len(by_session) > 1
    }


@dataclass
class _Failures:
    """Failed and answered checks of one type, by session and in all."""

    failed: Counter[int] = field(default_factory=Counter)
    answered: Counter[int] = field(default_factory=Counter)

    def others(self, session: int) -> float:
        """Return the share of checks that the other sessions failed."""
        answered = self.answered.total() - self.answered[session]
        return (self.failed.total() - self.failed[session]) / answered if answered else 0.0


def _check_failures(sent: Sequence[SentRecord]) -> dict[str, _Failures]:
    found: dict[str, _Failures] = defaultdict(_Failures)
    for each in sent:
        if each.answer.check and each.answer.is_right is not None:
            found[each.answer.check].answered[each.session] += 1
            found[each.answer.check].failed[each.session] += not each.answer.is_right
    return found
