"""One stage of a pipeline: request candidates, filter them, store them."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from background.errors import Failed
from background.work import RunningJob
from making.actions.candidate_images import MOST_REJECTED, store_image
from making.actions.image_inputs import images_of, own_images
from making.actions.progress import read_after, step_of
from making.errors import CannotMake
from making.filters import CandidateText
from making.makers import FoundImage, LoadedMaker, Made, MadeImage, MakerIdentity, NothingMade, Request
from making.models import Candidate, Pipeline, UsedMaker
from making.pipeline_file import PipelineFile, Stage
from making.texts import comparable
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
        self.filters = stage.checked_filters

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

    def known_texts(self) -> set[str]:
        """Return the captions of the project and the kept candidates of this stage, in their comparable form."""
        captions = self.pipeline.project.instances.values_list("captions", flat=True)
        known = {comparable(text) for each in captions.iterator() for text in each.values()}
        mine = self.pipeline.candidates.filter(stage=self.stage.name, state=Candidate.State.KEPT)
        return known | {comparable(text) for text in mine.values_list("text", flat=True).iterator()}

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
        one = Candidate(**common, number=number, state=Candidate.State.KEPT)
        if isinstance(made, FoundImage):
            one.image_id, one.scores = made.image, {SIMILARITY: made.similarity}
            return one
        one.prompt = made.prompt
        if not isinstance(made, MadeImage):
            one.text = made.text
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

    def filter(self, candidates: Iterable[Candidate], known: set[str]) -> None:
        """Reject what a filter rejects, and add the texts of the rest to those that are known."""
        left = [one for one in candidates if one.state == Candidate.State.KEPT]
        for name, each in self.filters:
            texts = [CandidateText(one.text, one.parent.text if one.parent else "") for one in left]
            for one, verdict in zip(left, each.judge(texts, known), strict=True):
                if verdict.score is not None:
                    one.scores[name] = verdict.score
                if verdict.reason:
                    one.state, one.rejected_by, one.reason = Candidate.State.REJECTED, name, verdict.reason
            left = [one for one in left if one.state == Candidate.State.KEPT]
        known.update(comparable(one.text) for one in left)


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
    used, known = run.used_maker(maker.identity), run.known_texts()
    parents, after = run.parents(), read_after(job, run.stage.name)
    total, done = parents.count(), parents.filter(pk__lte=after).count()
    while batch := list(parents.filter(pk__gt=after)[:BATCH]):
        run.now = job.now()
        made = run.candidates(used, batch, maker.make(run.requests(batch)))
        run.filter(made, known)
        after, done = batch[-1].pk, done + len(batch)
        with transaction.atomic():
            Candidate.objects.bulk_create(made)
            job.advance(step=step_of(job, run.stage.name, after), done=done, total=total)
