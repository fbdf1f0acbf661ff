"""Instances that a study file selects, and why it selects none."""

from django.db.models import Count, QuerySet

from studies.actions.questions import reachable_instances, selected_instances
from studies.errors import StudyError
from studies.models import Instance, Study, Tag
from studies.wording import format_count

# Further values are counted together.
MOST_NAMED = 5
_COLUMNS = {"keys": "key", "tags": "tags__name"}


def check_selection(study: Study) -> None:
    """Raise StudyError if `study` selects no instance, or none that its upstream study can accept."""
    if not selected_instances(study).exists():
        raise StudyError(_explain_empty(study))
    if study.fed_by is not None and not reachable_instances(study).exists():
        selected = format_count(selected_instances(study).count(), "instance")
        raise StudyError(
            f"Study {study.fed_by.slug} selects none of the {selected} that this study selects, so "
            "this study would never get a question. Change `instances` in one of the two."
        )


def _explain_empty(study: Study) -> str:
    all_there_are = Instance.objects.filter(project=study.project_id).order_by()
    n = all_there_are.count()
    if not n:
        return f"Project {study.project.slug} has no instances. Import some first."
    found = {
        name: all_there_are.filter(**_selection_filter(name, wanted)).distinct().count()
        for name, wanted in _selection_values(study).items()
    }
    of = format_count(n, "instance")
    if empty := [name for name in found if not found[name]]:
        return " ".join(_say_matches(study, name, all_there_are, of) for name in empty)
    if len(found) > 1:
        each = ", ".join(
            f"`{name}: {_format_values(_selection_values(study)[name])}` {found[name]:,}" for name in found
        )
        return f"Of {of}, {each} match, and none matches all of these. Change `instances`."
    selected = format_count(min(found.values(), default=n), "instance")
    return (
        f"All of the {selected} that it selects are practice questions. Import more instances, or "
        "use fewer for practice."
    )


def _selection_values(study: Study) -> dict[str, tuple[str, ...]]:
    selection = study.design.instances
    given = {name: getattr(selection, name) for name in ("type", "subtype", "split", "keys", "tags")}
    return {name: wanted for name, wanted in given.items() if wanted}


def _selection_filter(name: str, wanted: tuple[str, ...]) -> dict[str, tuple[str, ...]]:
    return {f"{_COLUMNS.get(name, name)}__in": wanted}


def _say_matches(study: Study, name: str, all_there_are: QuerySet[Instance], of: str) -> str:
    sentence = f"`{name}: {_format_values(_selection_values(study)[name])}` matches 0 of {of}"
    if name == "keys":
        return f"{sentence}. Correct the keys."
    if name == "tags":
        tags = [*Tag.objects.filter(project=study.project_id).values_list("name", flat=True)[: MOST_NAMED + 1]]
        has = f"The project has the tags {_format_values(tuple(tags))}" if tags else "No instance has a tag"
        return f"{sentence}. {has}. Change `instances.tags`, or tag instances on the Instances page."
    times = all_there_are.values_list(name).annotate(times=Count("pk")).order_by("-times", name)
    return f"{sentence}; {_say_values(name, dict(times))}. Change `instances.{name}`, or import instances that have it."


def _say_values(name: str, times_of: dict[str, int]) -> str:
    """Return the number of instances per value, most frequent first, as words."""
    named = list(times_of.items())[:MOST_NAMED]
    told = [f"{times:,} {'is' if times == 1 else 'are'} {value}" for value, times in named if value]
    told += [f"{times:,} {'has' if times == 1 else 'have'} no {name}" for value, times in named if not value]
    if rest := len(times_of) - len(named):
        told.append(f"{rest:,} more values")
    return ", ".join(told)


def _format_values(values: tuple[str, ...]) -> str:
    return f"[{', '.join(values[:MOST_NAMED])}{', ...' if len(values) > MOST_NAMED else ''}]"
