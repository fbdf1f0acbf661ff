"""Exported rows, and their records by column."""

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field
from datetime import UTC, datetime
from pathlib import PurePosixPath
from typing import Any

from results.exporting.columns import DECISION, INSTANCE, PREDICTION, RESPONSE, WRITING, names
from studies.descriptions import SET_SIZE

# The columns of a pair, as in the released BiVLC. `AcceptedInstance.pair` says which roles fill them.
CAPTION_COLUMNS = ("caption", "negative_caption")
IMAGE_COLUMNS = ("image", "negative_image")
_ENDING = re.compile(r"\.[a-z0-9]{1,5}")


@dataclass(frozen=True, slots=True)
class ExportedImage:
    """An image in a role of an accepted instance. `sha256` is None while its file is missing."""

    role: str
    position: int
    filename: str
    sha256: str | None
    width: int | None = None
    height: int | None = None
    source: str = ""
    licence: str = ""
    generator: str = ""

    @property
    def file(self) -> str:
        """Name of its file beside the data: its SHA-256 and the ending of its name; "" while it is missing."""
        ending = PurePosixPath(self.filename).suffix.lower()
        return f"{self.sha256}{ending if _ENDING.fullmatch(ending) else ''}" if self.sha256 else ""


@dataclass(frozen=True, slots=True)
class AcceptedQuestion:
    """A question that made an item accepted.

    `task`: its name, as in the responses. `votes`: label -> number of answers. `settled`: whether a researcher decided
    it.
    """

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
    """An accepted item: an instance, or a part of it (`item`), such as one image of a set.

    It includes what decisions added: for best_of_n the chosen image, for a part its image and description.

    `questions`: those that made it accepted; none in releases frozen by an older version. `kind` and `rule` list
    theirs; `answers` counts the answers to all of them; `settled` is True if a researcher decided one. `task`, `winner`
    and `votes` are those of its only question; if there are several, `task` is the key and the others are empty.
    `simulated` is True if a counted answer behind it, in this study or upstream, is simulated; None if unknown.
    `pair`: column -> the role that fills it, "" for none; {} if every column has the role of its own name, and in
    releases frozen by an older version. `target`: the right answer that the source file names, as JSON unless it is
    text; "" for none. `fields`: the fields of the source's row that are kept as notes, as a JSON object; "" for none.
    `posterior`, `posterior_method`, `difficulty`: of its only question, as for `DecidedQuestion`.
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
    pair: Mapping[str, str] = field(default_factory=dict)
    target: str = ""
    fields: str = ""
    posterior: Mapping[str, float] = field(default_factory=dict)
    posterior_method: str = ""
    difficulty: float | None = None

    @property
    def name(self) -> str:
        """Unique name in the dataset."""
        return f"{self.key}/{self.item}" if self.item else self.key

    @property
    def pair_images(self) -> dict[str, ExportedImage]:
        """Return column of a pair -> its image, the first in the role; only columns with one."""
        firsts = {image.role: image for image in reversed(self.images) if image.position == 0}
        roles = {column: self.pair.get(column, column) for column in IMAGE_COLUMNS}
        return {column: firsts[role] for column, role in roles.items() if role in firsts}

    @property
    def pair_captions(self) -> dict[str, str]:
        """Return column of a pair -> its caption, "" for none."""
        return {column: self.captions.get(self.pair.get(column, column), "") for column in CAPTION_COLUMNS}

    @property
    def other_images(self) -> list[ExportedImage]:
        """Return the images that no column of the pair holds."""
        held = list(self.pair_images.values())
        return [image for image in self.images if image not in held]

    @property
    def pair_roles(self) -> dict[str, str]:
        """Return column of a pair -> its role; only columns that hold something."""
        held = [*self.pair_images, *(column for column, caption in self.pair_captions.items() if caption)]
        return {column: self.pair.get(column, column) for column in sorted(held)}


@dataclass(frozen=True, slots=True)
class GivenResponse:
    """One version of an answer. `worker` and `session` are pseudonyms; `_ms` are the browser's milliseconds.

    `is_current` is False for a replaced version. `counted` is True for answers behind decisions and numbers: current,
    within the seat's time, and not by an excluded person. `left_out`: why the annotator's answers do not count,
    "excluded" or "". `simulated`: given by a program; None if unknown. `right`: the right option, or another right
    answer as JSON; empty if unknown. `label`: compared by agreement, empty for answers without a single label.
    `answer`: the whole answer, None if equal to the label. `writing`: how a text was written, None if unknown.
    `response`: suffix of the tasks about this answer. `retrievers`: counted answers of others to whom it was shown, of
    which `found` chose what it describes; None for an answer that nobody was asked about, and in releases frozen by an
    older version. `consent_version`: number of the consent text that its session agreed to last; None without one.
    `consents`: version -> when its session agreed to it, as JSON.
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
    retrievers: int | None = None
    found: int | None = None
    consent_version: int | None = None
    consents: str = ""

    @property
    def whole_answer(self) -> Any:
        return self.label if self.answer is None else self.answer


