"""What leaves: the plain rows that an export is made of, and the listed columns they become."""

import json
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from typing import Any

from studies.descriptions import SET_SIZE

# The roles whose first image and whose caption have columns of their own, as in the released BiVLC.
CAPTION_ROLES = ("caption", "negative_caption")
IMAGE_ROLES = ("image", "negative_image")


@dataclass(frozen=True, slots=True)
class ExportedImage:
    """One image in a role of an accepted instance. `sha256` is None while its file is still awaited."""

    role: str
    position: int
    filename: str
    sha256: str | None
    width: int | None = None
    height: int | None = None
    source: str = ""
    licence: str = ""
    generator: str = ""


@dataclass(frozen=True, slots=True)
class AcceptedQuestion:
    """A question that made an item accepted. `task` names it as in the responses; `votes`: label -> how many answers;
    `settled`: whether a researcher decided what the answers had left undecided."""

    task: str
    kind: str
    variant: str
    rule: str
    winner: str
    settled: bool
    answers: int
    votes: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class AcceptedInstance:
    """An accepted item: an instance that a study accepted, or one part of it (`item`), such as one image of a set. It
    holds what the decisions added to it: for best_of_n the chosen image, for a part its image and description.

    `questions`: those that made it accepted; releases that an older version froze name none. `kind` and `rule` list
    theirs; `answers` counts the answers to all of them; `settled` is True when a researcher settled one. `task`,
    `winner` and `votes` are those of its only question; where there are several, `task` is the key and the others are
    empty. `simulated` is True when a program gave one of the counted answers that it rests on, in this study or one
    that fed it; None where nobody noted that.
    """

    task: str
    key: str
    type: str
    subtype: str
    split: str
    captions: Mapping[str, str]
    original_captions: Mapping[str, str]
    caption_rule: str
    images: Sequence[ExportedImage]
    study: str
    kind: str
    decision: str
    rule: str
    winner: str
    settled: bool
    answers: int
    votes: Mapping[str, int]
    source_file: str
    source_row: int
    simulated: bool | None = None
    item: str = ""
    questions: Sequence[AcceptedQuestion] = ()

    @property
    def name(self) -> str:
        """What no other item of a dataset is called."""
        return f"{self.key}/{self.item}" if self.item else self.key


@dataclass(frozen=True, slots=True)
class GivenResponse:
    """One version of one answer. `worker` and `session` are pseudonyms; `_ms` are the browser's milliseconds.

    `is_current` is False for a version that a newer one has replaced; `counted` is True for an answer that decisions
    and numbers rest on: the current version, in its seat's time, of nobody who was excluded. `left_out` is why it
    counts nowhere because of who gave it, "excluded" or "". `simulated`: a program gave it; None where nobody noted
    that. `right` is the right option, or another right answer as JSON; empty where none is known. `label` is what
    agreement compares, empty for answers without one label; `answer` is what was said, whole, None where the label says
    it all. `writing` is how a text was written, None where that is not known. `response` is what the tasks of questions
    about this answer end with.
    """

    task: str
    worker: str
    label: str
    version: int
    is_current: bool
    counted: bool
    shown_order: Sequence[str]
    received_at: datetime
    first_choice_ms: int | None
    send_ms: int | None
    hidden_ms: int | None
    changes_of_mind: int | None
    window_width: int | None
    window_height: int | None
    survey: int | None
    seat: int | None
    session: str
    study: str
    kind: str
    right: str
    left_out: str = ""
    simulated: bool | None = None
    key: str = ""
    answer: Any = None
    unmeasured: str = ""
    writing: Mapping[str, Any] | None = None
    response: str = ""

    @property
    def whole_answer(self) -> Any:
        return self.label if self.answer is None else self.answer


