"""Request and run pipelines: candidates are made, filtered and turned into instances in batches."""

import hashlib
import json
from collections.abc import Iterable, Mapping, Sequence
from datetime import datetime
from typing import Any

from django.db import transaction

from background.errors import Failed
from background.jobs import cancel, request_job
from background.models import Job
from background.work import RunningJob, Work
from making.errors import CannotMake
from making.filters import CandidateText
from making.makers import LoadedMaker, NothingMade, Request
from making.models import Candidate, Pipeline, UsedMaker
from making.pipeline_file import START, Instances, PipelineFile, Stage, read_pipeline
from making.texts import comparable
from studies.actions.events import Actor, What, name_of, person, record
from studies.actions.projects.tags import tag_instances
from studies.errors import StudyError
from studies.models import Instance, InstanceImage, Project

KIND = "making.pipeline"
# The last phase, after the stages: candidates become instances.
INSTANCES = "instances"
BATCH = 200
# Texts that a trial begins with.
TRIAL_TEXTS = 10
COPIED = ("source", "licence", "generator")


@transaction.atomic
def request_pipeline(*, project: Project, source: str, by: Actor, now: datetime) -> tuple[Pipeline, Job | None]:
    """Store a pipeline and queue its job; return both, the job None if nothing is left to do.

    An equal pipeline that stopped goes on where it was. Raises DesignRefused or StudyError.
    """
    wanted = read_pipeline(source)
    pipeline, is_new = Pipeline.objects.select_for_update(of=("self",)).get_or_create(
        project=project, name=wanted.name, is_trial=False, defaults=_fields(source, by, now)
    )
    if read_pipeline(pipeline.source) != wanted:
        raise StudyError(
            f"The project has a pipeline called {wanted.name} with another content, and its candidates name it. "
            "Give this one another name."
        )
    if pipeline.finished_at is not None:
        return pipeline, None
    if is_new:
        record(project=project, what=What.PIPELINE_REQUESTED, by=by, now=now, pipeline=pipeline.name)
    return pipeline, _queue(pipeline, by, now)


@transaction.atomic
def request_trial(*, project: Project, source: str, by: Actor, now: datetime) -> tuple[Pipeline, Job]:
    """Queue a trial of a pipeline on a few texts, in place of the last one of its name. Raises DesignRefused."""
    name = read_pipeline(source).name
    for old in Pipeline.objects.select_for_update(of=("self",)).filter(project=project, name=name, is_trial=True):
        if old.job is not None:
            cancel(job=old.job, now=now)
        old.delete()
    trial = Pipeline.objects.create(project=project, name=name, is_trial=True, **_fields(source, by, now))
    return trial, _queue(trial, by, now)


def _fields(source: str, by: Actor, now: datetime) -> dict[str, Any]:
    return {"source": source, "requested_by": person(by), "by_name": name_of(by), "requested_at": now}


def _queue(pipeline: Pipeline, by: Actor, now: datetime) -> Job:
    before = pipeline.job
    job, is_new = request_job(
        kind=KIND, arguments={"pipeline": pipeline.pk}, by=person(by), now=now, key=str(pipeline.pk)
    )
    if is_new and before is not None:
        # A job that failed or was cancelled has stored how far it came.
        Job.objects.filter(pk=job.pk).update(step=before.step)
    pipeline.job = job
    pipeline.save(update_fields=["job"])
    return job


@transaction.atomic
def cancel_pipeline(*, pipeline: Pipeline, by: Actor, now: datetime) -> None:
    """Cancel the job of a pipeline: what was made stays, and the pipeline can go on later. Raises StudyError."""
    if pipeline.job is None or not pipeline.is_unfinished:
        raise StudyError("This pipeline has already ended, so there was nothing to cancel.")
    if not pipeline.is_trial:
        record(project=pipeline.project, what=What.PIPELINE_CANCELLED, by=by, now=now, pipeline=pipeline.name)
    cancel(job=pipeline.job, now=now)


def _run(job: RunningJob) -> None:
    found = Pipeline.objects.filter(pk=job.arguments["pipeline"]).select_related("project", "requested_by")
    if (pipeline := found.first()) is None:
        # A trial that another one replaced.
        return
    wanted = read_pipeline(pipeline.source)
    phases = [START, *(stage.name for stage in wanted.ordered_stages), *([] if pipeline.is_trial else [INSTANCES])]
    begun = job.step.get("phase", START)
    by_name = {stage.name: stage for stage in wanted.stages}
    for phase in phases[phases.index(begun) :]:
        after = int(job.step["after"]) if job.step.get("phase") == phase else 0
        if phase == START:
            _store_start(job, pipeline, wanted, after)
        elif phase == INSTANCES:
            _store_instances(job, pipeline, wanted, after)
        else:
            _StageRun(job, pipeline, wanted, by_name[phase]).run(after)
    with transaction.atomic():
        job.check()
        Pipeline.objects.filter(pk=pipeline.pk).update(finished_at=job.now())
        if pipeline.is_trial:
            return
        made = list(pipeline.candidates.filter(instance__isnull=False).values_list("instance", flat=True))
        by: Actor = pipeline.requested_by or pipeline.by_name
        told: dict[str, Any] = {"project": pipeline.project, "by": by, "now": job.now()}
        if made:
            tag_instances(instances=made, name=pipeline.name, **told)
        record(what=What.PIPELINE_FINISHED, pipeline=pipeline.name, instances=len(made), **told)


