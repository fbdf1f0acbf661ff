"""History of an instance: what was asked and answered, with pictures, names and decisions."""

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import datetime
from types import MappingProxyType
from typing import Any

from django.db.models import Exists, OuterRef, QuerySet

from analytics.outcomes import Outcome, Progress, outcome_of_instance, progress_of
from annotation.actions.deciding.decisions import explain
from annotation.models import Decision, Removal, Response
from annotation.models.responses import RESPONSE
from results.models import Pseudonym, Release
from studies.kinds import Picture, QuestionContent, get_kind
from studies.kinds.base import MOST_DIGITS, Option, digits_of
from studies.models import Project, Question, Study

TAKEN_OUT = "A researcher took it out."
UNDONE = "What it asks about is no longer accepted upstream."


def option_name(label: str, what: str, digit: str) -> str:
    """Return the name of an option on researchers' pages: its label, after the key that settles with it.

    what: "Image" or "Text" if options differ by this only, else "". A label that only counts, such as candidate-0 or
    image_1, is left out: there would be two numbers. The tenth option has the key 0.
    """
    if not what or not digit:
        return label
    number = int(digit) or MOST_DIGITS + 1
    is_counted = label.endswith((f"-{number - 1}", f"_{number}"))
    return f"{what} {number}" if is_counted else f"{what} {number} ({label})"


def names_of_options(options: Sequence[Option]) -> dict[str, str]:
    """Return the key of each option of a question -> its name on researchers' pages."""
    return {
        option.key: option_name(
            option.label or option.key,
            ("Image" if option.picture else "Text" if option.text else "") if option.shuffled else "",
            digit,
        )
        for option, digit in zip(options, digits_of(options), strict=True)
    }


@dataclass(frozen=True)
class ShownOption:
    """An option in source order: a picture (by its SHA-256), a text, or an option that is always offered.

    `chosen_by`: the pseudonyms behind its counted answers. `wins`: it is the decision. On the page of one annotator,
    `letter`: the one under which they saw it, and `is_own`: they chose it.
    """

    key: str
    label: str
    digit: str
    image: str
    text: str
    shuffled: bool
    chosen_by: Sequence[str]
    wins: bool
    right: bool
    letter: str = ""
    is_own: bool = False

    @property
    def name(self) -> str:
        """Its name on researchers' pages, as `option_name` makes it."""
        what = "Image" if self.image else "Text" if self.text else ""
        return option_name(self.label, what if self.shuffled else "", self.digit)


@dataclass(frozen=True)
class GivenAnswer:
    """One version of one answer.

    `option`: the one chosen, None if the answer is no option; `said`: the answer in words. `position`: of the option,
    from 1; None if it has a fixed position. `positions`: number of shuffled options, 0 if all are fixed. `stands`: it
    counts, or would if its question were no check. `labels`: what is compared with others, part -> label; the part of
    an answer with one label is "".
    """

    name: str
    option: ShownOption | None
    said: str
    position: int | None
    positions: int
    version: int
    counted: bool
    stands: bool
    status: str
    seconds: float | None
    at: datetime
    labels: Mapping[str, str]

    @property
    def where(self) -> str:
        """The position of the chosen option, "" if the answer is no option."""
        if self.option is None:
            return ""
        if self.position is not None:
            return f"{self.position} of {self.positions}"
        return "always last" if self.positions else "same for all"