@dataclass(frozen=True, slots=True)
class DecidedQuestion:
    """What has become of a question. `outcome` and `progress` are words of `analytics.outcomes`.

    `state` is what its rule, or a researcher (`settled`), made of its answers, and `winner` the option it decided for,
    empty without one; the state does not leave, because it calls questions accepted where nothing is. `answers` counted
    ones are there of so many `wanted` by now. `simulated`: a program gave one of them. In rows that an older version
    froze, outcome and progress are empty, and wanted and simulated None: it did not keep them.
    """

    task: str
    study: str
    kind: str
    state: str
    rule: str
    winner: str
    right: str
    answers: int
    votes: Mapping[str, int]
    settled: bool
    decided_at: datetime | None
    outcome: str = ""
    progress: str = ""
    wanted: int | None = None
    simulated: bool | None = None
    key: str = ""


@dataclass(frozen=True, slots=True)
class GivenPrediction:
    """A model's answer to one question about an instance; `scores` is None where the source has outcomes only.

    `content_hash` is the SHA-256 of what the model was shown (`studies.kinds.content_hash`), "" where a file of answers
    names no pictures. `about` says what that means for whoever compares it with what people answered: VERIFIED,
    SUPERSEDED, DECLARED or MISMATCHED, or "" in a release that an older version froze. `conditions`: the digest of what
    it was computed under, "" where it comes from a file.
    """

    task: str
    model: str
    version: str
    weights: str
    kind: str
    variant: str
    caption_rule: str
    is_right: bool | None
    scores: Mapping[str, float] | None
    key: str = ""
    content_hash: str = ""
    about: str = ""
    conditions: str = ""


@dataclass(frozen=True, slots=True)
class RatingSummary:
    """The ratings of one kind of question, image role and category of instances. `asked`: which of several things asked
    at once, "" for others; `type` and `subtype`: "all" for all instances together.

    `mean`, its 95 % interval `low` to `high` for other people and other instances, and `sd`, the sample standard
    deviation, are in steps of the scale, or in its numbers; None where they are undefined. `reason`: why there is no
    interval, "" where there is one. `steps`: step -> how many of the `answers` chose it.
    """

    study: str
    kind: str
    role: str
    asked: str
    type: str
    subtype: str
    answers: int
    people: int
    instances: int
    mean: float | None
    low: float | None
    high: float | None
    reason: str
    sd: float | None
    steps: Mapping[str, int]


# A prediction is about the texts and pictures that people were asked about, or that the instance shows; about others,
# which stood there before; or a file declares it, and nobody can verify what the model saw; or it does not answer
# exactly the options of its question, and `is_right` is None.
VERIFIED, SUPERSEDED, DECLARED, MISMATCHED = ("verified", "superseded", "declared", "mismatched")


@dataclass(frozen=True, slots=True)
class PredictionConditions:
    """What scores were computed under, by its digest: the SHA-256 of `details` as canonical JSON."""

    digest: str
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NotedEvent:
    """What was done to the data: `what` is the rest of a sentence about `who`. `study`: "" for the whole project."""

    at: datetime
    who: str
    what: str
    study: str
    event: str


@dataclass(frozen=True, slots=True)
class DescribedImage:
    """One description of an image set; `number` is its place among those of the set, from 1.

    `target` is the place of the image that it is about, from 0, None where that is not known. `author`: whether whoever
    wrote it also wrote for the training split, as `studies.descriptions` calls it, "" where nobody says. `tags`: the
    phenomena found in it, of those that somebody `looked_for`. `study` and `task` name the question that accepted it,
    and `worker` who wrote it, a pseudonym; all "" for one that came with the import and was asked about by nobody.
    `set_size`: how many images its set has, at least 1; releases that an older version froze do not say, and then had
    ten. `type`: of the set, such as static or video; None in a release that an older version froze. `paired`: the place
    of the other image in the published pair, from 0, None where no file says it.
    """

    key: str
    split: str
    number: int
    text: str
    target: int | None
    author: str = ""
    tags: Sequence[str] = ()
    looked_for: Sequence[str] = ()
    study: str = ""
    task: str = ""
    worker: str = ""
    set_size: int = SET_SIZE
    type: str | None = None
    paired: int | None = None


INSTANCE_COLUMNS = (
    "key",
    "image",
    "caption",
    "negative_caption",
    "negative_image",
    "type",
    "subtype",
    "split",
    "image_sha256",
    "negative_image_sha256",
    "original_captions",
    "caption_rule",
    "decision",
    "rule",
    "winner",
    "settled",
    "answers",
    "votes",
    "simulated",
    "study",
    "kind",
    "task",
    "item",
    "questions",
    "source_file",
    "source_row",
    "images",
)

