"""Plain records of a session, as flag rules read them. Pure."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class WritingRecord:
    """How a text was written, as the browser counted. Whole numbers; None: not measured.

    pasted: the characters of each paste. paused_ms, from_first_key_ms: milliseconds.
    """

    keys: int | None
    pastes: int | None
    pasted: Sequence[int]
    focus_losses: int | None
    pauses: int | None
    paused_ms: int | None
    from_first_key_ms: int | None


@dataclass(frozen=True, slots=True)
class AnswerRecord:
    """A counted answer of the session, or its answer to a check.

    question: its id. number: from 1, in the order of the session. kind: the type of the question. label: the chosen
    option by key; None for texts and answers of several parts. place: where that option stood among the shuffled ones,
    from 0; None if it keeps its place. places: how many options were shown; shuffled: how many of them at random
    places. words, pictures: what one has to read and look at. claimed_seconds: in view, by the browser; None if it
    measured nothing. possible_seconds: the longest by the server's clock; None if it is unknown. hidden_seconds: the
    tab was in the background. others: label -> how many other people gave that answer, of the counted ones. text: what
    was written, "" for a choice; shown_texts: the texts that the page showed. check: "" for an ordinary question, else
    the type of the check; is_right: whether it was passed, None if that is unknown.
    """

    question: int
    number: int
    kind: str
    label: str | None
    place: int | None
    places: int
    words: int
    pictures: int
    claimed_seconds: float | None
    possible_seconds: float | None
    hidden_seconds: float | None
    others: Mapping[str, int] = field(default_factory=dict)
    text: str = ""
    shown_texts: Sequence[str] = ()
    writing: WritingRecord | None = None
    check: str = ""
    is_right: bool | None = None
    shuffled: int = 0


@dataclass(frozen=True, slots=True)
class SessionRecord:
    """The answers of one session, in its order, and what rules compare them with.

    median_seconds: per type of question, of the other sessions of the study. agreement: per type of question, how often
    two other people agree. label_shares: per type of question, how often others choose each label. fixed_labels: per
    type of question, the labels of options that keep their place. other_texts: per question, what others wrote before.
    model_texts: captions that models wrote for the same images. check_failures: per type of check, the share that other
    sessions failed. earlier_answers: of the other sessions that
    answer most alike, the labels that each gave before this session did, by question. compared: with how many sessions
    these were compared.
    """

    answers: Sequence[AnswerRecord]
    median_seconds: Mapping[str, float] = field(default_factory=dict)
    agreement: Mapping[str, float] = field(default_factory=dict)
    label_shares: Mapping[str, Mapping[str, float]] = field(default_factory=dict)
    fixed_labels: Mapping[str, frozenset[str]] = field(default_factory=dict)
    other_texts: Mapping[int, Sequence[str]] = field(default_factory=dict)
    model_texts: Mapping[int, Sequence[str]] = field(default_factory=dict)
    check_failures: Mapping[str, float] = field(default_factory=dict)
    earlier_answers: Sequence[Mapping[int, str]] = ()
    compared: int = 0