@dataclass(frozen=True, slots=True)
class AnsweredCheck:
    """An answer to a check of answers, under the columns of the format `checks`.

    `passed`: as `annotation.check_results` says. `answer`: the whole answer as JSON, "" if equal to the label.
    """

    task: str
    worker: str
    check: str
    label: str
    answer: str
    right: str
    passed: bool | None
    seconds: float | None
    session: str
    study: str
    kind: str
    key: str
    received_at: str


@dataclass(frozen=True, slots=True)
class DecidedQuestion:
    """A question with its outcome. `outcome` and `progress` are words of `analytics.outcomes`.

    `state`: the decision of its rule, or of a researcher (`settled`). It is not exported, because it calls questions
    accepted where nothing is. `winner`: the decided option, empty without one. `answers`: counted ones, of so many
    `wanted` by now. `simulated`: one of them is. Rows frozen by an older version have an empty outcome and progress,
    and None for wanted and simulated. `posterior`: option -> probability that it is right, by `posterior_method`, which
    also estimated the `difficulty`; empty where too few people answered, and in rows of an older version.
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
    posterior: Mapping[str, float] = field(default_factory=dict)
    posterior_method: str = ""
    difficulty: float | None = None


@dataclass(frozen=True, slots=True)
class GivenPrediction:
    """A model's answer to one question about an instance; `scores` is None if the source has outcomes only.

    `content_hash`: SHA-256 of what the model was shown (`studies.kinds.content_hash`), "" if a file of answers names no
    pictures. `about`: how it compares with people's questions: VERIFIED, SUPERSEDED, DECLARED or MISMATCHED, or "" in a
    release frozen by an older version. `conditions`: digest of its conditions, "" if it comes from a file.
    `trained_here`: whether the model was trained on data of the project; None in a release frozen by an older version.
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
    trained_here: bool | None = None


@dataclass(frozen=True, slots=True)
class RatingSummary:
    """The ratings of one kind of question, image role and category of instances.

    `asked`: which of several things asked at once, "" for others. `type`, `subtype`: "all" for all instances together.
    `mean`, its 95 % interval `low` to `high` for other people and instances, and `sd`, the sample standard deviation,
    are in steps of the scale, or in its numbers; None if undefined. `reason`: why there is no interval, else "".
    `steps`: step -> number of the `answers` with it.
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


# Values of `about`: the prediction is about the contents that people were asked about, or that the instance shows;
# about earlier contents; from a file, so that nobody can verify what the model saw; or its options differ from those of
# its question, and `is_right` is None.
VERIFIED, SUPERSEDED, DECLARED, MISMATCHED = ("verified", "superseded", "declared", "mismatched")


@dataclass(frozen=True, slots=True)
class PredictionConditions:
    """The conditions of scores, by digest: the SHA-256 of `details` as canonical JSON."""

    digest: str
    details: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class NotedEvent:
    """An event about the data: `what` is the rest of a sentence about `who`. `study`: "" for the whole project."""

    at: datetime
    who: str
    what: str
    study: str
    event: str


@dataclass(frozen=True, slots=True)
class DescribedImage:
    """A description of an image set; `number` is its position among those of the set, from 1.

    `target`: position of its image, from 0, None if unknown. `author`: whether the writer also wrote for the training
    split, as in `studies.descriptions`, "" if unknown. `tags`: phenomena found in it, of those `looked_for`. `study`,
    `task`: the question that accepted it; `worker`: its writer, a pseudonym; all "" for an imported one that nobody was
    asked about. `set_size`: number of images of its set, at least 1; releases frozen by an older version lack it and
    had ten. `type`: of the set, such as static or video; None in a release frozen by an older version. `paired`:
    position of the other image in the published pair, from 0, None without one.
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


