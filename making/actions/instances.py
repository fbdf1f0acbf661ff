"""Turn the kept texts of a pipeline into instances, with the images that were made of them."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence

from django.db import transaction

from background.errors import Failed
from background.work import RunningJob
from making.actions.stages import BATCH
from making.models import Candidate, Pipeline
from making.pipeline_file import START, Instances, PipelineFile
from studies.models import Instance, InstanceImage

# The last phase of a pipeline.
INSTANCES = "instances"
COPIED = ("source", "licence", "generator")


def store_instances(job: RunningJob, pipeline: Pipeline, wanted: PipelineFile, after: int) -> None:
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
    made = _MadeImages(wanted, design, chains)
    complete = [number for number in range(len(batch)) if made.are_enough(number)]
    keys = {number: _key(pipeline, chains[number], wanted) for number in complete}
    taken = pipeline.project.instances.filter(key__in=keys.values()).values_list("key", flat=True).first()
    if taken is not None:
        raise Failed(f"The project already has an instance called {taken}. Give the pipeline another name.")
    instances = Instance.objects.bulk_create(
        _instance(pipeline, design, keys[number], chains[number]) for number in complete
    )
    for number, instance in zip(complete, instances, strict=True):
        batch[number].instance = instance
    Candidate.objects.bulk_update([batch[number] for number in complete], ["instance"])
    InstanceImage.objects.bulk_create(
        [
            *_copied_images(wanted, design, [batch[number] for number in complete]),
            *(image for number in complete for image in made.uses(number, batch[number])),
        ]
    )


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
    end = "-".join(("", pipeline.name, *map(str, numbers)))
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
        reference={"made": {"pipeline": pipeline.name} | _maker_facts(made)},
        source_file=f"{pipeline.name}.yaml",
        source_row=made.pk,
    )


def _maker_facts(made: Candidate) -> dict[str, str | int | None]:
    return {} if made.maker is None else {"maker": str(made.maker), "seed": made.seed}


class _MadeImages:
    """The images that were made of the candidates of each chain, by role of the instance, in their order."""

    def __init__(self, wanted: PipelineFile, design: Instances, chains: Sequence[Mapping[str, Candidate]]) -> None:
        self._least = design.least_images
        self._stages = {
            role: wanted.image_stages[source] for role, source in design.images.items() if source in wanted.image_stages
        }
        self._chains = chains
        parents = {chain[stage.of].pk for chain in chains for stage in self._stages.values()}
        rows = Candidate.objects.filter(
            parent__in=parents, stage__in={stage.name for stage in self._stages.values()}, state=Candidate.State.KEPT
        )
        self._found: dict[tuple[str, int | None], list[Candidate]] = defaultdict(list)
        for image in rows.select_related("maker").order_by("number"):
            self._found[image.stage, image.parent_id].append(image)

    def are_enough(self, number: int) -> bool:
        """Whether the candidate of this chain has as many images of each stage as an instance needs."""
        return all(len(self._of(number, role)) >= self._least for role in self._stages)

    def uses(self, number: int, candidate: Candidate) -> Iterator[InstanceImage]:
        for role, stage in self._stages.items():
            for position, image in enumerate(self._of(number, role)):
                yield InstanceImage(
                    instance=candidate.instance,
                    role=role,
                    position=position,
                    filename=f"{candidate.pipeline_id}/{image.pk}.png",
                    image_id=image.image_id,
                    source=f"Made from: {image.prompt}",
                    licence=stage.licence,
                    generator=f"{image.maker}, seed {image.seed}",
                )

    def _of(self, number: int, role: str) -> list[Candidate]:
        stage = self._stages[role]
        return self._found.get((stage.name, self._chains[number][stage.of].pk), [])


def _copied_images(wanted: PipelineFile, design: Instances, batch: Sequence[Candidate]) -> Iterable[InstanceImage]:
    """Yield copies of the images of the instances that the batch began with, in their new roles."""
    roles: dict[str, list[str]] = {}
    for role, source in design.images.items():
        if source not in wanted.image_stages:
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
