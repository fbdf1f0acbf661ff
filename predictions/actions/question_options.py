"""The options of a project's questions, as asked or as they would be asked."""

from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set
from typing import Any

from predictions.options import Options, options_of
from studies.actions.questions import asked_by_kind
from studies.kinds import CannotAsk, Kind, get_kind, usual_ask
from studies.models import Instance, Project, Question, StudyState

CHUNK = 2_000
Name = tuple[int, str, str]
_Ask = Mapping[str, Any]
_Found = dict[Name, list[Options]]


def options_asked(project: Project, names: Set[Name]) -> Mapping[Name, Sequence[Options] | str]:
    """Return the options of the questions with each of `names`, or a sentence saying why there are none.

    These are questions of launched studies and those that drafts would ask. If there are none, those that any study of
    the project, or the kind by default, would ask about the instance. Images need not have been imported.
    """
    found: _Found = {}
    why: dict[tuple[int, str], str] = {}
    for kind, instances in _by_kind(names):
        drafts, others = _asks(project, kind.name)
        asked = _together([*_launched_options(project, kind, instances), *_built(kind, drafts, instances, why)])
        rest = sorted({name[0] for name in names if name[1] == kind.name and name not in asked} & set(instances))
        found |= _together(_built(kind, [*drafts, *others, usual_ask(kind)], rest, why)) | asked
    return {name: found.get(name) or _why_not(name, found, why) for name in names}


def _by_kind(names: Set[Name]) -> Iterator[tuple[Kind, list[int]]]:
    """Yield each kind with the instances that it is asked about, in batches."""
    for kind in sorted({kind for _, kind, _ in names}):
        instances = sorted({instance for instance, of, _ in names if of == kind})
        for start in range(0, len(instances), CHUNK):
            yield get_kind(kind), instances[start : start + CHUNK]


def _asks(project: Project, kind: str) -> tuple[list[_Ask], list[_Ask]]:
    """Return the distinct question settings of `kind` in the project's drafts and in its launched studies."""
    drafts: list[_Ask] = []
    launched: list[_Ask] = []
    for study in project.studies.order_by("pk"):
        asks = drafts if study.state == StudyState.DRAFT else launched
        asks += [part.ask for part in study.design.parts if part.kind == kind and part.ask not in asks]
    return drafts, launched


def _launched_options(project: Project, kind: Kind, instances: Sequence[int]) -> Iterator[tuple[Name, Options]]:
    asked = Question.objects.filter(study__project=project, kind=kind.name, instance__in=instances)
    asked = asked.filter(taken_out_at=None, undone_at=None).exclude(study__state=StudyState.DRAFT)
    rows = asked.order_by("pk").values_list("instance_id", "variant", "content", "right")
    for instance, variant, content, right in rows.iterator(chunk_size=CHUNK):
        yield (instance, kind.name, variant), options_of(kind, content, right)


def _built(
    kind: Kind, asks: Iterable[_Ask], instances: Sequence[int], why: dict[tuple[int, str], str]
) -> Iterator[tuple[Name, Options]]:
    """Yield the questions that `kind` would ask about `instances`; note in `why` where it cannot."""
    for ask in asks:
        about = Instance.objects.filter(pk__in=instances)
        for instance, built in asked_by_kind(kind, about, ask=ask, with_files=False):
            if isinstance(built, CannotAsk):
                why[instance.pk, kind.name] = str(built)
            else:
                yield (instance.pk, kind.name, built.variant), options_of(kind, built.content, built.right_option)


def _together(asked: Iterable[tuple[Name, Options]]) -> _Found:
    found: _Found = defaultdict(list)
    for name, options in asked:
        if options not in found[name]:
            found[name].append(options)
    return dict(found)


def _why_not(name: Name, found: _Found, why: Mapping[tuple[int, str], str]) -> str:
    instance, kind, _ = name
    if variants := sorted(variant for of, asks, variant in found if (of, asks) == (instance, kind)):
        return f"nothing asks this variant of {kind}; use one of {', '.join(map(repr, variants))}"
    return why.get((instance, kind), f"{kind} asks nothing about this instance").rstrip(".")