INSTANCE_COLUMNS, RESPONSE_COLUMNS, WRITING_COLUMNS = names(INSTANCE), names(RESPONSE), names(WRITING)
DECISION_COLUMNS, PREDICTION_COLUMNS = names(DECISION), names(PREDICTION)


def instance_record(row: AcceptedInstance) -> dict[str, Any]:
    """Return `row` under INSTANCE_COLUMNS, in that order.

    An image column holds the source's file name, empty without such an image; a caption column is empty without such a
    caption.
    """
    shown = row.pair_images
    record: dict[str, Any] = dict.fromkeys(INSTANCE_COLUMNS, "")
    record |= {name: getattr(row, name) for name in INSTANCE_COLUMNS if hasattr(row, name)}
    record |= row.pair_captions
    for column, image in shown.items():
        record[column] = image.filename
        record[f"{column}_sha256"] = image.sha256 or ""
    for name in ("original_captions", "captions"):
        record[name] = dict(sorted(getattr(row, name).items()))
    record["votes"] = dict(sorted(row.votes.items()))
    record |= _soft_labels(row)
    record["questions"] = [question_record(question) for question in row.questions]
    record["images"] = [image_record(image) for image in row.images]
    return record


def target_text(target: Any) -> str:
    """Return a right answer or notes that a source file names: text as it is, anything else as JSON, "" for none."""
    if target is None or isinstance(target, str):
        return target or ""
    return json.dumps(target, ensure_ascii=False, sort_keys=True)


def question_record(question: AcceptedQuestion) -> dict[str, Any]:
    """Return a question of an accepted item; labels sorted, as a database may keep them in any order."""
    return asdict(question) | {"votes": dict(sorted(question.votes.items()))}


def image_record(image: ExportedImage) -> dict[str, Any]:
    """Return an image of an instance with all known fields and the name of its file; None while that is missing."""
    return {name: getattr(image, name) for name in (*ExportedImage.__slots__, "file")}


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
    record = {name: getattr(row, name, None) for name in DECISION_COLUMNS}
    record["votes"] = dict(sorted(row.votes.items()))
    record |= _soft_labels(row)
    record["decided_at"] = moment(row.decided_at) if row.decided_at else None
    return record


def _soft_labels(row: AcceptedInstance | DecidedQuestion) -> dict[str, dict[str, float]]:
    """Return the share of each option among the counted answers, and its posterior; labels sorted."""
    answers = sum(row.votes.values())
    shares = {label: round(number / answers, 6) for label, number in sorted(row.votes.items()) if answers}
    return {"soft_labels": shares, "posterior": dict(sorted(row.posterior.items()))}


def prediction_record(row: GivenPrediction) -> dict[str, Any]:
    """Return `row` under PREDICTION_COLUMNS, in that order; options sorted, as databases may reorder them."""
    record = {name: getattr(row, name) for name in PREDICTION_COLUMNS}
    record["scores"] = None if row.scores is None else dict(sorted(row.scores.items()))
    return record


def moment(at: datetime) -> str:
    return at.astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