@dataclass(frozen=True)
class History:
    """A question: what it showed, who chose what, and its outcome.

    `used`: a later study builds on it. `right_said`: the right answer in words if it is not one option, else "".
    `why`: what its rule says about the answers, if `with_reasons` added it.
    """

    question: Question
    decision: Decision
    shown: QuestionContent
    options: Sequence[ShownOption]
    answers: Sequence[GivenAnswer]
    used: bool
    right_said: str = ""
    why: str = ""

    @property
    def counted_answers(self) -> Sequence[GivenAnswer]:
        return [given for given in self.answers if given.counted]

    @property
    def standing_answers(self) -> Sequence[GivenAnswer]:
        """The counted answers or, to a check, those that stand."""
        return [given for given in self.answers if given.stands]

    @property
    def texts(self) -> Sequence[str]:
        return [text.text for text in self.shown.texts]

    @property
    def pictures(self) -> Sequence[Picture]:
        return self.shown.pictures

    @property
    def settled_option(self) -> ShownOption | None:
        return next((option for option in self.options if option.key == self.decision.settled_choice), None)

    @property
    def kind_title(self) -> str:
        return get_kind(self.question.kind).title

    @property
    def votes(self) -> Sequence[tuple[str, int]]:
        """The name of each chosen option, or another label, with its number of answers."""
        names = {option.key: option.name for option in self.options}
        return [(names.get(label, label), number) for label, number in self.decision.votes.items()]

    @property
    def winner(self) -> ShownOption | None:
        return next((option for option in self.options if option.wins), None)

    @property
    def can_be_settled(self) -> bool:
        """Whether a researcher may decide it: only if answers are options."""
        return bool(self.options) and self.outcome in (Outcome.NONE_YET, Outcome.CONFLICTING) and not self.used

    @property
    def outcome(self) -> Outcome:
        return self.decision.outcome

    @property
    def progress(self) -> Progress:
        return progress_of(self.decision.answers, self.question.answers_wanted)

    @property
    def deciders(self) -> Sequence[str]:
        """Return who determined the outcome: those who chose the winner or, without one, all counted annotators."""
        if self.decision.settled_choice or self.decision.state == Decision.State.UNDECIDED:
            return ()
        winner = self.decision.winner
        return [
            given.name
            for given in self.answers
            if given.counted and winner in ("", given.option.key if given.option else "")
        ]


@dataclass(frozen=True)
class Stage:
    """The outcome of an instance in a study."""

    study: Study
    outcome: Outcome
    asked: Sequence[History]

    @property
    def scored(self) -> Sequence[GivenAnswer]:
        """The counted answers to its questions with a known right option; adjudications are no answers of people."""
        known = [one for one in self.asked if any(option.right for option in one.options)]
        return [given for one in known for given in one.counted_answers]

    @property
    def right(self) -> int:
        """The number of the scored answers that are the right option."""
        return sum(given.option is not None and given.option.right for given in self.scored)

    @property
    def only(self) -> History | None:
        return self.asked[0] if len(self.asked) == 1 else None

    @property
    def why(self) -> str:
        """The reason of its outcome: that of the first question with this outcome."""
        return next((one.why for one in self.asked if one.outcome is self.outcome), "")

    @property
    def answers(self) -> int:
        return sum(one.decision.answers for one in self.asked)

    @property
    def answers_wanted(self) -> int:
        return sum(one.question.answers_wanted for one in self.asked)

    @property
    def last_answer(self) -> datetime | None:
        return max((given.at for one in self.asked for given in one.counted_answers), default=None)

    @property
    def decided_at(self) -> datetime | None:
        """Return when it got its outcome, None without a decision."""
        times = [one.decision.decided_at for one in self.asked if one.outcome is self.outcome]
        decided = [at for at in times if at is not None]
        # Attempts at a part decide by the first of them, questions about a whole instance by the last.
        first_or_last = min if any(one.question.item for one in self.asked) else max
        return first_or_last(decided, default=None)

    @property
    def deciders(self) -> list[str]:
        return list(dict.fromkeys(name for one in self.asked for name in one.deciders))


@dataclass(frozen=True)
class Votes:
    """The people who chose an image or text of the instance in answer to a question. `wins`: it is the decision."""

    question: Question
    names: Sequence[str]
    wins: bool
    right: bool


def votes_on(history: Iterable[History], *, image: str = "", text: str = "") -> list[Votes]:
    """Return the votes on an image (by SHA-256) or a text, for each question that offered it and has answers."""
    return [
        Votes(one.question, option.chosen_by, option.wins, option.right)
        for one in history
        for option in one.options
        if one.counted_answers and ((image and option.image == image) or (text and option.text == text))
    ]


def option_keys(history: Iterable[History], *, image: str) -> set[str]:
    """Return the keys of the options that are this image (by SHA-256); none for ""."""
    return {option.key for one in history for option in one.options if image and option.image == image}


