"""Turn the kept texts of a pipeline into instances, with the images that were made of them."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from datetime import datetime
from itertools import chain as joined
from itertools import product

from django.db import transaction
from django.db.models import F

from background.errors import Failed
from background.work import RunningJob
from making.actions.pipeline_studies import accepted_facts, study_of
from making.actions.progress import read_after, step_of
from making.actions.stages import BATCH, SIMILARITY
from making.models import Candidate, Pipeline
from making.pipeline_file import START, AskedStage, Instances, PipelineFile, Source, Stage, read_source
from studies.actions.projects.tags import add_tag
from studies.kinds import InstanceFacts
from studies.models import Instance, InstanceImage

# The last phase of a pipeline.
INSTANCES = "instances"
COPIED = ("source", "licence", "generator")
Chain = Mapping[str, Candidate]
"""Stage -> the candidate there, from the one that becomes an instance back to the start."""


def store_instances(
    job: RunningJob, pipeline: Pipeline, wanted: PipelineFile, design: Instances, asked: AskedStage | None = None
) -> None:
    """Turn every kept candidate of the stage `design.of` into an instance, and tag it.

    asked: the stage whose study asks about them; None for those that the pipeline ends with.
    """
    phase, tag = (asked.name, wanted.name_of_study(asked)) if asked else (INSTANCES, pipeline.name)
    after = read_after(job, phase)
    kept = pipeline.candidates.filter(stage=design.of, state=Candidate.State.KEPT).order_by("pk")
    total, done = kept.count(), kept.filter(pk__lte=after).count()
    while batch := list(kept.filter(pk__gt=after).select_related("start", "maker")[:BATCH]):
        after, done = batch[-1].pk, done + len(batch)
        with transaction.atomic():
            made = _Batch(pipeline, wanted, design, asked, batch, job.now()).save()
            if made:
                add_tag(project=pipeline.project, instances=made, name=tag)
            job.advance(step=step_of(job, phase, after), done=done, total=total)


class _Batch:
    """Candidates that become instances together."""

    def __init__(
        self,
        pipeline: Pipeline,
        wanted: PipelineFile,
        design: Instances,
        asked: AskedStage | None,
        candidates: Sequence[Candidate],
        now: datetime,
    ) -> None:
        self.pipeline, self.wanted, self.design, self.asked = pipeline, wanted, design, asked
        self.candidates, self.chains = candidates, _chains(candidates)
        self.made = _MadeImages(wanted, design, self.chains)
        sources = {read_source(text).stage for text in (*design.captions.values(), *design.images.values())}
        self.accepted = {
            name: accepted_facts(
                study_of(pipeline, wanted, wanted.asked[name]), now, {chain[name].instance_id for chain in self.chains}
            )
            for name in sources & wanted.asked.keys()
        }

    def save(self) -> list[int]:
        """Save the instances of the candidates that have all that an instance needs; return their ids."""
        captions = [self._captions(chain) for chain in self.chains]
        copied = self._copied_uses()
        complete = [
            number
            for number in range(len(self.candidates))
            if captions[number] and self.made.are_enough(number) and all(copied[number].values())
        ]
        keys = {number: self._key(self.chains[number]) for number in complete}
        taken = self.pipeline.project.instances.filter(key__in=keys.values()).values_list("key", flat=True).first()
        if taken is not None:
            raise Failed(f"The project already has an instance called {taken}. Give the pipeline another name.")
        instances = Instance.objects.bulk_create(
            self._instance(keys[number], self.chains[number], captions[number]) for number in complete
        )
        of = dict(zip(complete, instances, strict=True))
        if self.asked is None:
            for number, instance in of.items():
                self.candidates[number].instance = instance
            Candidate.objects.bulk_update([self.candidates[number] for number in complete], ["instance"])
        copies = [_copies(instance, copied[number]) for number, instance in of.items()]
        InstanceImage.objects.bulk_create([*joined.from_iterable(copies), *self.made.uses(of)])
        return [instance.pk for instance in instances]

    def _captions(self, chain: Chain) -> dict[str, str]:
        """Return the captions of an instance by role, {} if one of them does not exist."""
        found = {role: self._caption(chain, text) for role, text in self.design.captions.items()}
        return found if all(found.values()) else {}

    def _caption(self, chain: Chain, text: str) -> str:
        source = read_source(text)
        one = chain[source.stage]
        if not source.role:
            return one.text
        if source.stage == START:
            return str(one.start.captions.get(source.role, "")) if one.start else ""
        facts = self._facts(chain, source.stage)
        return facts.captions.get(source.role, "") if facts else ""

    def _facts(self, chain: Chain, stage: str) -> InstanceFacts | None:
        """Return what people accepted at a stage, None if it is no longer accepted."""
        return self.accepted[stage].get(chain[stage].instance_id or 0)

    def _key(self, chain: Chain) -> str:
        """Return the key of an instance: that of its start, the pipeline, and its number at each stage."""
        numbers = [chain[stage.name].number for stage in self.wanted.ordered_stages if stage.name in chain]
        parts = [self.pipeline.name, *([self.asked.name] if self.asked else []), *map(str, numbers)]
        end = "-".join(("", *parts))
        return f"{chain[START].start_key[: 200 - len(end)]}{end}"

    def _instance(self, key: str, chain: Chain, captions: Mapping[str, str]) -> Instance:
        made = chain[self.design.of]
        start = made.start
        return Instance(
            project=self.pipeline.project,
            key=key,
            type=self.design.type or (start.type if start else ""),
            subtype=start.subtype if start and not self.design.type else "",
            split=start.split if start else "",
            captions=captions,
            original_captions=captions,
            caption_rule=start.caption_rule if start else "as-is-v1",
            reference={"made": {"pipeline": self.pipeline.name, "from": chain[START].start_key} | _maker_facts(made)},
            source_file=f"{self.pipeline.name}.yaml",
            source_row=made.pk,
        )

    def _copied_uses(self) -> list[dict[str, list[InstanceImage]]]:
        """Return for each chain: role -> the images of its source instance, or of what people accepted, to copy."""
        wanted = {
            role: source
            for role, source in ((role, read_source(text)) for role, text in self.design.images.items())
            if source.stage not in self.wanted.image_stages
        }
        stages = {source.stage for source in wanted.values()} & self.wanted.asked.keys()
        origins = {chain[START].start_id for chain in self.chains}
        origins |= {chain[stage].instance_id for chain in self.chains for stage in stages}
        uses: dict[int, list[InstanceImage]] = defaultdict(list)
        for use in InstanceImage.objects.filter(instance__in=origins - {None}):
            uses[use.instance_id].append(use)
        return [{role: self._uses_of(chain, source, uses) for role, source in wanted.items()} for chain in self.chains]

    def _uses_of(self, chain: Chain, source: Source, uses: Mapping[int, list[InstanceImage]]) -> list[InstanceImage]:
        if source.stage in self.wanted.asked:
            return self._accepted_uses(chain, source.stage, source.role, uses)
        # A role alone is one of the source instance, as after "start.".
        name = source.role or source.stage
        return [use for use in uses.get(chain[START].start_id or 0, []) if use.role == name]

    def _accepted_uses(
        self, chain: Chain, stage: str, role: str, uses: Mapping[int, list[InstanceImage]]
    ) -> list[InstanceImage]:
        """Return the images in a role of what people accepted; acceptance may have put one of another role there."""
        facts, own = self._facts(chain, stage), uses.get(chain[stage].instance_id or 0, [])
        wanted = [image.sha256 for image in facts.images.get(role, [])] if facts else []
        by_image = {use.image_id: use for use in sorted(own, key=lambda use: use.role == role)}
        return [by_image[sha256] for sha256 in wanted if sha256 in by_image]


def _copies(instance: Instance, uses: Mapping[str, list[InstanceImage]]) -> Iterator[InstanceImage]:
    """Yield copies of images for an instance, by their new roles."""
    for role, found in uses.items():
        for position, use in enumerate(found):
            yield InstanceImage(
                instance=instance,
                role=role,
                position=position,
                filename=use.filename,
                image_id=use.image_id,
                **{name: getattr(use, name) for name in COPIED},
            )


def _chains(batch: Sequence[Candidate]) -> list[dict[str, Candidate]]:
    """Return the chain of each candidate."""
    chains, ends = [{one.stage: one} for one in batch], list(batch)
    while wanted := {end.parent_id for end in ends if end.parent_id is not None}:
        parents = Candidate.objects.select_related("start").in_bulk(wanted)
        # Candidates of one stage are equally far from the start.
        ends = [parents[end.parent_id] for end in ends if end.parent_id is not None]
        for chain, end in zip(chains, ends, strict=True):
            chain[end.stage] = end
    return chains


def _maker_facts(made: Candidate) -> dict[str, str | int | None]:
    return {} if made.maker is None else {"maker": str(made.maker), "seed": made.seed}


class _MadeImages:
    """The images that were made of the candidates of each chain, by role of the instance, in their order."""

    def __init__(self, wanted: PipelineFile, design: Instances, chains: Sequence[Mapping[str, Candidate]]) -> None:
        self._least = design.least_images
        images = wanted.image_stages
        self._stages = {role: images[source] for role, source in design.images.items() if source in images}
        self._chains = chains
        self._roots = {stage.name: wanted.root_of(stage) for stage in self._stages.values()}
        self._found: dict[tuple[str, int | None], list[Candidate]] = defaultdict(list)
        for stage, (root, distance) in self._roots.items():
            ancestor = "__".join(["parent"] * distance)
            rows = Candidate.objects.filter(
                stage=stage, state=Candidate.State.KEPT, **{f"{ancestor}__in": {chain[root].pk for chain in chains}}
            )
            order = ["__".join([*["parent"] * above, "number"]) for above in reversed(range(distance))]
            for image in rows.select_related("maker").annotate(root=F(f"{ancestor}_id")).order_by(*order):
                self._found[stage, image.root].append(image)
        self._origins = _origins(wanted, [one for some in self._found.values() for one in some])

    def are_enough(self, number: int) -> bool:
        """Whether the candidate of this chain has as many images of each stage as an instance needs."""
        return all(len(self._of(number, role)) >= self._least for role in self._stages)

    def uses(self, of: Mapping[int, Instance]) -> Iterator[InstanceImage]:
        """Yield the images of instances, by the number of their chain."""
        for number, role in product(of, self._stages):
            for position, image in enumerate(self._of(number, role)):
                yield InstanceImage(
                    instance=of[number],
                    role=role,
                    position=position,
                    image_id=image.image_id,
                    **self._facts(image, self._stages[role]),
                )

    def _facts(self, image: Candidate, stage: Stage) -> dict[str, str]:
        """Return where an image comes from: what made it, or what is known of one that was found."""
        origin = self._origins.get(image.image_id or "")
        if origin is not None:
            return {name: getattr(origin, name) for name in ("filename", *COPIED)}
        return {
            "filename": f"{image.pipeline_id}/{image.pk}.png",
            "source": f"Made from: {image.prompt}",
            "licence": stage.licence,
            "generator": f"{image.maker}, seed {image.seed}",
        }

    def _of(self, number: int, role: str) -> list[Candidate]:
        stage = self._stages[role].name
        root, _ = self._roots[stage]
        return self._found.get((stage, self._chains[number][root].pk), [])


def _origins(wanted: PipelineFile, images: Sequence[Candidate]) -> Mapping[str, InstanceImage]:
    """Return the first use of each image that was found in the project, by its SHA-256."""
    found = {one.image_id for one in images if SIMILARITY in one.scores}
    if not found:
        return {}
    uses = InstanceImage.objects.filter(
        instance__project__pipelines=images[0].pipeline_id, role=wanted.start.images, image__in=found
    )
    return {str(use.image_id): use for use in uses.order_by("-pk")}
