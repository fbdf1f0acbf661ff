"""Counts and samples of the candidates of each stage of a pipeline."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime, timedelta

from django.db.models import Count, DurationField, F, Max, Min, Sum

from making.models import Candidate, Pipeline
from making.pipeline_file import START, AskedStage, PipelineFile, Stage, read_pipeline
from making.tokens import NO_TOKENS, Cost, Tokens
from studies.wording import format_time_left


@dataclass(frozen=True)
class StageYield:
    """Counts of one stage, in candidates. kept + rejected + not_made + waits is how many are stored.

    maker: its maker, or the name of the study (`is_study`) in which people made it.
    parents: candidates that it makes others from.
    not_made: parents of which nothing was made, each counted once.
    waits: candidates that have not passed all filters yet.
    reasons: why candidates are not kept -> how many, most first.
    notes: what filters found about the stage as a whole, as sentences.
    tokens: what a language model read and wrote for the stage, also for batches that failed.
    cost: of the tokens; None without a price in the pipeline file.
    device_hours: how long workers with models had their device for the stage; 0 without a price in the pipeline file.
    device_cost: of these hours; None without a price in the pipeline file, or if there are none.
    """

    name: str
    maker: str
    parents: int
    is_study: bool = False
    kept: int = 0
    rejected: int = 0
    not_made: int = 0
    waits: int = 0
    reasons: Mapping[str, int] = field(default_factory=dict)
    notes: Sequence[str] = ()
    tokens: Tokens = NO_TOKENS
    cost: Cost | None = None
    device_hours: float = 0
    device_cost: Cost | None = None

    @property
    def made(self) -> int:
        return self.kept + self.rejected + self.waits


def stage_yields(pipeline: Pipeline) -> Sequence[StageYield]:
    """Return the yield of each stage, in the order in which they run."""
    counted: dict[str, dict[str, int]] = {}
    reasons: dict[str, dict[str, int]] = {}
    tokens: dict[str, Tokens] = {}
    counts = {"n": Count("pk"), "prompt": Sum("prompt_tokens"), "completion": Sum("completion_tokens")}
    rows = pipeline.candidates.values_list("stage", "state", "reason").order_by().annotate(**counts)
    for stage, state, reason, n, prompt, completion in rows:
        tokens[stage] = tokens.get(stage, NO_TOKENS) + Tokens(prompt, completion)
        states = counted.setdefault(stage, {})
        states[state] = states.get(state, 0) + n
        if reason:
            reasons.setdefault(stage, {})[reason] = n
    for stage, lost in pipeline.batches.filter(lost_tokens__isnull=False).values_list("stage", "lost_tokens"):
        tokens[stage] = sum((Tokens(*each) for each in (lost or {}).values()), tokens.get(stage, NO_TOKENS))
    wanted = read_pipeline(pipeline.source)
    hours = {} if wanted.device is None else _device_hours(pipeline, wanted)
    notes = list(pipeline.used_filters.exclude(note=""))
    return [
        StageYield(
            name=stage.name,
            maker=wanted.name_of_study(stage) if isinstance(stage, AskedStage) else stage.make,
            is_study=isinstance(stage, AskedStage),
            parents=counted.get(stage.of, {}).get(Candidate.State.KEPT, 0),
            **{str(state): counted.get(stage.name, {}).get(state, 0) for state in Candidate.State},
            notes=tuple(f"{used.name}: {used.note}" for used in notes if used.stage == stage.name),
            reasons=dict(sorted(reasons.get(stage.name, {}).items(), key=lambda item: (-item[1], item[0]))),
            tokens=(used := tokens.get(stage.name, NO_TOKENS)),
            cost=None if isinstance(stage, AskedStage) else stage.maker.cost_of(used),
            device_hours=(used_hours := hours.get(stage.name, 0)),
            device_cost=wanted.device.cost_of(used_hours) if wanted.device is not None and used_hours else None,
        )
        for stage in wanted.ordered_stages
    ]


def _device_hours(pipeline: Pipeline, wanted: PipelineFile) -> Mapping[str, float]:
    """Return stage -> how many hours workers had their device for its batches, from their beginning to their answer.

    Batches that a server wrote do not count, nor do those that are not stored or whose beginning is unknown.
    """
    found: dict[str, float] = {}
    taken = Sum(F("stored_at") - F("sent_at"), output_field=DurationField())
    batches = pipeline.batches.filter(stored_at__isnull=False, sent_at__isnull=False, begun__gt=0)
    rows = batches.order_by().values_list("stage", "filter_number").annotate(time=taken)
    for name, filter_number, time in rows:
        stage = wanted.by_name[name]
        if filter_number or not (isinstance(stage, Stage) and stage.maker.waits_for_server):
            found[name] = found.get(name, 0) + time / timedelta(hours=1)
    return found


def stage_speeds(pipeline: Pipeline) -> Mapping[str, float]:
    """Return stage -> candidates per hour, between its first and its last batch; stages with one batch are left out.

    The candidates of the first batch do not count, because nobody knows when it began. Those that were not made count.
    """
    moments: dict[str, list[tuple[datetime, int]]] = {}
    rows = pipeline.candidates.exclude(stage=START).values_list("stage", "made_at").order_by("made_at")
    for stage, at, n in rows.annotate(n=Count("pk")):
        moments.setdefault(stage, []).append((at, n))
    asked = read_pipeline(pipeline.source).asked
    return {
        stage: sum(n for _, n in batches[1:]) / ((batches[-1][0] - batches[0][0]) / timedelta(hours=1))
        for stage, batches in moments.items()
        if len(batches) > 1 and stage not in asked
    }


def started_with(pipeline: Pipeline) -> int:
    """Return how many texts the pipeline began with."""
    return pipeline.candidates.filter(stage=START).count()


# Samples of each reason, and of what was kept; reasons that have samples.
MOST_SAMPLES, MOST_REASONS = 5, 10


@dataclass(frozen=True)
class Sample:
    """A candidate beside the text that it was made from. `reason`: why it is not kept, "" if it is.

    `waits`: whether its filters have not judged it yet. `image`: the SHA-256 of its picture, "" if there is none;
    `parent_image`: that of the picture it was made from. `prompt`: what a model was told. `answer`: what it said, if
    that could not be used.
    """

    parent: str
    text: str
    reason: str
    image: str = ""
    parent_image: str = ""
    prompt: str = ""
    answer: str = ""
    waits: bool = False

    @property
    def captions(self) -> Mapping[str, str]:
        """Return both texts as captions, so that their difference can be marked."""
        return {"parent": self.parent, "text": self.text}


def samples(pipeline: Pipeline, stage: StageYield) -> Sequence[Sample]:
    """Return the first candidates of a stage: some that were kept, and some for each reason why others were not.

    All of them in a trial.
    """
    rows = pipeline.candidates.filter(stage=stage.name).select_related("parent").order_by("pk")
    if pipeline.is_trial:
        found = list(rows)
    else:
        found = [
            one
            for reason in ("", *list(stage.reasons)[:MOST_REASONS])
            for one in rows.filter(reason=reason)[:MOST_SAMPLES]
        ]
    return [_sample(one) for one in found]


def _sample(one: Candidate) -> Sample:
    waits = one.state == Candidate.State.WAITS
    parent = one.parent
    if parent is None:
        return Sample("", one.text, one.reason, one.image_id or "", "", one.prompt, one.answer, waits)
    # A start has an image for makers of images; a text that was made from it shows none.
    parent_image = parent.image_id or "" if one.image_id or not one.text else ""
    image = one.image_id or ""
    return Sample(parent.text, one.text, one.reason, image, parent_image, one.prompt, one.answer, waits)


@dataclass(frozen=True)
class WorkerProgress:
    """How many batches of the step that workers are at are stored, of how many.

    `left`: the time that the rest will take; None before two batches are stored.
    """

    done: int
    total: int
    left: timedelta | None = None

    @property
    def left_in_words(self) -> str:
        return format_time_left(self.left or timedelta())


def worker_progress(pipeline: Pipeline) -> WorkerProgress:
    """Return how far workers with models are."""
    batches = pipeline.batches.filter(stage=pipeline.waits_for)
    if (first := batches.filter(stored_at=None).first()) is not None:
        batches = batches.filter(filter_number=first.filter_number)
    stored = batches.aggregate(n=Count("stored_at"), first=Min("stored_at"), last=Max("stored_at"), total=Count("pk"))
    left = None
    if stored["n"] > 1:
        left = (stored["last"] - stored["first"]) / (stored["n"] - 1) * (stored["total"] - stored["n"])
    return WorkerProgress(stored["n"], stored["total"], left)
