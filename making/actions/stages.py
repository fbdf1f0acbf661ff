"""One stage of a pipeline: request candidates, filter them, store them.

The filters at the beginning of a stage that judge texts on the site judge while candidates are made. If others follow,
what is left waits for these (`making.actions.filter_phases`).
"""

import hashlib
import json
from collections.abc import Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from background.errors import Failed
from background.work import RunningJob
from making.actions.candidate_images import MOST_REJECTED, remove_images, store_image
from making.actions.image_inputs import images_of, own_images
from making.actions.progress import read_after, step_of
from making.errors import CannotMake, CannotStore
from making.filters import CandidateImage, CandidateText, Filter, FilterInput, Verdict
from making.filters.base import gap_name
from making.makers import FoundImage, LoadedMaker, Made, MadeImage, MakerIdentity, NothingMade, Request
from making.models import Candidate, KnownText, Pipeline, UsedFilter, UsedMaker
from making.pipeline_file import PipelineFile, Stage
from making.texts import comparable, digest_of_words
from studies.importing.pictures import NotAPicture

# Candidates that are made, or turned into instances, in one transaction.
BATCH = 200
CHECKER = "checker"
# The score of an image that a maker found.
SIMILARITY = "similarity"


class StageRun:
    """One stage of a pipeline: what it makes candidates from, what it makes, and which of them it keeps."""

    def __init__(self, pipeline: Pipeline, wanted: PipelineFile, stage: Stage, now: datetime) -> None:
        self.pipeline, self.wanted, self.stage, self.now = pipeline, wanted, stage, now
        self.filters, self.first_filters = stage.checked_filters, stage.first_filters

    def waiting(self) -> QuerySet[Candidate]:
        """Return the candidates that wait for filters."""
        return self.pipeline.candidates.filter(stage=self.stage.name, state=Candidate.State.WAITS).order_by("pk")

    def parents(self) -> QuerySet[Candidate]:
        """Return the candidates that it makes others from."""
        return self.pipeline.candidates.filter(stage=self.stage.of, state=Candidate.State.KEPT).order_by("pk")

    def requests(self, parents: Sequence[Candidate]) -> list[Request]:
        count = self.stage.count
        if not self.stage.maker.reads_images:
            return [Request(parent.text, count, self._seed(parent)) for parent in parents]
        own = own_images(parents)
        return [
            Request("", count, self._seed(parent), parent.image_id or "", own.get(parent.start_id, frozenset()))
            for parent in parents
        ]

    def _seed(self, parent: Candidate) -> int:
        """Return a seed that depends on the pipeline, the stage and the parent, and not on batches or ids."""
        place = [self.wanted.seed, self.stage.name, parent.start_key, parent.stage, parent.number, parent.text]
        if self.stage.maker.reads_images:
            place.append(parent.image_id or "")
        return int.from_bytes(hashlib.sha256(json.dumps(place).encode()).digest()[:4])

    def used_maker(self, identity: MakerIdentity) -> UsedMaker:
        """Return the row of its maker with its options."""
        fields: dict[str, Any] = {
            "name": identity.name,
            "version": identity.version,
            "weights": identity.weights,
            "options": self.stage.maker.model_dump(mode="json"),
        }
        digest = hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
        return UsedMaker.objects.get_or_create(project=self.pipeline.project, digest=digest, defaults=fields)[0]

    def known_texts(self, candidates: Sequence[Candidate]) -> set[str]:
        """Return which of the candidates' texts exist, in their comparable form.

        In the project when the pipeline began, or among earlier candidates of this stage that were not rejected.
        """
        texts = {digest_of_words(one.text): comparable(one.text) for one in candidates}
        captions = KnownText.objects.filter(pipeline=self.pipeline, digest__in=texts)
        mine = self.pipeline.candidates.filter(stage=self.stage.name, digest__in=texts)
        mine = mine.filter(state__in=(Candidate.State.KEPT, Candidate.State.WAITS))
        if stored := [one.pk for one in candidates if one.pk is not None]:
            mine = mine.filter(pk__lt=min(stored))
        found = {*captions.values_list("digest", flat=True), *mine.values_list("digest", flat=True)}
        return {texts[digest] for digest in found}

    def candidates(
        self, used: UsedMaker, parents: Sequence[Candidate], results: Sequence[Sequence[Made] | NothingMade]
    ) -> list[Candidate]:
        """Return the unsaved candidates of what was made of each parent. Images are stored."""
        found = []
        for parent, request, result in zip(parents, self.requests(parents), results, strict=True):
            common: dict[str, Any] = {
                "pipeline": self.pipeline,
                "stage": self.stage.name,
                "parent": parent,
                "start_id": parent.start_id,
                "start_key": parent.start_key,
                "maker": used,
                "seed": request.seed,
                "made_at": self.now,
            }
            if isinstance(result, NothingMade):
                found.append(_not_made(result, common))
                continue
            found += [self._candidate(made, number, common) for number, made in enumerate(result, start=1)]
        return found

    def _candidate(self, made: Made, number: int, common: dict[str, Any]) -> Candidate:
        state = Candidate.State.WAITS if self.stage.later_filters else Candidate.State.KEPT
        one = Candidate(**common, number=number, state=state)
        if isinstance(made, FoundImage):
            one.image_id, one.scores = made.image, {SIMILARITY: made.similarity}
            return one
        one.prompt = made.prompt
        if not isinstance(made, MadeImage):
            one.text, one.digest = made.text, digest_of_words(made.text)
            one.prompt_tokens, one.completion_tokens = made.tokens.prompt, made.tokens.completion
            return one
        one.seed = made.seed
        if made.problem:
            one.state, one.rejected_by, one.reason = Candidate.State.REJECTED, CHECKER, made.problem
            rejected = self.pipeline.candidates.filter(stage=self.stage.name, state=Candidate.State.REJECTED)
            if rejected.count() >= MOST_REJECTED:
                return one
        try:
            one.image = store_image(made.data)
        except NotAPicture as error:
            one.state, one.rejected_by, one.reason = Candidate.State.REJECTED, CHECKER, str(error)
        return one

    def inputs(
        self, candidates: Sequence[Candidate], *, rival_role: str = "", starts: Mapping[str, str] | None = None
    ) -> list[FilterInput]:
        """Return candidates as filters see them. `starts`: the texts of their starts by key, for a whole stage."""
        parents = [one.parent.text if one.parent else "" for one in candidates]
        if self.stage.maker.makes_images:
            role = self.wanted.start.role
            # An image that was made of another one has the caption that the chain began with.
            parents = [
                text or (one.start.captions.get(role, "") if one.start else "")
                for one, text in zip(candidates, parents, strict=True)
            ]
            return [
                CandidateImage(one.image_id or "", text, one.start.captions.get(rival_role, "") if one.start else "")
                for one, text in zip(candidates, parents, strict=True)
            ]
        if starts is None:
            return [CandidateText(one.text, parent) for one, parent in zip(candidates, parents, strict=True)]
        return [
            CandidateText(one.text, parent, one.start_key, starts[one.start_key], one.scores)
            for one, parent in zip(candidates, parents, strict=True)
        ]

    def judge_first(self, candidates: Sequence[Candidate]) -> None:
        """Let the first filters judge new candidates."""
        for name, each in self.first_filters:
            self.judge_texts(name, each, [one for one in candidates if one.state != Candidate.State.NOT_MADE])

    def judge_texts(self, name: str, judge: Filter, candidates: Sequence[Candidate]) -> None:
        """Let a filter judge those of the candidates that are not rejected."""
        left = [one for one in candidates if one.state != Candidate.State.REJECTED]
        known = self.known_texts(left) if judge.reads_known and left else set[str]()
        texts = [CandidateText(one.text, one.parent.text if one.parent else "") for one in left]
        note_verdicts(name, left, judge.judge(texts, known))

    def note_filter(self, number: int, version: str, *, weights: str = "", note: str = "") -> None:
        """Record that the filter of this number, from 1, judged candidates of the stage."""
        name, _ = self.filters[number - 1]
        UsedFilter.objects.update_or_create(
            pipeline=self.pipeline,
            stage=self.stage.name,
            number=number,
            version=version,
            weights=weights,
            defaults={"name": name, "note": note},
        )