def _store_start(job: RunningJob, pipeline: Pipeline, wanted: PipelineFile, after: int) -> None:
    """Copy the captions that the pipeline begins with."""
    role = wanted.start.role
    instances = pipeline.project.instances.filter(captions__has_key=role).order_by("pk")
    # Instances that pipelines made are no beginning: they would be made from again.
    instances = instances.exclude(reference__has_key="made")
    if pipeline.is_trial:
        ids = list(instances.values_list("pk", flat=True))
        # Spread over the project, for neighbours are often alike.
        instances = instances.filter(pk__in=ids[:: max(1, len(ids) // TRIAL_TEXTS)][:TRIAL_TEXTS])
    total, done = instances.count(), instances.filter(pk__lte=after).count()
    if not total:
        raise Failed(
            f"No instance of the project has a caption in the role {role}. Import some, or name another role in "
            "`start`."
        )
    while batch := list(instances.filter(pk__gt=after).values_list("pk", "key", "captions")[:BATCH]):
        after, done = batch[-1][0], done + len(batch)
        with transaction.atomic():
            Candidate.objects.bulk_create(
                Candidate(
                    pipeline=pipeline,
                    stage=START,
                    start_id=pk,
                    start_key=key,
                    text=captions[role],
                    state=Candidate.State.KEPT,
                    made_at=job.now(),
                )
                for pk, key, captions in batch
            )
            job.advance(step={"phase": START, "after": after}, done=done, total=total)


class _StageRun:
    """One stage of a pipeline, run in batches of the candidates that it makes others from."""

    def __init__(self, job: RunningJob, pipeline: Pipeline, wanted: PipelineFile, stage: Stage) -> None:
        self.job, self.pipeline, self.wanted, self.stage = job, pipeline, wanted, stage
        self.filters = stage.checked_filters

    def run(self, after: int) -> None:
        try:
            maker = self.stage.maker.load(self.stage.policy)
        except CannotMake as error:
            raise Failed(f"The stage {self.stage.name} cannot begin. {error}") from error
        used = self._used(maker)
        parents = self.pipeline.candidates.filter(stage=self.stage.of, state=Candidate.State.KEPT).order_by("pk")
        total, done = parents.count(), parents.filter(pk__lte=after).count()
        known = self._known_texts()
        while batch := list(parents.filter(pk__gt=after)[:BATCH]):
            made = self._make(maker, used, batch)
            self._filter([one for one in made if one.state == Candidate.State.KEPT], known)
            after, done = batch[-1].pk, done + len(batch)
            with transaction.atomic():
                Candidate.objects.bulk_create(made)
                self.job.advance(step={"phase": self.stage.name, "after": after}, done=done, total=total)

    def _used(self, maker: LoadedMaker) -> UsedMaker:
        identity = maker.identity
        fields: dict[str, Any] = {
            "name": identity.name,
            "version": identity.version,
            "weights": identity.weights,
            "options": self.stage.maker.model_dump(mode="json"),
        }
        digest = hashlib.sha256(json.dumps(fields, sort_keys=True).encode()).hexdigest()
        return UsedMaker.objects.get_or_create(project=self.pipeline.project, digest=digest, defaults=fields)[0]

    def _known_texts(self) -> set[str]:
        """Return the captions of the project and the kept candidates of this stage, in their comparable form."""
        captions = self.pipeline.project.instances.values_list("captions", flat=True)
        known = {comparable(text) for each in captions.iterator() for text in each.values()}
        mine = self.pipeline.candidates.filter(stage=self.stage.name, state=Candidate.State.KEPT)
        return known | {comparable(text) for text in mine.values_list("text", flat=True).iterator()}

    def _make(self, maker: LoadedMaker, used: UsedMaker, parents: Sequence[Candidate]) -> list[Candidate]:
        requests = [Request(parent.text, self.stage.count, self._seed(parent)) for parent in parents]
        found = []
        for parent, request, result in zip(parents, requests, maker.make(requests), strict=True):
            common: dict[str, Any] = {
                "pipeline": self.pipeline,
                "stage": self.stage.name,
                "parent": parent,
                "start_id": parent.start_id,
                "start_key": parent.start_key,
                "maker": used,
                "seed": request.seed,
                "made_at": self.job.now(),
            }
            if isinstance(result, NothingMade):
                found.append(Candidate(**common, state=Candidate.State.NOT_MADE, reason=result.reason))
                continue
            found += [
                Candidate(**common, number=number, text=made.text, prompt=made.prompt, state=Candidate.State.KEPT)
                for number, made in enumerate(result, start=1)
            ]
        return found

    def _seed(self, parent: Candidate) -> int:
        """Return a seed that depends on the pipeline, the stage and the parent, and not on batches or ids."""
        place = [self.wanted.seed, self.stage.name, parent.start_key, parent.stage, parent.number, parent.text]
        return int.from_bytes(hashlib.sha256(json.dumps(place).encode()).digest()[:4])

    def _filter(self, candidates: list[Candidate], known: set[str]) -> None:
        """Reject what a filter rejects, and add the texts of the rest to those that are known."""
        left = candidates
        for name, each in self.filters:
            texts = [CandidateText(one.text, one.parent.text if one.parent else "") for one in left]
            for one, verdict in zip(left, each.judge(texts, known), strict=True):
                if verdict.score is not None:
                    one.scores[name] = verdict.score
                if verdict.reason:
                    one.state, one.rejected_by, one.reason = Candidate.State.REJECTED, name, verdict.reason
            left = [one for one in left if one.state == Candidate.State.KEPT]
        known.update(comparable(one.text) for one in left)


def _store_instances(job: RunningJob, pipeline: Pipeline, wanted: PipelineFile, after: int) -> None:
    """Turn every kept candidate of the stage `instances.of` into an instance."""
    design = wanted.instances
    if design is None:
        return
    kept = pipeline.candidates.filter(stage=design.of, state=Candidate.State.KEPT).order_by("pk")
    total, done = kept.count(), kept.filter(pk__lte=after).count()
    while batch := list(kept.filter(pk__gt=after).select_related("start", "maker")[:BATCH]):
        after, done = batch[-1].pk, done + len(batch)
        with transaction.atomic():
            _save_instances(pipeline, wanted, design, batch)
            job.advance(step={"phase": INSTANCES, "after": after}, done=done, total=total)


def _save_instances(pipeline: Pipeline, wanted: PipelineFile, design: Instances, batch: Sequence[Candidate]) -> None:
    chains = _chains(batch)
    keys = [_key(pipeline, chain, wanted) for chain in chains]
    taken = list(pipeline.project.instances.filter(key__in=keys).values_list("key", flat=True)[:1])
    if taken:
        raise Failed(f"The project has an instance called {taken[0]} already. Give the pipeline another name.")
    instances = Instance.objects.bulk_create(
        _instance(pipeline, design, key, chain) for key, chain in zip(keys, chains, strict=True)
    )
    for one, instance in zip(batch, instances, strict=True):
        one.instance = instance
    Candidate.objects.bulk_update(batch, ["instance"])
    InstanceImage.objects.bulk_create(_images(design, batch))


def _chains(batch: Sequence[Candidate]) -> list[dict[str, Candidate]]:
    """Return for each candidate: stage -> the candidate there, back to the start."""
    chains, ends = [{one.stage: one} for one in batch], list(batch)
    while wanted := {end.parent_id for end in ends if end.parent_id is not None}:
        parents = Candidate.objects.in_bulk(wanted)
        # Candidates of one stage are equally far from the start.
        ends = [parents[end.parent_id] for end in ends if end.parent_id is not None]
        for chain, end in zip(chains, ends, strict=True):
            chain[end.stage] = end
    return chains


def _key(pipeline: Pipeline, chain: Mapping[str, Candidate], wanted: PipelineFile) -> str:
    """Return the key of an instance: that of its start, the pipeline, and its number at each stage."""
    numbers = [chain[stage.name].number for stage in wanted.ordered_stages if stage.name in chain]
    end = f"-{pipeline.name}-{'-'.join(map(str, numbers))}"
    return f"{chain[START].start_key[: 200 - len(end)]}{end}"


def _instance(pipeline: Pipeline, design: Instances, key: str, chain: Mapping[str, Candidate]) -> Instance:
    captions = {role: chain[source].text for role, source in design.captions.items()}
    made = chain[design.of]
    start = made.start
    return Instance(
        project=pipeline.project,
        key=key,
        type=design.type or (start.type if start else ""),
        subtype=start.subtype if start and not design.type else "",
        split=start.split if start else "",
        captions=captions,
        original_captions=captions,
        caption_rule=start.caption_rule if start else "as-is-v1",
        reference={"made": {"pipeline": pipeline.name, "maker": str(made.maker), "seed": made.seed}},
        source_file=f"{pipeline.name}.yaml",
        source_row=made.pk,
    )


def _images(design: Instances, batch: Sequence[Candidate]) -> Iterable[InstanceImage]:
    """Yield copies of the images of the instances that the batch began with, in their new roles."""
    roles: dict[str, list[str]] = {}
    for role, source in design.images.items():
        roles.setdefault(source, []).append(role)
    uses: dict[int, list[InstanceImage]] = {}
    for use in InstanceImage.objects.filter(instance__in={one.start_id for one in batch}, role__in=roles):
        uses.setdefault(use.instance_id, []).append(use)
    for one in batch:
        for use in uses.get(one.start_id or 0, []):
            for role in roles[use.role]:
                yield InstanceImage(
                    instance=one.instance,
                    role=role,
                    position=use.position,
                    filename=use.filename,
                    image_id=use.image_id,
                    **{name: getattr(use, name) for name in COPIED},
                )


MAKE = Work(run=_run, trouble="The pipeline stopped.", unit="texts", minutes=60)
