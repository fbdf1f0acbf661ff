"""Label spaces of a study's questions, from their kinds and frozen contents."""

from collections.abc import Mapping
from dataclasses import replace

from results.reports.facts import LabelSpace
from studies.kinds import Scale, get_kind, last_keys
from studies.kinds.base import Level
from studies.models import Question, Study
from studies.rules import get_rule

# Rows per fetch: each fetch is a round trip.
CHUNK = 1000


def label_spaces(study: Study) -> Mapping[str, LabelSpace]:
    """Return kind -> its label space; the first question stands for all.

    Shuffled options may differ between questions; fixed last options and the comparison of answers do not.
    """
    found: dict[str, LabelSpace] = {}
    for part in study.design.parts:
        if part.kind not in found:
            found[part.kind] = _answerable(study, part.kind)
    return found


def _answerable(study: Study, name: str) -> LabelSpace:
    content = Question.objects.filter(study=study, kind=name).order_by("pk").values_list("content", flat=True).first()
    if content is None:
        return LabelSpace()
    kind = get_kind(name)
    options = kind.options(content)
    return LabelSpace(
        options=list(kind.categories(content)),
        last=last_keys(kind, content) if kind.has_one_label else (),
        names={option.key: option.label for option in options if option.label},
        groupings=kind.label_groupings(content),
        # If it varies, all questions have to be read.
        scale=Scale() if kind.scale_varies else kind.scale(content),
        has_one_label=kind.has_one_label,
        is_preference=kind.is_preference,
        units=kind.unit_scales(content),
        compares=get_rule(study.rule).needs.compares,
    )


def preference_options(study: Study) -> dict[int, tuple[str, ...]]:
    """Return the options shown together in each question that asks for a preference."""
    prefer = [part.kind for part in study.design.parts if get_kind(part.kind).is_preference]
    if not prefer:
        return {}
    asked = Question.objects.filter(study=study, kind__in=prefer).values_list("pk", "kind", "content")
    return {
        pk: tuple(option.key for option in get_kind(name).options(content) if option.shuffled)
        for pk, name, content in asked.iterator(chunk_size=CHUNK)
    }


def with_all_labels(study: Study, label_space: Mapping[str, LabelSpace]) -> dict[str, LabelSpace]:
    """Extend `label_space` by the labels of all questions of `study`, and by separate scales if questions use several.

    An instance may offer more options than the first one, and agreement coefficients need all possible labels.
    """
    # Fixed last options are the same in every question.
    differing = [name for name, found in label_space.items() if len(found.last) < len(found.options) or found.units]
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
        alike[name] &= set(own) == set(label_space[name].options)
    whole = {
        name: replace(
            label_space[name],
            options=[*(label for label in found if label not in label_space[name].last), *label_space[name].last],
            same_for_all=alike[name],
            units=units[name],
        )
        for name, found in labels.items()
    }
    return {**label_space, **{name: _on_its_scales(found, scales[name]) for name, found in whole.items()}}


def _on_its_scales(label_space: LabelSpace, found: Mapping[Level, tuple[Mapping[str, float], set[int]]]) -> LabelSpace:
    """Attach the scale; with several scales, attach each separately."""
    if not found:
        return label_space
    if len(found) == 1:
        (level, (values, _)) = next(iter(found.items()))
        return replace(label_space, scale=Scale(level, values))
    apart = [(Scale(level, values), frozenset(questions)) for level, (values, questions) in found.items()]
    return replace(label_space, apart=sorted(apart, key=lambda each: each[0].level))