# What a version knew that recorded how a text was written; None where it did not, or the browser did not say.
WRITING_COLUMNS = (
    "writing_keys",
    "writing_pastes",
    "writing_pasted",
    "writing_focus_losses",
    "writing_pauses",
    "writing_paused_ms",
    "writing_from_first_key_ms",
)

RESPONSE_COLUMNS = (
    "task",
    "worker",
    "label",
    "version",
    "is_current",
    "counted",
    "left_out",
    "simulated",
    "shown_order",
    "received_at",
    "first_choice_ms",
    "send_ms",
    "hidden_ms",
    "changes_of_mind",
    "window_width",
    "window_height",
    "survey",
    "seat",
    "session",
    "study",
    "kind",
    "right",
    "key",
    "answer",
    "unmeasured",
    *WRITING_COLUMNS,
    "response",
)


def instance_record(row: AcceptedInstance) -> dict[str, Any]:
    """Return `row` under INSTANCE_COLUMNS, in that order.

    An image column holds the file name in the source, empty when the instance has no image in that role; a caption
    column is empty when the instance has no such caption.
    """
    firsts = {image.role: image for image in reversed(row.images) if image.position == 0}
    record: dict[str, Any] = dict.fromkeys(INSTANCE_COLUMNS, "")
    record |= {name: getattr(row, name) for name in INSTANCE_COLUMNS if hasattr(row, name)}
    record |= {role: row.captions.get(role, "") for role in CAPTION_ROLES}
    for role in IMAGE_ROLES:
        if role in firsts:
            record[role] = firsts[role].filename
            record[f"{role}_sha256"] = firsts[role].sha256 or ""
    record["original_captions"] = dict(sorted(row.original_captions.items()))
    record["votes"] = dict(sorted(row.votes.items()))
    record["questions"] = [question_record(question) for question in row.questions]
    record["images"] = [image_record(image) for image in row.images]
    return record


def question_record(question: AcceptedQuestion) -> dict[str, Any]:
    """Return one question of an accepted item; labels by name, as a database may keep them in any order."""
    return asdict(question) | {"votes": dict(sorted(question.votes.items()))}


def image_record(image: ExportedImage) -> dict[str, Any]:
    """Return one image of an instance with everything known about it, None where its file is still awaited."""
    return {name: getattr(image, name) for name in ExportedImage.__slots__}


DECISION_COLUMNS = (
    "task",
    "study",
    "kind",
    "outcome",
    "progress",
    "rule",
    "winner",
    "right",
    "answers",
    "wanted",
    "votes",
    "settled",
    "decided_at",
    "simulated",
    "key",
)
PREDICTION_COLUMNS = GivenPrediction.__slots__


def response_record(row: GivenResponse) -> dict[str, Any]:
    """Return `row` under RESPONSE_COLUMNS, in that order; times in ISO 8601, UTC, to the millisecond."""
    writing = row.writing or {}
    record = {name: None if name in WRITING_COLUMNS else getattr(row, name) for name in RESPONSE_COLUMNS}
    record |= {name: writing.get(name.removeprefix("writing_")) for name in WRITING_COLUMNS}
    record["received_at"] = moment(row.received_at)
    record["answer"] = None if row.answer is None else json.dumps(row.answer, ensure_ascii=False)
    return record


def decision_record(row: DecidedQuestion) -> dict[str, Any]:
    """Return `row` under DECISION_COLUMNS, in that order."""
    record = {name: getattr(row, name) for name in DECISION_COLUMNS}
    record["votes"] = dict(sorted(row.votes.items()))
    record["decided_at"] = moment(row.decided_at) if row.decided_at else None
    return record


def prediction_record(row: GivenPrediction) -> dict[str, Any]:
    """Return `row` under PREDICTION_COLUMNS, in that order; options by name, as a database may keep them in any."""
    record = {name: getattr(row, name) for name in PREDICTION_COLUMNS}
    record["scores"] = None if row.scores is None else dict(sorted(row.scores.items()))
    return record


def moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