def other_votes(history: Iterable[History]) -> list[tuple[Question, ShownOption]]:
    """Return the chosen options that are neither an image nor a text, such as "none"."""
    return [
        (one.question, option)
        for one in history
        for option in one.options
        if option.chosen_by and not option.image and not option.text
    ]


def stages(history: Sequence[History]) -> list[Stage]:
    """Group the questions about an instance by study, in order."""
    by_study: dict[int, list[History]] = {}
    for asked in history:
        by_study.setdefault(asked.question.study_id, []).append(asked)
    return [_stage(asked) for asked in by_study.values()]


def _stage(asked: Sequence[History]) -> Stage:
    outcome = outcome_of_instance((one.question.item, one.outcome) for one in asked)
    return Stage(asked[0].question.study, outcome, asked)


def instance_releases(history: Sequence[History], project: Project) -> list[Release]:
    """Return the frozen releases that hold the instance as it is accepted now, oldest first.

    history: of the instance. A release holds it if made after a study of the release accepted it.
    """
    accepted = {stage.study.pk: stage.decided_at for stage in stages(history) if stage.outcome is Outcome.ACCEPTED}
    frozen = Release.objects.filter(project=project).exclude(file="").prefetch_related("beside").order_by("made_at")
    return [
        release
        for release in frozen
        for times in [[accepted.get(release.study_id), *(accepted.get(study.pk) for study in release.beside.all())]]
        if any(at is not None and at <= release.made_at for at in times)
    ]


def histories(questions: QuerySet[Question], *, project: Project) -> list[History]:
    """Return the histories of `questions`, in order; the number of queries is constant."""
    answers = Response.objects.filter(question=OuterRef(OuterRef("pk"))).values("pk")
    # SQLite uses the index on sources only if its condition is written out.
    about_answers = Question.objects.filter(source_type=RESPONSE, source_id__in=answers).exclude(source_type="")
    used = Exists(Question.objects.filter(drawn_from=OuterRef("pk"))) | Exists(about_answers)
    asked = list(questions.select_related("study__project", "instance", "decision__settled_by").annotate(used=used))
    for question in asked:
        if question.check_type:
            # Nothing is decided on a check.
            question.decision = Decision(study=question.study)
    given: dict[int, list[Response]] = {question.pk: [] for question in asked}
    # Withdrawn people are hidden; excluded people are marked.
    responses = Response.objects.filter(question__in=given).exclude(left_out=Removal.Why.WITHDRAWN)
    responses = responses.select_related("annotator")
    for response in responses.order_by("received_at", "pk"):
        given[response.question_id].append(response)
    annotators = {response.annotator_id for of_one in given.values() for response in of_one}
    named = Pseudonym.objects.filter(project=project, annotator__in=annotators)
    names = dict(named.values_list("annotator_id", "name"))
    return [_history(question, given[question.pk], names) for question in asked]


def with_reasons(history: Iterable[History]) -> list[History]:
    """Return `history` with the reason of each outcome in words; "" where a researcher decided."""
    asked = list(history)
    reasons = explain([one.question.pk for one in asked if not one.decision.settled_choice])
    return [replace(one, why=_reason(one, reasons)) for one in asked]


def _reason(asked: History, reasons: Mapping[int, str]) -> str:
    if asked.question.taken_out_at is not None:
        return TAKEN_OUT
    return reason_of(asked.outcome, reasons.get(asked.question.pk, ""))


def reason_of(outcome: Outcome, reason: str) -> str:
    """Return why a question has its outcome; reason: what its rule says about the answers."""
    return UNDONE if outcome is Outcome.UNDONE else reason


def _history(question: Any, responses: Iterable[Response], names: Mapping[int, str]) -> History:
    responses = list(responses)
    chosen_by: dict[str, list[str]] = {}
    for response in responses:
        if response.does_stand:
            chosen_by.setdefault(response.choice, []).append(names.get(response.annotator_id, ""))
    options = list(shown_options(question, chosen_by))
    by_key = {option.key: option for option in options}
    return History(
        question=question,
        decision=question.decision,
        shown=_question_content(question),
        options=options,
        answers=[_answer(response, question, by_key, names) for response in responses],
        used=question.used,
        right_said=_right_said(question),
    )


