"""The options that a prediction must score: exactly those of its question. Pure."""

from collections.abc import Iterable, Mapping, Set
from dataclasses import dataclass
from typing import Any

from analytics.scores import right_choices
from studies.kinds import Kind, get_kind, usual_ask

SHOWN = 10
NOT_ONE_OPTION = "the question is not answered by choosing one of its options"


@dataclass(frozen=True, slots=True)
class Options:
    """The options of a question, by key. `needed`: those that a model must score.

    `all`: also None and Both, which show neither text nor image; a model scores all of these or none. `right`: the
    right option, "" if unknown.
    """

    needed: frozenset[str]
    all: frozenset[str]
    right: str = ""

    def fit(self, scored: Set[str]) -> bool:
        """Return whether `scored` are the options of this question."""
        return bool(self.all) and scored in (self.needed, self.all)

    def problem(self, scored: Set[str]) -> str:
        """Return which options `scored` lacks or has in excess, "" if they match the question.

        Example: "the scores lack caption; captoin is not an option (its options: caption, negative_caption)".
        """
        if not self.all:
            return NOT_ONE_OPTION
        if self.fit(scored):
            return ""
        unknown = scored - self.all
        # None and Both come together, so with one of them missing, the whole set is reported.
        missing = (self.all if scored - self.needed - unknown else self.needed) - scored
        parts = [f"the scores lack {_join_keys(missing)}"] if missing else []
        if unknown:
            parts.append(f"{_join_keys(unknown)} {'is not an option' if len(unknown) == 1 else 'are not options'}")
        return f"{'; '.join(parts)} (its options: {_join_keys(self.all)})"


def options_of(kind: Kind, content: Mapping[str, Any], right: str = "") -> Options:
    """Return the options of a question of `kind` with `content`; none if it is not answered by choosing one."""
    options = kind.model_options(content)
    if len(options) < 2:
        return Options(frozenset(), frozenset())
    showing = frozenset(option.key for option in options if option.picture is not None or option.text)
    every = frozenset(option.key for option in options)
    return Options(showing if len(showing) > 1 else every, every, right)


def answered_options(kind: str, scores: Mapping[str, Any] | None) -> frozenset[str]:
    """Return the options of a prediction from a file: the scored ones, or the kind's default ones for outcomes only."""
    if scores is not None:
        return frozenset(scores)
    return get_kind(kind).common_options(usual_ask(get_kind(kind)))


def closest(candidates: Iterable[Options], scored: Set[str]) -> Options:
    """Return the one of `candidates`, at least one, whose options differ least from `scored`."""
    return min(candidates, key=lambda each: (not each.fit(scored), len(each.needed ^ scored), sorted(each.all)))


def is_right(scores: Mapping[str, float], right: str) -> bool | None:
    """Return whether the right option has the strictly highest score; None where it is unknown or has no score."""
    if right not in scores:
        return None
    (found,) = right_choices([list(scores.values())], list(scores).index(right))
    return bool(found)


def _join_keys(keys: Iterable[str]) -> str:
    names = sorted(keys)
    more = len(names) - SHOWN
    return ", ".join([*names[:SHOWN], *([f"and {more} more"] if more > 0 else [])])