def note_verdicts(name: str, candidates: Sequence[Candidate], verdicts: Sequence[Verdict]) -> None:
    """Write what the filter called `name` says of each candidate into it."""
    for one, verdict in zip(candidates, verdicts, strict=True):
        if verdict.score is not None:
            one.scores[name] = verdict.score
        if verdict.gap is not None:
            one.scores[gap_name(name)] = verdict.gap
        if verdict.reason:
            one.state, one.rejected_by, one.reason = Candidate.State.REJECTED, name, verdict.reason


def save_verdicts(candidates: Sequence[Candidate]) -> None:
    """Save what filters wrote into stored candidates, in a transaction. Of rejected images, only samples stay."""
    first = candidates[0] if candidates else None
    dropped = []
    if first is not None and any(one.image_id for one in candidates):
        samples = Candidate.objects.filter(
            pipeline=first.pipeline_id, stage=first.stage, state=Candidate.State.REJECTED
        )
        count = samples.exclude(image=None).count()
        for one in candidates:
            if one.state == Candidate.State.REJECTED and one.image_id:
                count += 1
                if count > MOST_REJECTED:
                    dropped.append(one.image_id)
                    one.image = None
    Candidate.objects.bulk_update(candidates, ["state", "rejected_by", "reason", "scores", "image"], batch_size=BATCH)
    remove_images(dropped)


