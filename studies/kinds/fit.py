"""Whether a kind fits instances, and with which roles: all is found out by asking the kind. Pure."""

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import islice, product
from typing import Any, Literal

from studies.kinds.base import CannotAsk, InstanceFacts, Kind, NewQuestion, Roles

CAPTIONS: Literal["captions"] = "captions"
IMAGES: Literal["images"] = "images"
# Combinations of roles that are tried.
MOST_TRIED = 300
# Names of captions and images that are false on purpose.
_FOIL_NAMES = re.compile(r"negative|(?<![a-z])neg(?![a-z])|foil|distractor|counterfactual|wrong|false|incorrect")


@dataclass(frozen=True)
class Fit:
    """A kind that can ask about instances: its options `ask`, and one of the questions."""

    ask: Mapping[str, Any]
    question: NewQuestion


def usual_ask(kind: Kind) -> dict[str, Any]:
    """Return the defaults of the `ask` schema of `kind`."""
    return {name: part.get("default") for name, part in kind.ask_schema["properties"].items()}


def role_entries(kind: Kind) -> dict[str, Literal["captions", "images"]]:
    """Return the `ask` entries of `kind` that name roles it reads, each with what has these roles."""
    found: dict[str, Literal["captions", "images"]] = {}
    for name, part in kind.ask_schema["properties"].items():
        tried = {"string": "\0", "array": ["\0"]}.get(part.get("type", ""))
        if tried is not None:
            roles = kind.roles(usual_ask(kind) | {name: tried})
            if "\0" in roles.captions:
                found[name] = CAPTIONS
            elif "\0" in roles.images:
                found[name] = IMAGES
    return found


def is_foil_name(name: str) -> bool:
    """Return whether a caption or an image called `name`, in lower case, is false on purpose."""
    return _FOIL_NAMES.search(name) is not None


def roles_of(instance: InstanceFacts) -> Roles:
    """Return the roles of `instance`, in its own order; foils come last, since the first role is the right answer."""
    return Roles(sorted(instance.captions, key=is_foil_name), sorted(instance.images, key=is_foil_name))


def find_fit(kind: Kind, instances: Sequence[InstanceFacts]) -> Fit | None:
    """Return the first options of `kind`, its defaults before others, that fit one of `instances`; None if none do."""
    alike: dict[tuple[tuple[str, ...], ...], list[InstanceFacts]] = {}
    for instance in instances:
        roles = roles_of(instance)
        alike.setdefault((tuple(roles.captions), tuple(roles.images)), []).append(instance)
    found = _fit_of([usual_ask(kind)], kind, instances)
    for (captions, images), some in alike.items():
        found = found or _fit_of(islice(_possible_asks(kind, Roles(captions, images)), MOST_TRIED), kind, some)
    return found


def _fit_of(asks: Iterable[Mapping[str, Any]], kind: Kind, instances: Sequence[InstanceFacts]) -> Fit | None:
    for ask in asks:
        for instance in instances:
            try:
                questions = kind.questions(instance, ask, seed=instance.key)
            except CannotAsk:
                continue
            if questions:
                return Fit(kind.suggested_ask(ask, instance), questions[0])
    return None


def _possible_asks(kind: Kind, roles: Roles) -> Iterator[dict[str, Any]]:
    usual, entries = usual_ask(kind), role_entries(kind)
    values = [_possible_values(kind.ask_schema["properties"][name], roles, of) for name, of in entries.items()]
    for chosen in product(*values):
        ask = usual | dict(zip(entries, chosen, strict=True))
        named = [role for value in chosen for role in ([value] if isinstance(value, str) else value) if role]
        if len({*named}) == len(named) and not any(kind.problems(ask)):
            yield ask


def _possible_values(part: Mapping[str, Any], roles: Roles, of: Literal["captions", "images"]) -> list[Any]:
    """Return values of an entry that names roles, those nearest to its default first."""
    there = list(roles.captions if of == CAPTIONS else roles.images)
    usual = part["default"]
    if part["type"] == "string":
        return [usual] * (usual in there) + [role for role in there if role != usual]
    kept = [role for role in usual if role in there]
    rest = [role for role in there if role not in kept]
    lists = [kept, (kept + rest)[: part.get("minItems", 1)], (kept + rest)[: part.get("maxItems")]]
    lists += [[role] for role in there]
    if len(usual) == len(there) == 2 and sum(map(is_foil_name, there)) == 1:
        # A caption or an image and its foil: both, whatever they are called.
        lists.insert(0, there)
    found: list[Any] = []
    for each in lists:
        if len(each) >= part.get("minItems", 1) and each not in found:
            found.append(each)
    return found