def _right_said(question: Question) -> str:
    """Return a right answer that is not one option in words, "" without one."""
    right = question.right_answer
    if right is None:
        return ""
    if isinstance(right, dict) and not any(isinstance(value, dict | list) for value in right.values()):
        return "; ".join(f"{name}: {said}" for name, said in right.items())
    return json.dumps(right, ensure_ascii=False)


def answer_name(question: Question, response: Response) -> str:
    """Return an answer as researchers' pages name it: by its option, or in words."""
    return _option_names(question).get(response.choice) or in_words(question, response)


def right_name(question: Question) -> str:
    """Return the right answer to a question as researchers' pages name it; "" if it is unknown."""
    return _option_names(question).get(question.right) or _right_said(question) or question.right


def _option_names(question: Question) -> dict[str, str]:
    kind = get_kind(question.kind)
    return names_of_options(kind.options(question.content)) if kind.has_one_label else {}


def _question_content(question: Question) -> QuestionContent:
    """Return what a question shows, including the answers offered for each of several things."""
    kind = get_kind(question.kind)
    shown = kind.question_content(question.content)
    compared = [option.picture for option in kind.options(question.content) if option.picture]
    return shown if kind.has_one_label else replace(shown, pictures=[*shown.pictures, *compared])


def shown_options(
    question: Question, chosen_by: Mapping[str, Sequence[str]] = MappingProxyType({})
) -> Iterable[ShownOption]:
    """Yield the options of `question`. chosen_by: option key -> who chose it."""
    kind = get_kind(question.kind)
    offered = kind.options(question.content) if kind.has_one_label else ()
    for option, digit in zip(offered, digits_of(offered), strict=True):
        yield ShownOption(
            key=option.key,
            label=option.label or option.key,
            digit=digit,
            image=option.picture.sha256 if option.picture else "",
            text=option.text,
            shuffled=option.shuffled,
            chosen_by=chosen_by.get(option.key, ()),
            wins=option.key == question.decision.winner,
            right=option.key == question.right,
        )


def _answer(
    response: Response, question: Question, options: Mapping[str, ShownOption], names: Mapping[int, str]
) -> GivenAnswer:
    order, option = response.shown_order, options.get(response.choice)
    in_order = get_kind(question.kind).fixed_order(question.content)
    shuffled = not in_order and any(each.shuffled for each in options.values())
    positioned = shuffled and option is not None and option.shuffled
    return GivenAnswer(
        name=names.get(response.annotator_id, ""),
        option=option,
        said=option.name if option else in_words(question, response),
        position=order.index(response.choice) + 1 if positioned else None,
        positions=len(order) if shuffled else 0,
        version=response.version,
        counted=response.is_counted,
        stands=response.does_stand,
        status=_status(response),
        seconds=response.seconds_in_view,
        at=response.received_at,
        labels=get_kind(question.kind).labels(question.content, response.choice, response.whole_answer),
    )


def in_words(question: Question, response: Response) -> str:
    """Return an answer that is not an option in words.

    A text as it is; several labels each with its subject; true statements by name; anything else as JSON.
    """
    if isinstance(response.answer, str):
        return response.answer
    if words := get_kind(question.kind).answer_text(response.answer):
        return words
    if isinstance(response.answer, dict) and response.answer and all(said is True for said in response.answer.values()):
        return ", ".join(name.replace("_", " ") for name in response.answer)
    labels = get_kind(question.kind).labels(question.content, response.choice, response.answer)
    if "" in labels or not labels:
        return json.dumps(response.answer, ensure_ascii=False)
    return "; ".join(f"{unit}: {label}" for unit, label in labels.items())


def _status(response: Response) -> str:
    if not response.is_current:
        return "changed later"
    if response.left_out:
        return f"{response.get_left_out_display().lower()}, not counted"
    if not response.does_stand:
        return "its place had gone to somebody else, not counted"
    return "counted" if response.is_counted else "a check, not counted"
