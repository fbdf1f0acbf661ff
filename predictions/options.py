"""Which options a prediction must score: exactly those of the question that it answers. Pure."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from analytics.scores import right_choices
from studies.kinds import Kind, get_kind, usual_ask

SHOWN = 10
NOT_ONE_OPTION = "the question is not answered by choosing one of its options"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a question, by key. `needed`: those that a model must score; `all`: with None and Both, which show
    neither a text nor a picture, and which a model scores all or none of. `right`: the right one, "" if unknown."""

    needed: frozenset[str]
    all: frozenset[str]
    right: str = ""

    def fit(self, scored: Set[str]) -> bool:
        """Return whether `scored` are the options of this question."""
        return bool(self.all) and scored in (self.needed, self.all)

    def problem(self, scored: Set[str]) -> str:
        """Return what `scored` lacks and what it has too much, "" where it is the options of this question.

        Example: "the scores lack caption; captoin is not an option (its options: caption, negative_caption)".
        """
        if not self.all:
            return NOT_ONE_OPTION
        if self.fit(scored):
            return ""
        unknown = scored - self.all
        # One of None and Both without the other: both are missing from the whole, and the whole is what is meant.
        missing = (self.all if scored - self.needed - unknown else self.needed) - scored
        parts = [f"the scores lack {_listed(missing)}"] if missing else []
        if unknown:
            parts.append(f"{_listed(unknown)} {'is not an option' if len(unknown) == 1 else 'are not options'}")
        return f"{'; '.join(parts)} (its options: {_listed(self.all)})"


def options_of(kind: Kind, content: Mapping[str, Any], right: str = "") -> Options:
    """Return the options of a question of `kind` with `content`; none where it is not answered by choosing one."""
    options = kind.model_options(content)
    if len(options) < 2:
        return Options(frozenset(), frozenset())
    showing = frozenset(option.key for option in options if option.picture is not None or option.text)
    every = frozenset(option.key for option in options)
    return Options(showing if len(showing) > 1 else every, every, right)


def answered_options(kind: str, scores: Mapping[str, Any] | None) -> frozenset[str]:
    """Return the options that a prediction from a file is about: those that it scores or, where the file has outcomes
    only, those that the kind offers by default."""
    if scores is not None:
        return frozenset(scores)
    return get_kind(kind).common_options(usual_ask(get_kind(kind)))


def closest(candidates: Iterable[Options], scored: Set[str]) -> Options:
    """Return the one of `candidates`, which are some, whose options differ least from `scored`."""
    return min(candidates, key=lambda each: (not each.fit(scored), len(each.needed ^ scored), sorted(each.all)))


def is_right(scores: Mapping[str, float], right: str) -> bool | None:
    """Return whether the right option has the strictly highest score; None where it is unknown or has no score."""
    if right not in scores:
        return None
    (found,) = right_choices([list(scores.values())], list(scores).index(right))
    return bool(found)


def _listed(keys: Iterable[str]) -> str:
    names = sorted(keys)
    more = len(names) - SHOWN
    return ", ".join([*names[:SHOWN], *([f"and {more} more"] if more > 0 else [])])
