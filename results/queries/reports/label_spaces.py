"""What can be answered to the questions of a study, as their kinds say of what was frozen into them."""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

from results.reports.facts import Answerable
from studies.kinds import Scale, get_kind, last_keys
from studies.kinds.base import Level
from studies.models import Question, Study
from studies.rules import get_rule

# Rows fetched at once: each fetch is a round trip.
CHUNK = 1000


def answerable_in(study: Study) -> Mapping[str, Answerable]:
    """Return kind -> what can be answered to its questions; those of the first one stand for all.

    Options that stand in a random order may differ between questions; those that always come last, and how answers
    compare, do not.
    """
    found: dict[str, Answerable] = {}
    for part in study.design.parts:
        if part.kind not in found:
            found[part.kind] = _answerable(study, part.kind)
    return found


def _answerable(study: Study, name: str) -> Answerable:
    content = Question.objects.filter(study=study, kind=name).order_by("pk").values_list("content", flat=True).first()
    if content is None:
        return Answerable()
    kind = get_kind(name)
    options = kind.options(content)
    return Answerable(
        options=list(kind.categories(content)),
        last=last_keys(kind, content) if kind.has_one_label else (),
        names={option.key: option.label for option in options if option.label},
        groupings=kind.label_groupings(content),
        # Where it differs, all questions have to be read to know it.
        scale=Scale() if kind.scale_varies else kind.scale(content),
        has_one_label=kind.has_one_label,
        is_preference=kind.is_preference,
        units=kind.unit_scales(content),
        compares=get_rule(study.rule).needs.compares,
    )


def shown_beside(study: Study) -> dict[int, tuple[str, ...]]:
    """Return which options stood beside each other in each question that asks which is preferred."""
    prefer = [part.kind for part in study.design.parts if get_kind(part.kind).is_preference]
    if not prefer:
        return {}
    asked = Question.objects.filter(study=study, kind__in=prefer).values_list("pk", "kind", "content")
    return {
        pk: tuple(option.key for option in get_kind(name).options(content) if option.shuffled)
        for pk, name, content in asked.iterator(chunk_size=CHUNK)
    }


def with_all_labels(study: Study, answerable: Mapping[str, Answerable]) -> dict[str, Answerable]:
    """Return `answerable` with the labels of all questions of `study`: an instance may offer more options than the
    first one does, and a coefficient of agreement counts what could have been said. Where the answers to some questions
    compare otherwise than those to others, with both."""
    # Options that always come last are the same in every question.
    differing = [name for name, found in answerable.items() if len(found.last) < len(found.options) or found.units]
    labels: dict[str, dict[str, None]] = {name: {} for name in differing}
    alike = dict.fromkeys(differing, True)
    scales: dict[str, dict[Level, tuple[dict[str, float], set[int]]]] = {name: {} for name in differing}
    units: dict[str, dict[str, Scale]] = {name: {} for name in differing}
    asked = Question.objects.filter(study=study, kind__in=differing).order_by("pk").values_list("pk", "kind", "content")
    for pk, name, content in asked.iterator(chunk_size=CHUNK) if differing else ():
        kind = get_kind(name)
        own = kind.categories(content)
        if kind.scale_varies:
            scale = kind.scale(content)
            values, on_it = scales[name].setdefault(scale.level, ({}, set()))
            values.update(scale.values)
            on_it.add(pk)
        units[name].update(kind.unit_scales(content))
        labels[name].update(dict.fromkeys(own))
        alike[name] &= set(own) == set(answerable[name].options)
    whole = {
        name: replace(
            answerable[name],
            options=_last_ones_last(found, answerable[name].last),
            same_for_all=alike[name],
            units=units[name],
        )
        for name, found in labels.items()
    }
    return {**answerable, **{name: _on_its_scales(found, scales[name]) for name, found in whole.items()}}


def _on_its_scales(answerable: Answerable, found: Mapping[Level, tuple[Mapping[str, float], set[int]]]) -> Answerable:
    """Return `answerable` on the scale that its questions have or, where they have several, on none with each apart."""
    if not found:
        return answerable
    if len(found) == 1:
        (level, (values, _)) = next(iter(found.items()))
        return replace(answerable, scale=Scale(level, values))
    apart = [(Scale(level, values), frozenset(questions)) for level, (values, questions) in found.items()]
    return replace(answerable, apart=sorted(apart, key=lambda each: each[0].level))


def _last_ones_last(labels: Iterable[str], last: Sequence[str]) -> list[str]:
    return [*(label for label in labels if label not in last), *last]