def _not_made(nothing: NothingMade, common: Mapping[str, Any]) -> Candidate:
    return Candidate(
        **common,
        state=Candidate.State.NOT_MADE,
        reason=nothing.reason,
        prompt=nothing.prompt,
        answer=nothing.answer,
        prompt_tokens=nothing.tokens.prompt,
        completion_tokens=nothing.tokens.completion,
    )


def _load(job: RunningJob, run: StageRun) -> LoadedMaker:
    """Load the maker of a stage; show it the images of the project if it reads images. Raises Failed."""
    name = run.stage.name

    def progress() -> None:
        # A stored step, so that a job that is out of time goes on in another one.
        job.advance(step=step_of(job, name))

    try:
        maker = run.stage.maker.load(run.stage.policy)
        if run.stage.maker.reads_images:
            maker.look_at(images_of(run.pipeline, run.wanted.start.images, progress=progress))
        return maker
    except CannotMake as error:
        raise Failed(f"The stage {run.stage.name} cannot start. {error}") from error


def run_stage(job: RunningJob, run: StageRun) -> None:
    """Make the candidates of a stage here, in batches, from candidates that it has not read yet."""
    maker = _load(job, run)
    used = run.used_maker(maker.identity)
    for number, (_, each) in enumerate(run.first_filters, start=1):
        run.note_filter(number, each.version)
    parents, after = run.parents(), read_after(job, run.stage.name)
    total, done = parents.count(), parents.filter(pk__lte=after).count()
    while batch := list(parents.filter(pk__gt=after)[:BATCH]):
        run.now = job.now()
        try:
            made = run.candidates(used, batch, maker.make(run.requests(batch)))
        except CannotStore as error:
            raise Failed(str(error)) from error
        run.judge_first(made)
        after, done = batch[-1].pk, done + len(batch)
        with transaction.atomic():
            Candidate.objects.bulk_create(made)
            job.advance(step=step_of(job, run.stage.name, after), done=done, total=total)
